//! `bench start`: the time from exec to the first result of `read_summary`.

use std::io;
use std::path::Path;
use std::process::Command;
use std::rc::Rc;
use std::time::Instant;

use serde_json::Value;
use tempfile::TempDir;

use crate::How;
use crate::comparison::{Aim, Comparison, Contestant, Cost, Quantity};
use crate::contestants::{handshake, path_text, request, serve, stateless_request, turn};
use crate::conversation::Conversation;
use crate::cpu;
use crate::programs::{self, NODE, PYTHON};
use crate::work::{self, Calls, Work};

const STATELESS: &str = "MCP server, 2026-07-28";
const OLDER: &str = "MCP server, 2025-11-25";

/// The aim for the start, relative to a bare host that loads the same image.
const AT_MOST: f64 = 3.0;

pub fn comparisons(how: &How, directory: &Path) -> io::Result<Vec<Comparison>> {
    let repository = Rc::new(work::repository(directory)?);
    Work::new(0, 1).put(repository.path())?;
    let root = path_text(repository.path())?;
    let Calls { tool, arguments } = Calls::reads(root, 1);
    let read = &arguments[0];

    let mut bare = Command::new(programs::built("bare-host")?);
    bare.arg(root);
    let mut once = Command::new(programs::built("agent-memory")?);
    once.args(["call", tool, &read.to_string(), "--allow", root]);
    let stateless = stateless_request(1, tool, read);
    let [hello, initialized] = handshake();
    let older = [hello, initialized, request(1, tool, read)];

    let start = |name, command, says: &[Value]| -> Box<dyn Contestant> {
        let says = says.iter().map(|line| (line.to_string(), line.get("id").is_some())).collect();
        Box::new(Start { name, command, says, _repository: repository.clone() })
    };
    let mut contestants = vec![
        start("bare host", bare, &[]),
        start("agent-memory call", once, &[]),
        start(STATELESS, serve(repository.path())?, &[stateless]),
        start(OLDER, serve(repository.path())?, &older),
    ];
    let mut absent = Vec::new();
    for (name, program) in [(NODE, programs::node()), (PYTHON, programs::python())] {
        match program {
            Ok(mut command) => {
                command.arg(root);
                contestants.push(Box::new(Start {
                    name,
                    command,
                    says: vec![(turn(tool, &arguments), true)],
                    _repository: repository.clone(),
                }));
            }
            Err(why) => absent.push(format!("{name}: {why}")),
        }
    }
    let aim = |contestant| Aim { contestant, quantity: Quantity::Wall, at_most: AT_MOST };
    Ok(vec![Comparison {
        title: "exec to the first result of `read_summary`".to_owned(),
        contestants,
        turns: how.either(1, 11),
        aims: vec![aim(STATELESS), aim(OLDER)],
        absent,
    }])
}

/// A program that answers one call.
struct Start {
    name: &'static str,
    command: Command,
    /// The lines to send, and whether each gets an answer. The last answer is the result of the call.
    /// Without lines, the program prints its result unasked.
    says: Vec<(String, bool)>,
    /// Removed with the last contestant that uses it.
    _repository: Rc<TempDir>,
}

impl Contestant for Start {
    fn name(&self) -> &str {
        self.name
    }

    fn take_turn(&mut self) -> io::Result<Cost> {
        let started = Instant::now();
        let mut program = Conversation::start(&mut self.command)?;
        if self.says.is_empty() {
            program.hear()?;
        }
        for (line, is_answered) in &self.says {
            program.say(line)?;
            if *is_answered {
                program.hear()?;
            }
        }
        let wall = started.elapsed();
        let cpu = cpu::of(program.process());
        if program.heard().contains("error") {
            Err(io::Error::other(format!("{} answered {}", self.name, program.heard())))
        } else {
            Ok(Cost { calls: 1, wall, cpu })
        }
    }
}
