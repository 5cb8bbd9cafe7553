//! What every runner does with a case; a runner says how a call is made.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::case::{Case, Documents, Ids, Places, QueryText, Step};

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

    /// Reads a resource, as the next call. The answer is the JSON that is its text.
    fn read(&mut self, uri: &str) -> Result<Answer, String>;

    /// What the placeholders stand for.
    fn places(&self) -> Places;

    /// The rows that a query of the database of layers answers, as any program would ask it.
    fn query(&mut self, sql: &str) -> Result<Vec<Vec<Value>>, String> {
        Err(format!("this runner cannot ask the database: {sql}"))
    }

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
    let (mut answers, mut ids) = (Vec::new(), Ids::default());
    for (index, step) in case.text.steps.iter().enumerate() {
        let answer = match &step.read {
            Some(uri) => session.read(&ids.fill_text(uri)),
            None => session.call(&step.call, &ids.fill(&places.fill(&step.arguments))),
        };
        match answer {
            Ok(answer) => {
                ids.push(match &answer {
                    Answer::Result(result) => Some(result),
                    _ => None,
                });
                let wrong = compare(step, &answer, &places, &ids, messages);
                fault = fault.or(wrong.map(|wrong| format!("step {index}: {wrong}")));
                answers.push(answer);
            }
            Err(error) => {
                fault = fault.or(Some(format!("step {index}: {error}")));
                break;
            }
        }
    }
    for QueryText { query, rows } in case.then_rows() {
        let wrong = match session.query(query) {
            Ok(got) if got == *rows => None,
            Ok(got) => Some(format!("`{query}` answers {}, not {}", json!(got), json!(rows))),
            Err(error) => Some(error),
        };
        fault = fault.or(wrong);
    }
    match session.finish() {
        Ok(documents) => {
            let then = case.then().map(|then| with_ids(then, &ids));
            let fault = fault.or_else(|| compare_documents(then.as_ref()?, &documents));
            Ended { fault, documents, answers }
        }
        Err(error) => Ended { fault: fault.or(Some(error)), documents: Documents::new(), answers },
    }
}

/// Documents with the ids of the steps in them.
fn with_ids(mut documents: Documents, ids: &Ids) -> Documents {
    for contents in documents.values_mut() {
        if let Ok(text) = std::str::from_utf8(contents) {
            *contents = ids.fill_text(text).into_bytes();
        }
    }
    documents
}

fn compare(
    step: &Step,
    answer: &Answer,
    places: &Places,
    ids: &Ids,
    messages: bool,
) -> Option<String> {
    let fill = |value: &Value| ids.fill(&places.fill(value));
    let same = match (answer, &step.result, &step.has, &step.error, &step.failure) {
        (Answer::Result(got), Some(expected), ..) => *got == fill(expected),
        (Answer::Result(got), _, Some(expected), ..) => has(got, &fill(expected)),
        (Answer::Error(got), _, _, Some(expected), _) => {
            let expected = fill(expected);
            let says = |text: &String| message(got).contains(&places.fill_text(text));
            without_texts(got, &expected, messages) == without_texts(&expected, &expected, messages)
                && step.says.iter().all(says)
        }
        (Answer::Refused(kinds), .., Some(expected)) => kinds.contains(&expected.as_str()),
        _ => false,
    };
    let mut text = String::new();
    if !same {
        let expected = [&step.result, &step.has, &step.error].into_iter().flatten().next();
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
        let got = ids.hide(&places.hide(&got));
        write!(text, "expected {}, got {}", short(&expected), short(&got)).ok()?;
    }
    (!same).then_some(text)
}

/// Whether a value has all that is expected of it: the members of an object, each item of an array.
fn has(got: &Value, expected: &Value) -> bool {
    match (got, expected) {
        (Value::Object(got), Value::Object(expected)) => expected
            .iter()
            .all(|(name, expected)| got.get(name).is_some_and(|got| has(got, expected))),
        (Value::Array(got), Value::Array(expected)) => {
            got.len() == expected.len() && got.iter().zip(expected).all(|(got, ex)| has(got, ex))
        }
        _ => got == expected,
    }
}

/// Where the fields of an error are: seed 004 has them one level down.
pub fn error_fields(error: &Value) -> &Value {
    if error["error"].is_object() { &error["error"] } else { error }
}

/// The code of an error, in the shape of either seed.
pub fn error_code(error: &Value) -> Option<&str> {
    error["error"].as_str().or_else(|| error["error"]["code"].as_str())
}

fn message(error: &Value) -> &str {
    error_fields(error)["message"].as_str().unwrap_or_default()
}

/// An error without the texts that are not compared: those that are not expected and, unless
/// `messages`, the message.
fn without_texts(error: &Value, expected: &Value, messages: bool) -> Value {
    let expected = error_fields(expected);
    let mut error = error.clone();
    let fields = if error["error"].is_object() { &mut error["error"] } else { &mut error };
    if let Some(fields) =
        fields.as_object_mut().filter(|_| !messages || expected.get("message").is_none())
    {
        fields.remove("message");
    }
    let details = fields.get_mut("details").and_then(Value::as_array_mut);
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
