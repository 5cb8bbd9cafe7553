//! Errors in the shape of spec 004, which `records`, `layers` and `stores` share. The codes are those
//! of the spec, and further ones of `stores`. Each toolset adds its own messages in its `error.rs`.

use serde::Serialize;
use serde_json::json;

use crate::context::Context;
use crate::existing::{agent_not_granted, differs_only_in_case};
use crate::names::NAME_ACCEPTED;
use crate::page::{CURSOR_ACCEPTED, invalid_cursor_message};
use crate::storage::{self, ErrorCode, MAY_STAND, UNCHANGED, says_may_stand};
use crate::tool::{Call, Category, Refusal, ToolError, Violation, not_accepted};
use crate::version::conflict_message;

/// The error codes that callers see.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum Code {
    InvalidInput,
    NotFound,
    StorageError,
    PermissionError,
    CorruptedData,
    LimitExceeded,
    InternalError,
    Busy,
    Conflict,
    InvalidPath,
    StoreNotFound,
    CategoryNotFound,
    MemoryNotFound,
    MemoryExpired,
    MemoryExists,
    DestinationExists,
}

impl Code {
    fn category(self) -> Category {
        match self {
            Self::InvalidInput
            | Self::Conflict
            | Self::InvalidPath
            | Self::MemoryExists
            | Self::DestinationExists => Category::Invalid,
            Self::NotFound
            | Self::StoreNotFound
            | Self::CategoryNotFound
            | Self::MemoryNotFound
            | Self::MemoryExpired => Category::NotFound,
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
pub(crate) struct Error {
    pub code: Code,
    message: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub details: Vec<Violation>,
    /// The agent's name in the call, and the existing name from which it differs only in case.
    #[serde(skip)]
    twin: Option<(String, String)>,
}

impl Error {
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), details: Vec::new(), twin: None }
    }

    /// The error of an input field whose value the schema accepts and the tool refuses. `accepted` says
    /// what the tool takes.
    pub fn at(code: Code, message: impl Into<String>, field: &str, accepted: String) -> Self {
        let details = vec![Violation { pointer: format!("/{field}"), accepted }];
        Self { code, message: message.into(), details, twin: None }
    }

    pub fn message(&self) -> &str {
        &self.message
    }

    /// The error with `text` appended to its message.
    pub fn with_suffix(mut self, text: &str) -> Self {
        self.message += text;
        self
    }

    /// The error of a call that may have changed something. Adds this to the message, unless the
    /// message says it already.
    pub fn after_change(mut self) -> Self {
        if says_may_stand(&self.message) {
            return self;
        }
        // Storage says that nothing was changed, but it knows only of the call's last change.
        if let Some(cause) = self.message.strip_suffix(UNCHANGED) {
            self.message = cause.to_owned();
        }
        self.with_suffix(MAY_STAND)
    }

    /// The error of a transaction's commit. After the code `io`, the commit may have happened.
    pub fn from_commit(error: storage::Error) -> Self {
        match error.code {
            ErrorCode::Io => Self::from(error).after_change(),
            _ => error.into(),
        }
    }

    /// The error for an outdated `version`: the document or record was changed after the caller read
    /// it.
    pub fn conflict(what: &str, tool: &str) -> Self {
        let message = conflict_message(what, tool);
        Self::at(Code::Conflict, message, "version", "the version that a read returns now".into())
    }

    /// The error for a cursor that no earlier page returned.
    pub fn invalid_cursor(cursor: &str) -> Self {
        let message = invalid_cursor_message(cursor);
        Self::at(Code::InvalidInput, message, "cursor", CURSOR_ACCEPTED.into())
    }

    /// The error for an agent's name that differs only in case from an existing name.
    /// [`Error::for_caller`] hides the existing name from callers that may not use that agent.
    pub fn case_twin(name: &str, twin: &str) -> Self {
        let message = differs_only_in_case("agent", name, twin, true);
        let error = Self::at(Code::InvalidInput, message, "agent_id", format!("`{twin}`"));
        Self { twin: Some((name.to_owned(), twin.to_owned())), ..error }
    }

    /// The error without the name of an existing agent, if the caller may not use that agent.
    pub fn for_caller(self, context: &Context) -> Self {
        match &self.twin {
            Some((name, twin)) if !context.reaches(twin) => {
                let message = differs_only_in_case("agent", name, twin, false);
                Self::at(Code::InvalidInput, message, "agent_id", "another name".into())
            }
            _ => self,
        }
    }

    /// The error for a name that no agent can have. `reason` follows the name in the message.
    pub fn invalid_agent(name: &str, reason: &str) -> Self {
        let message = format!("`agent_id` `{name}` {reason}: choose another name");
        Self::at(Code::InvalidInput, message, "agent_id", NAME_ACCEPTED.into())
    }

    /// Checks that the caller may use the agent.
    pub fn check_access(call: &Call<'_>, agent: &str) -> Result<(), Self> {
        if call.context.reaches(agent) {
            return Ok(());
        }
        Err(Self::new(Code::PermissionError, agent_not_granted(call.context, agent)))
    }
}

impl ToolError for Error {
    fn invalid_input(violations: Vec<Violation>) -> Self {
        let message = not_accepted(&violations);
        Self { code: Code::InvalidInput, message, details: violations, twin: None }
    }

    fn internal(message: String) -> Self {
        Self::new(Code::InternalError, message)
    }

    fn refusal(&self) -> Refusal {
        Refusal::new(self.code.category(), self.code, &self.message, &json!({ "error": self }))
    }
}

/// Converts the error of another toolset to this shape.
impl From<Box<dyn ToolError>> for Error {
    fn from(error: Box<dyn ToolError>) -> Self {
        let refusal = error.refusal();
        let code = match refusal.category {
            Category::Invalid => Code::InvalidInput,
            Category::NotFound => Code::NotFound,
            Category::Limit => Code::LimitExceeded,
            Category::Damaged => Code::CorruptedData,
            Category::Busy => Code::Busy,
            Category::Denied => Code::PermissionError,
            Category::Storage => Code::StorageError,
            Category::Internal => Code::InternalError,
        };
        Self::new(code, refusal.message)
    }
}

impl From<Error> for Box<dyn ToolError> {
    fn from(error: Error) -> Self {
        Box::new(error)
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

impl From<storage::CommitError> for Error {
    fn from(failed: storage::CommitError) -> Self {
        failed.for_caller().into()
    }
}

/// Why a file was not read.
pub(crate) enum ReadError {
    /// This file or directory cannot be read, or its text has a wrong form. A caller may go on with
    /// other files. The file is not changed: a person has to repair it.
    Unusable(Error),
    Other(Error),
}

impl From<storage::Error> for ReadError {
    fn from(error: storage::Error) -> Self {
        match error.code {
            ErrorCode::Permission | ErrorCode::TooLarge | ErrorCode::InvalidPath => {
                Self::Unusable(error.into())
            }
            _ => Self::Other(error.into()),
        }
    }
}

impl From<ReadError> for Error {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Unusable(error) | ReadError::Other(error) => error,
        }
    }
}
