//! What the toolbox lists and answers.

use crate::capability::toolbox;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A tool, as the component lists it.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Tool {
    /// The name that calls it.
    pub name: String,
    /// Its name for people.
    pub title: String,
    /// For a model: what it does and when to use it.
    pub description: String,
    /// The JSON Schema (2020-12) of its arguments, which are an object.
    pub input_schema: Map<String, Value>,
    /// The JSON Schema (2020-12) of its result, unless that is an error.
    pub output_schema: Map<String, Value>,
    /// What to expect of a call.
    pub annotations: Annotations,
    /// Whom it is for.
    pub audience: Audience,
}

/// What to expect of a call of a [`Tool`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "they are four independent hints of a protocol")]
pub struct Annotations {
    /// It changes nothing. Such a call takes no place among the writers.
    pub read_only_hint: bool,
    /// It may delete or overwrite.
    pub destructive_hint: bool,
    /// The same call again changes nothing more.
    pub idempotent_hint: bool,
    /// It reaches beyond what it was granted. None does.
    pub open_world_hint: bool,
}

/// Whom a [`Tool`] is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Audience {
    /// A model calls it.
    Model,
    /// A person calls it, by a command.
    Person,
}

/// A resource, as the component lists it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Resource {
    /// Reads it.
    pub uri: String,
    /// Its name for programs.
    pub name: String,
    /// Its name for people.
    pub title: String,
    /// For a model: what it holds.
    pub description: String,
    /// What its text is.
    pub mime_type: String,
}

/// A kind of [`Resource`], as the component lists it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceTemplate {
    /// A URI once its `{variables}` are filled in.
    pub uri_template: String,
    /// Its name for programs.
    pub name: String,
    /// Its name for people.
    pub title: String,
    /// For a model: what such a resource holds.
    pub description: String,
    /// What its text is.
    pub mime_type: String,
}

/// What a tool answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// JSON: what the tool's output schema says or, with `is_error`, the toolset's error.
    pub result: String,
    /// Whether the tool refused or failed. Nothing was changed then, unless storage failed during a
    /// commit: of its changes the first may stand.
    pub is_error: bool,
    /// The URIs of the resources that the call changed.
    pub changed: Vec<String>,
    /// Work that the call leaves to be done.
    pub follow_ups: Vec<FollowUp>,
}

impl Outcome {
    /// Why the tool refused or failed, where it did.
    pub fn error(&self) -> Option<ToolError> {
        self.is_error.then(|| ToolError::read(&self.result))
    }
}

/// A tool's error. Toolsets write it in one of two shapes, which
/// [`Outcome::result`](Outcome::result) keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolError {
    /// Its kind, a word of the toolset: `InvalidSection`, `NOT_FOUND`.
    pub code: String,
    /// For a model and a person: what was wrong, where, and what to do.
    pub message: String,
}

impl ToolError {
    /// Reads `{"error": code, "message"}` or `{"error": {"code", "message"}}`.
    fn read(result: &str) -> ToolError {
        let said: Value = serde_json::from_str(result).unwrap_or_default();
        let is_nested = said["error"].is_object();
        let fields = if is_nested { &said["error"] } else { &said };
        let code = if is_nested { &fields["code"] } else { &said["error"] };
        ToolError {
            code: code.as_str().unwrap_or_default().to_owned(),
            message: fields["message"].as_str().unwrap_or(result).to_owned(),
        }
    }
}

/// Work that is wanted but need not be waited for. It stays in storage until it is answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FollowUp {
    /// Names it in the answer.
    pub id: String,
    /// What is wanted.
    pub kind: String,
    /// JSON, by kind.
    pub payload: String,
}

/// Why a call has no [`Outcome`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// No tool of that name, or resource of that URI, is mounted.
    #[error("{0}")]
    NotFound(String),
    /// The arguments are no JSON object.
    #[error("{0}")]
    InvalidRequest(String),
    /// The component did not come to an end of its own. What it held is free again; what it
    /// committed stands, and of a commit that it was about to make at most the first changes.
    #[error("{message}")]
    Ended {
        /// Why it was stopped.
        reason: Reason,
        /// For a person: the tool, the reason, and what the component printed last.
        message: String,
    },
}

/// Why a call was ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// Its own code ran for longer than [`Limits::guest_time`](crate::Limits::guest_time).
    Deadline,
    /// It needed more than [`Limits::memory`](crate::Limits::memory).
    Memory,
    /// It asked storage more often than
    /// [`Limits::storage_calls`](crate::Limits::storage_calls).
    StorageCalls,
    /// It panicked, went beyond one of the fixed bounds, or did what no component may.
    Trap,
    /// Nobody waited for it any more, or the program is closing.
    GivenUp,
}

impl From<toolbox::Outcome> for Outcome {
    fn from(outcome: toolbox::Outcome) -> Outcome {
        let follow_up = |wanted: toolbox::FollowUp| FollowUp {
            id: wanted.id,
            kind: wanted.kind,
            payload: wanted.payload,
        };
        Outcome {
            result: outcome.result,
            is_error: outcome.is_error,
            changed: outcome.changed,
            follow_ups: outcome.follow_ups.into_iter().map(follow_up).collect(),
        }
    }
}

impl CallError {
    pub(crate) fn closing() -> CallError {
        let message = "the program is closing".to_owned();
        CallError::Ended { reason: Reason::GivenUp, message }
    }
}

impl From<toolbox::Failure> for CallError {
    fn from(failure: toolbox::Failure) -> CallError {
        match failure.code {
            toolbox::FailureCode::NotFound => CallError::NotFound(failure.message),
            toolbox::FailureCode::InvalidRequest => CallError::InvalidRequest(failure.message),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_read_in_the_shape_of_every_toolset() {
        let read = |result: &str| {
            let ToolError { code, message } = ToolError::read(result);
            [code, message]
        };
        for result in [
            r#"{"error": "NoSuch", "message": "say another"}"#,
            r#"{"error": {"code": "NoSuch", "message": "say another", "details": []}}"#,
        ] {
            assert_eq!(read(result), ["NoSuch", "say another"], "{result}");
        }
        assert_eq!(read("no JSON"), ["", "no JSON"]);
    }
}
