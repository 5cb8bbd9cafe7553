//! A package for another language, or the plugin: its program makes the calls and reports their times.

use std::io;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use super::Disk;
use crate::comparison::{Contestant, Cost};
use crate::conversation::Conversation;

pub struct Package {
    name: &'static str,
    program: Program,
    turn: String,
    disk: Disk,
}

impl Package {
    pub fn new(name: &'static str, disk: Disk, mut program: Command) -> io::Result<Self> {
        let program = Program::start(program.arg(disk.repository.path()))?;
        let turn = turn(disk.calls.tool, &disk.calls.arguments);
        Ok(Self { name, program, turn, disk })
    }
}

impl Contestant for Package {
    fn name(&self) -> &str {
        self.name
    }

    fn prepare(&mut self) -> io::Result<()> {
        self.disk.put_back()
    }

    fn take_turn(&mut self) -> io::Result<Cost> {
        self.program.turn(&self.turn, self.disk.calls.arguments.len())
    }
}

/// The request that asks a program for calls of `tool`, one with each of the `arguments`.
pub fn turn(tool: &str, arguments: &[Value]) -> String {
    json!({"tool": tool, "calls": arguments}).to_string()
}

/// A program that makes calls and reports their times.
pub struct Program(Conversation);

impl Program {
    /// Starts a program. The last argument of its command is the repository.
    pub fn start(program: &mut Command) -> io::Result<Self> {
        Conversation::start(program).map(Self)
    }

    /// The times to load the package and to open a memory.
    pub fn opened(&mut self) -> io::Result<[Duration; 2]> {
        let report = self.ask(&json!({"opened": true}).to_string())?;
        Ok([time(&report, "import_us")?, time(&report, "open_us")?])
    }

    /// Makes the calls of a turn.
    pub fn turn(&mut self, turn: &str, calls: usize) -> io::Result<Cost> {
        let report = self.ask(turn)?;
        Ok(Cost { calls, wall: time(&report, "wall_us")?, cpu: Some(time(&report, "cpu_us")?) })
    }

    fn ask(&mut self, request: &str) -> io::Result<Value> {
        self.0.say(request)?;
        Ok(serde_json::from_str(self.0.hear()?)?)
    }
}

fn time(report: &Value, field: &str) -> io::Result<Duration> {
    let microseconds = report[field].as_u64();
    microseconds.map(Duration::from_micros).ok_or_else(|| io::Error::other(report.to_string()))
}
