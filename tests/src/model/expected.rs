//! The answers that a model expects, and their comparison with actual ones.

use std::collections::BTreeSet;

use agent_memory_conformance::runner::Answer;
use serde_json::Value;

/// How much of an answer a message shows.
const SHOWN: usize = 2000;

/// The expected answer of a call.
#[derive(Clone, Debug)]
pub enum Expected {
    /// This result. For each of its warnings, a text that it contains.
    Result {
        /// The result without `warnings`, and without the `note` about other agents.
        fields: Value,
        /// None if the result has no `warnings`.
        warnings: Option<Vec<String>>,
    },
    /// This result, with a page of a text.
    Page {
        /// The result without the text, `next` and `warnings`.
        fields: Value,
        /// As of a result.
        warnings: Vec<String>,
        /// The field with the text.
        text: &'static str,
        /// The text from the page's beginning.
        rest: String,
        /// The characters before it.
        before: usize,
        /// The most characters of a page.
        limit: usize,
    },
    /// `InvalidInput` with exactly these pointers: the arguments violate the tool's schema.
    Violations(BTreeSet<String>),
    /// An error for one of these reasons, since the specification does not fix their order.
    Error(Vec<Reason>),
    /// There is no such tool.
    NotFound,
}

/// A reason for an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// The error's code.
    pub code: &'static str,
    /// The pointer of the wrong argument, if the error has `details`.
    pub pointer: Option<&'static str>,
}

impl Reason {
    /// A reason in the repository.
    pub fn state(code: &'static str) -> Self {
        Self { code, pointer: None }
    }

    /// A reason in a field of the arguments.
    pub fn field(code: &'static str, pointer: &'static str) -> Self {
        Self { code, pointer: Some(pointer) }
    }
}

impl Expected {
    /// How an answer differs; none if it is as expected.
    pub fn differs(&self, answer: &Answer) -> Option<String> {
        let is_met = match (self, answer) {
            (Self::Result { fields, warnings }, Answer::Result(got)) => {
                let mut got = got.clone();
                let mut take = |field| got.as_object_mut().and_then(|got| got.remove(field));
                let given = take("warnings");
                let _note_of_other_agents = take("note");
                got == *fields && warn_of(given.as_ref(), warnings.as_deref())
            }
            (Self::Page { fields, warnings, text, rest, before, limit }, Answer::Result(got)) => {
                let mut got = got.clone();
                let mut take = |field| got.as_object_mut().and_then(|got| got.remove(field));
                let given = take("warnings");
                let text = take(*text);
                let next = take("next");
                let text = text.as_ref().and_then(Value::as_str).unwrap_or_default();
                let length = text.chars().count();
                let is_page = if rest.chars().count() > *limit {
                    let is_next = next.is_some_and(|next| next == before + length);
                    rest.starts_with(text) && (limit / 2..=*limit).contains(&length) && is_next
                } else {
                    text == rest && next.is_none()
                };
                got == *fields && is_page && warn_of(given.as_ref(), Some(warnings))
            }
            (Self::Violations(pointers), Answer::Error(error)) => {
                error["error"] == "InvalidInput" && pointers_of(error) == *pointers
            }
            (Self::Error(reasons), Answer::Error(error)) => {
                reasons.iter().any(|reason| reason.explains(error))
            }
            (Self::NotFound, Answer::Refused(kinds)) => kinds.contains(&"not-found"),
            _ => false,
        };
        (!is_met).then(|| {
            let short = |text: String| text.chars().take(SHOWN).collect::<String>();
            let expected = short(format!("{self:?}"));
            let got = short(format!("{answer:?}"));
            format!("expected {expected}\n  got      {got}")
        })
    }
}

impl Reason {
    fn explains(&self, error: &Value) -> bool {
        let blamed: BTreeSet<String> = self.pointer.into_iter().map(str::to_owned).collect();
        let says = error["message"].as_str().is_some_and(|message| !message.is_empty());
        error["error"] == self.code && pointers_of(error) == blamed && says
    }
}

fn pointers_of(error: &Value) -> BTreeSet<String> {
    let details = error["details"].as_array().into_iter().flatten();
    details.filter_map(|detail| detail["pointer"].as_str()).map(str::to_owned).collect()
}

/// Whether the warnings match: their number is right, and each expected text is in one of them.
fn warn_of(given: Option<&Value>, expected: Option<&[String]>) -> bool {
    let (Some(given), Some(expected)) = (given.and_then(Value::as_array), expected) else {
        return given.is_none() && expected.is_none();
    };
    let mut left: Vec<&str> = given.iter().filter_map(Value::as_str).collect();
    left.len() == expected.len()
        && expected.iter().all(|text| {
            let found = left.iter().position(|warning| warning.contains(text.as_str()));
            found.map(|index| left.remove(index)).is_some()
        })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_answer_is_compared_with_everything_that_is_expected() {
        let expected =
            Expected::Result { fields: json!({"a": 1}), warnings: Some(vec!["x".into()]) };
        let answer = |value| Answer::Result(value);
        assert_eq!(expected.differs(&answer(json!({"a": 1, "warnings": ["an x"]}))), None);
        for wrong in [
            json!({"a": 2, "warnings": ["an x"]}),
            json!({"a": 1, "b": 1, "warnings": ["an x"]}),
            json!({"a": 1, "warnings": ["a y"]}),
            json!({"a": 1, "warnings": ["an x", "an x"]}),
            json!({"a": 1}),
        ] {
            assert!(expected.differs(&answer(wrong.clone())).is_some(), "{wrong}");
        }
        let expected = Expected::Error(vec![Reason::field("InvalidSection", "/section")]);
        let error = |code: &str, pointer: &str| {
            let details = json!([{"pointer": pointer, "accepted": "..."}]);
            Answer::Error(json!({"error": code, "message": "m", "details": details}))
        };
        assert_eq!(expected.differs(&error("InvalidSection", "/section")), None);
        assert!(expected.differs(&error("InvalidSection", "/content")).is_some());
        assert!(expected.differs(&error("InvalidInput", "/section")).is_some());
        assert!(expected.differs(&answer(json!({}))).is_some());
    }
}
