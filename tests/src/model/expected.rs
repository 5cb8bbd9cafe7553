//! What a model says of an answer, and whether an answer is that.

use std::collections::BTreeSet;

use agent_memory_conformance::runner::Answer;
use serde_json::Value;

/// How much of an answer is shown.
const SHOWN: usize = 2000;

/// What a call has to answer.
#[derive(Clone, Debug)]
pub enum Expected {
    /// This result. Of each warning that it has to give, the text that it has to hold.
    Result {
        /// Everything but `warnings`.
        fields: Value,
        /// None where a result has no `warnings`.
        warnings: Option<Vec<String>>,
    },
    /// `InvalidInput` that names exactly these pointers: the arguments are not what the tool lists.
    Violations(BTreeSet<String>),
    /// An error for one of these reasons. The specification does not say which comes first.
    Refusal(Vec<Reason>),
    /// There is no such tool.
    NotFound,
}

/// Why a call is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// The error's code.
    pub code: &'static str,
    /// What in the arguments is to blame, where the error has `details`.
    pub pointer: Option<&'static str>,
}

impl Reason {
    /// One that lies in the repository.
    pub fn state(code: &'static str) -> Self {
        Self { code, pointer: None }
    }

    /// One that lies in a field.
    pub fn field(code: &'static str, pointer: &'static str) -> Self {
        Self { code, pointer: Some(pointer) }
    }
}

impl Expected {
    /// What is wrong with an answer.
    pub fn differs(&self, answer: &Answer) -> Option<String> {
        let is_met = match (self, answer) {
            (Self::Result { fields, warnings }, Answer::Result(got)) => {
                let mut got = got.clone();
                let given = got.as_object_mut().and_then(|fields| fields.remove("warnings"));
                got == *fields && warn_of(given.as_ref(), warnings.as_deref())
            }
            (Self::Violations(pointers), Answer::Error(error)) => {
                error["error"] == "InvalidInput" && pointers_of(error) == *pointers
            }
            (Self::Refusal(reasons), Answer::Error(error)) => {
                reasons.iter().any(|reason| reason.explains(error))
            }
            (Self::NotFound, Answer::Refused(kinds)) => kinds.contains(&"not-found"),
            _ => false,
        };
        (!is_met).then(|| {
            let short = |text: String| text.chars().take(SHOWN).collect::<String>();
            let (expected, got) = (short(format!("{self:?}")), short(format!("{answer:?}")));
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

/// Whether there are as many warnings as there should be, and each has one that holds its text.
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
    fn an_answer_is_judged_by_all_that_is_known_of_it() {
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
        let expected = Expected::Refusal(vec![Reason::field("InvalidSection", "/section")]);
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
