//! The component in Node: one process of `host-node/programs/calls.ts` for all sequences, which
//! reads requests as lines of JSON and answers each with one.

use std::cell::RefCell;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::rc::Rc;

use agent_memory_conformance::case::{Documents, Places};
use agent_memory_conformance::runner::Answer;
use serde_json::{Value, json};

use super::{Circumstances, Host, put, scratch};
use crate::product::node_program;
use crate::scratch::Scratch;

/// The program, below `dist`.
pub const PROGRAM: &str = "calls.js";

/// The running program.
pub struct Process {
    child: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Process {
    /// Starts it.
    ///
    /// # Panics
    ///
    /// Where `host-node` is not built.
    pub fn start() -> Rc<RefCell<Self>> {
        let (node, program) = node_program(PROGRAM).expect("host-node is built");
        let mut command = Command::new(node);
        command.arg(program).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("Node starts");
        let requests = child.stdin.take().expect("its input is piped");
        let answers = BufReader::new(child.stdout.take().expect("its output is piped"));
        Rc::new(RefCell::new(Self { child, requests, answers }))
    }

    fn ask(&mut self, request: &Value) -> Result<Value, String> {
        writeln!(self.requests, "{request}").map_err(|error| error.to_string())?;
        let mut line = String::new();
        self.answers.read_line(&mut line).map_err(|error| error.to_string())?;
        serde_json::from_str(&line).map_err(|error| format!("Node said {line:?}: {error}"))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A memory of the process with one repository.
pub struct Node {
    scratch: Scratch,
    process: Rc<RefCell<Process>>,
}

impl Node {
    /// One with nothing in it, in place of the one before.
    pub fn open(
        process: &Rc<RefCell<Process>>,
        circumstances: &Circumstances,
    ) -> Result<Box<dyn Host>, String> {
        let scratch = scratch();
        let request = json!({"open": {
            "allow": [scratch.places().repo],
            "toolsets": [circumstances.toolset],
            "clock": {"now": format!("{:.3}", circumstances.now), "step": circumstances.step_ms},
            "utcOffset": circumstances.utc_offset_minutes,
            "random": {"seed": circumstances.seed},
            "workers": 1,
        }});
        let answer = process.borrow_mut().ask(&request)?;
        if answer != json!({}) {
            return Err(format!("the memory does not open: {answer}"));
        }
        Ok(Box::new(Self { scratch, process: Rc::clone(process) }))
    }
}

impl Host for Node {
    fn call(&mut self, tool: &str, arguments: &Value) -> Result<Answer, String> {
        let request = json!({"call": tool, "arguments": arguments});
        let mut answer = self.process.borrow_mut().ask(&request)?;
        if let Some(result) = answer.get_mut("result") {
            return Ok(Answer::Result(result.take()));
        }
        if let Some(error) = answer.get_mut("error") {
            return Ok(Answer::Error(error.take()));
        }
        match answer["failure"].as_str() {
            Some("not-found") => Ok(Answer::Refused(&["not-found"])),
            _ => Err(answer.to_string()),
        }
    }

    fn put(&mut self, path: &str, contents: Option<&[u8]>) {
        put(&self.scratch, path, contents);
    }

    fn documents(&self) -> Documents {
        self.scratch.documents()
    }

    fn places(&self) -> Places {
        self.scratch.places()
    }

    fn end(self: Box<Self>) -> Result<(), String> {
        self.scratch.end().map(drop)
    }
}
