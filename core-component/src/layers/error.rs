//! The errors of this toolset, in the shape and with the codes of spec 004, as `records` has them.

use serde::Serialize;
use serde_json::json;

use crate::storage::{self, ErrorCode, MAY_STAND};
use crate::tool::{Category, Refusal, ToolError, Violation, not_accepted};

/// The code of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(super) enum Code {
    InvalidInput,
    NotFound,
    StorageError,
    PermissionError,
    CorruptedData,
    LimitExceeded,
    InternalError,
    Busy,
}

impl Code {
    fn category(self) -> Category {
        match self {
            Self::InvalidInput => Category::Invalid,
            Self::NotFound => Category::NotFound,
            Self::StorageError => Category::Storage,
            Self::PermissionError => Category::Denied,
            Self::CorruptedData => Category::Damaged,
            Self::LimitExceeded => Category::Limit,
            Self::InternalError => Category::Internal,
            Self::Busy => Category::Busy,
        }
    }
}

/// `{"error": {"code", "message", "details"?}}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Error {
    pub code: Code,
    message: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    details: Vec<Violation>,
}

impl Error {
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), details: Vec::new() }
    }

    /// A value of the input that the schema accepts and this state of the memory does not.
    pub fn at(code: Code, message: impl Into<String>, field: &str, accepted: String) -> Self {
        let details = vec![Violation { pointer: format!("/{field}"), accepted }];
        Self { code, message: message.into(), details }
    }

    pub fn message(&self) -> &str {
        &self.message
    }

    /// The error, where the agent is named by another field than `agent_id`.
    pub fn of_agent_in(mut self, field: &str) -> Self {
        let agents = self.details.iter_mut().filter(|detail| detail.pointer == "/agent_id");
        agents.for_each(|detail| detail.pointer = format!("/{field}"));
        self
    }

    /// The error of a transaction's commit: after `io` it may have happened.
    pub fn of_commit(error: storage::Error) -> Self {
        let is_uncertain = error.code == ErrorCode::Io;
        let mut error = Self::from(error);
        if is_uncertain && !error.message.ends_with(MAY_STAND) {
            error.message += MAY_STAND;
        }
        error
    }

    /// Nothing is kept of the agent.
    pub fn no_memories(agent: &str) -> Self {
        let message = format!("there are no memories of agent `{agent}`: check its name");
        Self::new(Code::NotFound, message)
    }

    /// No page ends there.
    pub fn no_page(cursor: &str) -> Self {
        let message = format!("`cursor` `{cursor}` is that of no page: begin anew");
        Self::at(Code::InvalidInput, message, "cursor", "the cursor of the last page".into())
    }

    /// The agent has no core memory of that id.
    pub fn no_core_memory(agent: &str, id: i64) -> Self {
        let message = format!(
            "agent `{agent}` has no core memory {id}: `get_core_memories` tells the ids that there \
             are"
        );
        Self::new(Code::NotFound, message)
    }
}

impl ToolError for Error {
    fn invalid_input(violations: Vec<Violation>) -> Self {
        let message = not_accepted(&violations);
        Self { code: Code::InvalidInput, message, details: violations }
    }

    fn internal(message: String) -> Self {
        Self::new(Code::InternalError, message)
    }

    fn refusal(&self) -> Refusal {
        let json = json!({ "error": self });
        Refusal {
            category: self.code.category(),
            code: json["error"]["code"].as_str().unwrap_or_default().to_owned(),
            message: self.message.clone(),
            json: json.to_string(),
        }
    }
}

impl From<storage::Error> for Error {
    fn from(error: storage::Error) -> Self {
        let code = match error.code {
            ErrorCode::Busy | ErrorCode::Nested | ErrorCode::VersionMismatch => Code::Busy,
            ErrorCode::Permission | ErrorCode::ReadOnly | ErrorCode::NotGranted => {
                Code::PermissionError
            }
            ErrorCode::TooLarge => Code::LimitExceeded,
            ErrorCode::Corrupted => Code::CorruptedData,
            ErrorCode::NoSpace
            | ErrorCode::Io
            | ErrorCode::Cancelled
            | ErrorCode::NotFound
            | ErrorCode::AlreadyExists
            | ErrorCode::InvalidPath => Code::StorageError,
        };
        Self::new(code, error.message)
    }
}
