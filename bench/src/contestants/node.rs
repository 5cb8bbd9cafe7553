//! The Node package: its program makes the calls and reports their times.

use std::io;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use super::Disk;
use crate::comparison::{Contestant, Cost};
use crate::conversation::Conversation;

pub const NAME: &str = "from Node";

pub struct Node {
    program: Conversation,
    turn: String,
    disk: Disk,
}

impl Node {
    pub fn new(disk: Disk, mut program: Command) -> io::Result<Self> {
        let program = Conversation::start(program.arg(disk.repository.path()))?;
        let turn = turn(disk.calls.tool, &disk.calls.arguments);
        Ok(Self { program, turn, disk })
    }
}

/// The request to the program.
pub fn turn(tool: &str, arguments: &[Value]) -> String {
    json!({"tool": tool, "calls": arguments}).to_string()
}

impl Contestant for Node {
    fn name(&self) -> &str {
        NAME
    }

    fn prepare(&mut self) -> io::Result<()> {
        self.disk.put_back()
    }

    fn take_turn(&mut self) -> io::Result<Cost> {
        self.program.say(&self.turn)?;
        let report: Value = serde_json::from_str(self.program.hear()?)?;
        let time = |field: &str| {
            let microseconds = report[field].as_u64();
            microseconds
                .map(Duration::from_micros)
                .ok_or_else(|| io::Error::other(report.to_string()))
        };
        Ok(Cost {
            calls: self.disk.calls.arguments.len(),
            wall: time("wall_us")?,
            cpu: Some(time("cpu_us")?),
        })
    }
}
