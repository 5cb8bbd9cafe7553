//! Running a case. A runner only implements [`Session`]: how its host makes a call.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::case::{Case, Documents, Ids, Places, QueryText, Request, Step};

/// The answer to a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// The tool's result.
    Result(Value),
    /// The toolset's error.
    Error(Value),
    /// The request was refused for one of these reasons. Several reasons are possible, because a
    /// protocol may have one error for all of them.
    Refused(&'static [&'static str]),
}

/// One case on one host.
pub trait Session {
    /// Makes the next request. For a resource, the answer is the JSON in its text. An error is about
    /// the host itself, such as a process that has ended.
    fn request(&mut self, request: &Request) -> Result<Answer, String>;

    /// The follow-ups that the last request left. `None` if the host does not tell.
    fn follow_ups(&self) -> Option<&[Value]> {
        None
    }

    /// The values of the placeholders.
    fn places(&self) -> Places;

    /// The rows of a query of the database of layers, read without the toolset.
    fn query(&mut self, sql: &str) -> Result<Vec<Vec<Value>>, String> {
        Err(format!("this runner cannot ask the database: {sql}"))
    }

    /// Ends the host and returns the documents in storage.
    fn finish(self: Box<Self>) -> Result<Documents, String>;
}

/// The result of running a case.
#[derive(Debug)]
pub struct CaseResult {
    /// The first difference from the case, or the host's error. `None` if the case passed.
    pub error: Option<String>,
    /// The documents in storage at the end.
    pub documents: Documents,
    /// The answer of each step.
    pub answers: Vec<Answer>,
}

/// Runs a case and compares the answers. `messages` decides whether error messages are compared too.
pub fn run(case: &Case, mut session: Box<dyn Session>, messages: bool) -> CaseResult {
    let places = session.places();
    let mut first_error = None;
    let mut answers = Vec::new();
    let mut ids = Ids::default();
    for (index, step) in case.text.steps.iter().enumerate() {
        match session.request(&step.request.filled(&places, &ids)) {
            Ok(answer) => {
                ids.push(match &answer {
                    Answer::Result(result) => Some(result),
                    _ => None,
                });
                let error = compare(step, &answer, &places, &ids, messages);
                let error = error.or_else(|| compare_follow_ups(step, session.follow_ups()?));
                let error = error.map(|error| format!("step {index}: {error}"));
                first_error = first_error.or(error);
                answers.push(answer);
            }
            Err(error) => {
                first_error = first_error.or(Some(format!("step {index}: {error}")));
                break;
            }
        }
    }
    for QueryText { query, rows } in case.then_rows() {
        let error = match session.query(query) {
            Ok(got) if got == *rows => None,
            Ok(got) => Some(format!("`{query}` answers {}, not {}", json!(got), json!(rows))),
            Err(error) => Some(error),
        };
        first_error = first_error.or(error);
    }
    match session.finish() {
        Ok(documents) => {
            let then = case.then().map(|then| with_ids(then, &ids));
            let error = first_error.or_else(|| compare_documents(then.as_ref()?, &documents));
            CaseResult { error, documents, answers }
        }
        Err(error) => {
            let error = first_error.or(Some(error));
            CaseResult { error, documents: Documents::new(), answers }
        }
    }
}

/// The documents with the ids of the steps in place of their placeholders.
fn with_ids(mut documents: Documents, ids: &Ids) -> Documents {
    for contents in documents.values_mut() {
        if let Ok(text) = std::str::from_utf8(contents) {
            *contents = ids.fill_text(text).into_bytes();
        }
    }
    documents
}

