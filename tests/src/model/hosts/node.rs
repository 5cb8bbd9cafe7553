//! The component in Node: one process of `host-node/programs/calls.ts` for all sequences, with requests
//! and answers as lines of JSON.

use std::cell::RefCell;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::rc::Rc;

use agent_memory_conformance::case::{Documents, Places};
use agent_memory_conformance::runner::Answer;
use serde_json::{Value, json};

use super::{Host, HostOptions, put, scratch};
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
    /// If `host-node` is not built.
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
    /// Opens an empty repository instead of the last one.
    pub fn open(
        process: &Rc<RefCell<Process>>,
        options: &HostOptions,
    ) -> Result<Box<dyn Host>, String> {
        let scratch = scratch();
        let request = json!({"open": {
            "allow": [scratch.places().repo],
            "toolsets": [options.toolset],
            "clock": {"now": format!("{:.3}", options.now), "step": options.step_ms},
            "utcOffset": options.utc_offset_minutes,
            "random": {"seed": options.seed},
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
