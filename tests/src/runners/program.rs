//! A host in another language, through a program that answers requests as lines of JSON. One process
//! serves all cases, one after the other. It gets single calls and knows nothing of cases.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::process::Command;
use std::rc::Rc;

use agent_memory_conformance::case::{Case, Documents, Places, Request};
use agent_memory_conformance::core_runner::resource_answer;
use agent_memory_conformance::expectations::Expectations;
use agent_memory_conformance::report::Report;
use agent_memory_conformance::runner::{Answer, Session};
use serde_json::{Value, json};

use crate::line_program::LineProgram;
use crate::runners::left_out;
use crate::scratch::Scratch;

/// A running program. Sessions share it, one after the other.
pub type Running = Rc<RefCell<LineProgram>>;

/// A program, and the requests that open a memory in it.
pub struct Asked {
    /// The program.
    pub command: Command,
    /// The prefix of each path that the program gets: a drive for Windows, or else empty.
    pub drive: &'static str,
    /// The request that opens a memory for a case.
    pub open: fn(&Case, &Scratch) -> Result<Value, String>,
    /// The request that opens a memory with all toolsets.
    pub open_all: Value,
}

/// Runs all cases on a program, with the expectations of this name.
///
/// # Errors
///
/// If the program cannot list its tools.
pub fn report(
    runner: &str,
    expected: &str,
    asked: Asked,
    cases: &[Case],
) -> Result<Report, String> {
    let Asked { command, drive, open, open_all } = asked;
    let program = Rc::new(RefCell::new(LineProgram::start(command)));
    let tools = |program: &mut LineProgram| {
        expect_empty(program.ask(&open_all)?)?;
        let tools = program.ask(&json!({"tools": true}))?;
        Ok::<_, String>(tools["result"].as_array().ok_or("no list of tools")?.clone())
    };
    let tools = tools(&mut program.borrow_mut())?;
    let start = |case: &Case| ProgramSession::start(&program, drive, open, case);
    let report = super::report(runner, start, &Expectations::load(expected), cases);
    Ok(Report { tools, ..report })
}

/// The settings of a case by toolset and name. Exactly the toolsets that the case names are mounted.
pub fn settings(case: &Case, scratch: &Scratch) -> Result<Value, String> {
    let mut settings = json!({});
    for (toolset, name, value) in scratch.settings(case) {
        settings[toolset][name] = value;
    }
    for (toolset, setting) in left_out()? {
        settings[toolset][setting.name] = true.into();
    }
    Ok(settings)
}

/// A case on a program.
pub struct ProgramSession {
    scratch: Scratch,
    program: Running,
    /// The vectors that the case gives for the texts of queries.
    vectors: BTreeMap<String, Vec<f32>>,
    follow_ups: Vec<Value>,
}

impl ProgramSession {
    /// Starts a case. `open` makes the request that opens a memory for it.
    pub fn start(
        program: &Running,
        drive: &'static str,
        open: fn(&Case, &Scratch) -> Result<Value, String>,
        case: &Case,
    ) -> Result<Box<dyn Session>, String> {
        let scratch = Scratch::on_drive(case, drive);
        let mut request = open(case, &scratch)?;
        request["reach"] = json!(case.text.caller);
        let vectors = case.text.embedder.as_ref().map(|embedder| embedder.vectors.clone());
        expect_empty(program.borrow_mut().ask(&request)?)?;
        Ok(Box::new(Self {
            scratch,
            program: Rc::clone(program),
            vectors: vectors.unwrap_or_default(),
            follow_ups: Vec::new(),
        }))
    }

    fn ask(&self, request: &Value) -> Result<Value, String> {
        self.program.borrow_mut().ask(request)
    }
}

impl Session for ProgramSession {
    fn request(&mut self, request: &Request) -> Result<Answer, String> {
        let mut asked = json!(request);
        let mut answer = self.ask(&asked)?;
        let wanted = answer["wants_vector"].as_str();
        let vector = wanted.and_then(|text| self.vectors.get_key_value(text));
        if let Some((text, vector)) = vector {
            asked["vector"] = json!({"text": text, "vector": vector});
            let again = self.ask(&asked)?;
            // If the request fails with the vector, the first answer counts.
            if again.get("result").is_some() {
                answer = again;
            }
        }
        self.follow_ups = answer["follow_ups"].as_array().cloned().unwrap_or_default();
        let answer = match (answer.get("result"), answer.get("error"), answer["failure"].as_str()) {
            (Some(result), ..) => Answer::Result(result.clone()),
            (_, Some(error), _) => Answer::Error(error.clone()),
            (_, _, Some("not-found")) => Answer::Refused(&["not-found"]),
            (_, _, Some("invalid-request")) => Answer::Refused(&["invalid-request"]),
            _ => return Err(answer.to_string()),
        };
        match request {
            Request::Read { read } => resource_answer(read, answer),
            _ => Ok(answer),
        }
    }

    fn follow_ups(&self) -> Option<&[Value]> {
        Some(&self.follow_ups)
    }

    fn places(&self) -> Places {
        self.scratch.places()
    }

    fn query(&mut self, sql: &str) -> Result<Vec<Vec<Value>>, String> {
        self.scratch.query(sql)
    }

    fn finish(self: Box<Self>) -> Result<Documents, String> {
        expect_empty(self.ask(&json!({"close": true}))?)?;
        self.scratch.end()
    }
}

fn expect_empty(answer: Value) -> Result<(), String> {
    if answer == json!({}) { Ok(()) } else { Err(answer.to_string()) }
}
