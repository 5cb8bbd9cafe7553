//! What every runner does with a case; a runner says how a call is made.

use std::fmt::Write;

use serde_json::Value;

use crate::case::{Case, Documents, Places, Step};

/// What a call answered.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// The tool's result.
    Result(Value),
    /// The toolset's error.
    Error(Value),
    /// The request was refused as one of these: a protocol may not tell them apart.
    Refused(&'static [&'static str]),
}

/// One case on one host.
pub trait Session {
    /// Makes the next call. An error is the host's own failure, such as a process that ended.
    fn call(&mut self, tool: &str, arguments: &Value) -> Result<Answer, String>;

    /// What the placeholders stand for.
    fn places(&self) -> Places;

    /// Ends the host and returns what storage holds.
    fn finish(self: Box<Self>) -> Result<Documents, String>;
}

/// How a case ended.
#[derive(Debug)]
pub struct Ended {
    /// What went wrong, or nothing.
    pub fault: Option<String>,
    /// What storage held at the end.
    pub documents: Documents,
    /// What each step answered.
    pub answers: Vec<Answer>,
}

/// Runs a case and compares; `messages` says whether error messages are compared too.
pub fn run(case: &Case, mut session: Box<dyn Session>, messages: bool) -> Ended {
    let places = session.places();
    let mut fault = None;
    let mut answers = Vec::new();
    for (index, step) in case.text.steps.iter().enumerate() {
        match session.call(&step.call, &places.fill(&step.arguments)) {
            Ok(answer) => {
                let wrong = compare(step, &answer, &places, messages);
                fault = fault.or(wrong.map(|wrong| format!("step {index}: {wrong}")));
                answers.push(answer);
            }
            Err(error) => {
                fault = fault.or(Some(format!("step {index}: {error}")));
                break;
            }
        }
    }
    match session.finish() {
        Ok(documents) => {
            let fault = fault.or_else(|| compare_documents(&case.then(), &documents));
            Ended { fault, documents, answers }
        }
        Err(error) => Ended { fault: fault.or(Some(error)), documents: Documents::new(), answers },
    }
}

fn compare(step: &Step, answer: &Answer, places: &Places, messages: bool) -> Option<String> {
    let same = match (answer, &step.result, &step.error, &step.failure) {
        (Answer::Result(got), Some(expected), _, _) => *got == places.fill(expected),
        (Answer::Error(got), _, Some(expected), _) => {
            let expected = places.fill(expected);
            let message = got["message"].as_str().unwrap_or_default();
            without_texts(got, &expected, messages) == without_texts(&expected, &expected, messages)
                && step.says.iter().all(|text| message.contains(&places.fill_text(text)))
        }
        (Answer::Refused(kinds), _, _, Some(expected)) => kinds.contains(&expected.as_str()),
        _ => false,
    };
    let mut text = String::new();
    if !same {
        let expected = [&step.result, &step.error].into_iter().flatten().next();
        let expected = expected.map_or_else(|| format!("{:?}", step.failure), Value::to_string);
        let expected = match step.says.as_slice() {
            [] => expected,
            says => format!("{expected} that says {says:?}"),
        };
        let got = match answer {
            Answer::Result(value) => format!("the result {value}"),
            Answer::Error(value) => format!("the error {value}"),
            Answer::Refused(kinds) => format!("a refusal as {kinds:?}"),
        };
        let got = places.hide(&got);
        write!(text, "expected {}, got {}", short(&expected), short(&got)).ok()?;
    }
    (!same).then_some(text)
}

/// An error without the texts that are not compared: those that are not expected and, unless
/// `messages`, the message.
fn without_texts(error: &Value, expected: &Value, messages: bool) -> Value {
    let mut error = error.clone();
    if let Some(fields) =
        error.as_object_mut().filter(|_| !messages || expected.get("message").is_none())
    {
        fields.remove("message");
    }
    let details = error.get_mut("details").and_then(Value::as_array_mut);
    for (index, detail) in details.into_iter().flatten().enumerate() {
        let pointer = format!("/details/{index}/accepted");
        if let Some(detail) =
            detail.as_object_mut().filter(|_| expected.pointer(&pointer).is_none())
        {
            detail.remove("accepted");
        }
    }
    error
}

/// The first difference between the documents that should be there and those that are.
pub fn compare_documents(expected: &Documents, got: &Documents) -> Option<String> {
    let missing = expected.keys().find(|path| !got.contains_key(*path));
    let extra = got.keys().find(|path| !expected.contains_key(*path));
    let different = expected.iter().find(|(path, bytes)| got.get(*path) != Some(bytes));
    if let Some(path) = missing {
        return Some(format!("`{path}` is not there afterwards"));
    }
    if let Some(path) = extra {
        let contents = String::from_utf8_lossy(&got[path]);
        return Some(format!("`{path}` is there afterwards: {}", short(&format!("{contents:?}"))));
    }
    let (path, bytes) = different?;
    Some(format!(
        "`{path}` differs:\n  expected {}\n  got      {}",
        short(&format!("{:?}", String::from_utf8_lossy(bytes))),
        short(&format!("{:?}", String::from_utf8_lossy(&got[path])))
    ))
}

fn short(text: &str) -> String {
    const SHOWN: usize = 2000;
    if text.chars().count() <= SHOWN {
        return text.to_owned();
    }
    let beginning: String = text.chars().take(SHOWN).collect();
    format!("{beginning}… ({} bytes)", text.len())
}
