//! Errors of storage.

use std::fmt;

/// Calls a macro with the given tokens, followed by the names of all codes.
#[macro_export]
macro_rules! with_error_codes {
    ($then:ident!($($given:tt)*)) => {
        $then! { $($given)*
            NotFound AlreadyExists VersionMismatch NotGranted NoSpace ReadOnly Permission TooLarge
            InvalidPath Busy Nested Cancelled Corrupted Io
        }
    };
}

/// The kind of an [`Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ErrorCode {
    /// The named thing does not exist, but must.
    NotFound,
    /// The thing exists already.
    AlreadyExists,
    /// The document does not have the version that the change expects.
    VersionMismatch,
    /// The host does not grant the thing that the call asks for.
    NotGranted,
    /// The medium is full.
    NoSpace,
    /// The medium or the place can only be read.
    ReadOnly,
    /// The operating system refuses the access.
    Permission,
    /// The data exceeds a limit of the call or of the host.
    TooLarge,
    /// A tree cannot hold this path.
    InvalidPath,
    /// Another caller held the lock for longer than the host waits.
    Busy,
    /// The call already holds something that excludes this operation: the lock of another place, a
    /// writer or a transaction.
    Nested,
    /// The call was cancelled.
    Cancelled,
    /// The database is damaged.
    Corrupted,
    /// Any other error of the medium.
    Io,
}

macro_rules! list {
    ($($code:ident)+) => {
        impl ErrorCode {
            /// Every code.
            pub const ALL: &[Self] = &[$(Self::$code),+];
        }
    };
}

with_error_codes!(list!());

impl ErrorCode {
    /// The name of the code in `wit/storage`, for example `not-found`.
    pub fn name(self) -> String {
        let mut name = String::new();
        for letter in format!("{self:?}").chars() {
            if letter.is_uppercase() && !name.is_empty() {
                name.push('-');
            }
            name.push(letter.to_ascii_lowercase());
        }
        name
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())
    }
}

/// An error of storage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The kind of the error, for programs.
    pub code: ErrorCode,
    /// The message for a person: the failure, its place, and the remedy. It contains no paths except
    /// those that the caller named or was granted, the targets of links in them, and the top level of
    /// the repository around such a path.
    pub message: String,
    /// The host's cause, for a log: an `errno` name or a SQLite result code.
    pub detail: Option<String>,
}

impl Error {
    /// An error without a detail.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), detail: None }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}
