//! The errors of this toolset, in the form of spec 000.

use serde::Serialize;
use serde_json::json;

use crate::listing;
use crate::storage::{self, ErrorCode};
use crate::tool::{Category, Refusal, ToolError, Violation, not_accepted};

/// The error codes, as callers see them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) enum Code {
    InvalidInput,
    InvalidSection,
    InvalidContent,
    RepositoryNotAllowed,
    SessionNotFound,
    SchemaMissing,
    SchemaInvalid,
    MalformedLog,
    Conflict,
    Busy,
    PermissionDenied,
    StorageError,
    Internal,
}

impl Code {
    fn category(self) -> Category {
        match self {
            Self::InvalidInput
            | Self::InvalidSection
            | Self::InvalidContent
            | Self::Conflict
            | Self::RepositoryNotAllowed => Category::Invalid,
            Self::SessionNotFound => Category::NotFound,
            Self::SchemaMissing | Self::SchemaInvalid | Self::MalformedLog => Category::Damaged,
            Self::Busy => Category::Busy,
            Self::PermissionDenied => Category::Denied,
            Self::StorageError => Category::Storage,
            Self::Internal => Category::Internal,
        }
    }
}

/// An error as callers see it: `{"error", "message", "details"?}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Error {
    error: Code,
    message: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    details: Vec<Violation>,
}

impl Error {
    pub fn new(error: Code, message: impl Into<String>) -> Self {
        Self { error, message: message.into(), details: Vec::new() }
    }

    /// An error in one field of the input, beyond what the JSON Schema expresses.
    pub fn at(error: Code, message: impl Into<String>, field: &str, accepted: String) -> Self {
        let details = vec![Violation { pointer: format!("/{field}"), accepted }];
        Self { error, message: message.into(), details }
    }
}

/// The maximum number of names that a message lists.
const MAX_LISTED: usize = 20;

/// Names for a message, each in backticks.
pub(super) fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    listing::listed(names, MAX_LISTED)
}

impl ToolError for Error {
    fn invalid_input(violations: Vec<Violation>) -> Self {
        let message = not_accepted(&violations);
        Self { error: Code::InvalidInput, message, details: violations }
    }

    fn internal(message: String) -> Self {
        Self::new(Code::Internal, message)
    }

    fn refusal(&self) -> Refusal {
        Refusal::new(self.error.category(), self.error, &self.message, &json!(self))
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
                Code::PermissionDenied
            }
            ErrorCode::TooLarge
            | ErrorCode::NoSpace
            | ErrorCode::Io
            | ErrorCode::Cancelled
            | ErrorCode::Corrupted
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