/// The difference between the expected answer of a step and the one it got.
fn compare(
    step: &Step,
    answer: &Answer,
    places: &Places,
    ids: &Ids,
    messages: bool,
) -> Option<String> {
    let fill = |value: &Value| ids.fill(&places.fill(value));
    let same = match (answer, &step.result, &step.has, &step.error, &step.failure) {
        (Answer::Result(got), None, None, ..) if is_pending(step) => got.is_null(),
        (Answer::Result(got), Some(expected), ..) => is_same(got, &fill(expected)),
        (Answer::Result(got), _, Some(expected), ..) => has(got, &fill(expected)),
        (Answer::Error(got), _, _, Some(expected), _) => {
            let expected = fill(expected);
            let says = |text: &String| message(got).contains(&places.fill_text(text));
            let strip = |error| without_texts(error, &expected, messages);
            is_same(&strip(got), &strip(&expected)) && step.says.iter().all(says)
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

/// Whether the answer is in the follow-ups alone.
fn is_pending(step: &Step) -> bool {
    matches!(step.request, Request::Pending { .. })
}

/// The difference between the expected follow-ups of a step and those that it left. A payload is
/// compared as JSON.
fn compare_follow_ups(step: &Step, got: &[Value]) -> Option<String> {
    let is_same = got.len() == step.leaves.len()
        && got.iter().zip(&step.leaves).all(|(got, expected)| has(got, expected));
    let texts = || (json!(step.leaves).to_string(), json!(got).to_string());
    (!is_same).then(texts).map(|(expected, got)| {
        format!("expected the follow-ups {}, got {}", short(&expected), short(&got))
    })
}

/// Whether a value has all expected members of objects and all expected items of arrays.
fn has(got: &Value, expected: &Value) -> bool {
    match (got, expected) {
        (Value::Object(got), Value::Object(expected)) => expected
            .iter()
            .all(|(name, expected)| got.get(name).is_some_and(|got| has(got, expected))),
        (Value::Array(got), Value::Array(expected)) => {
            got.len() == expected.len() && got.iter().zip(expected).all(|(got, ex)| has(got, ex))
        }
        _ => is_same(got, expected),
    }
}

/// Whether two values are equal. Numbers are compared by their values, since JavaScript writes `0.0` as
/// `0`.
pub fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => {
            one == other || one.as_f64() == other.as_f64()
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len()
                && one.iter().zip(other).all(|(one, other)| is_same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let is_there = |(name, value): (&String, &Value)| {
                other.get(name).is_some_and(|other| is_same(value, other))
            };
            one.len() == other.len() && one.iter().all(is_there)
        }
        _ => one == other,
    }
}

/// The object with the fields of an error. In the shape of spec 004 it is one level down.
pub fn error_fields(error: &Value) -> &Value {
    if error["error"].is_object() { &error["error"] } else { error }
}

/// The code of an error of any toolset.
pub fn error_code(error: &Value) -> Option<&str> {
    error["error"].as_str().or_else(|| error["error"]["code"].as_str())
}

fn message(error: &Value) -> &str {
    error_fields(error)["message"].as_str().unwrap_or_default()
}

/// An error without the texts that are not compared: texts that are not expected, and the message if
/// `messages` is false.
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

/// The first difference between the expected documents and those in storage.
pub fn compare_documents(expected: &Documents, got: &Documents) -> Option<String> {
    let missing = expected.keys().find(|path| !got.contains_key(*path));
    let extra = got.keys().find(|path| !expected.contains_key(*path));
    let different = expected.iter().find(|(path, bytes)| got.get(*path) != Some(bytes));
    if let Some(path) = missing {
        return Some(format!("`{path}` does not exist afterwards"));
    }
    if let Some(path) = extra {
        let contents = String::from_utf8_lossy(&got[path]);
        return Some(format!("`{path}` exists afterwards: {}", short(&format!("{contents:?}"))));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_the_same_if_their_values_are() {
        assert!(is_same(&json!({"a": [0.0, 1]}), &json!({"a": [0, 1.0]})));
        assert!(!is_same(&json!({"a": 1}), &json!({"a": 1, "b": 2})));
        assert!(!is_same(&json!([u64::MAX]), &json!([1])));
        assert!(!is_same(&json!(0), &json!(false)));
        assert!(!is_same(&json!([]), &json!([0])));
    }
}
