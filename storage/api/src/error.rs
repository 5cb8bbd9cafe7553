//! Errors of storage.

use std::fmt;

/// Hands the names of all codes to a macro, behind what is given for it.
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
    /// What was named does not exist, and has to.
    NotFound,
    /// It exists already.
    AlreadyExists,
    /// The document is not at the version that the change expects.
    VersionMismatch,
    /// The host does not grant this.
    NotGranted,
    /// The medium is full.
    NoSpace,
    /// The medium or the place can only be read.
    ReadOnly,
    /// The operating system refuses.
    Permission,
    /// Longer than the bound of the call or of the host.
    TooLarge,
    /// Not a path that a tree can hold.
    InvalidPath,
    /// Others held the lock for longer than the host waits.
    Busy,
    /// The call locks a second place, or holds a writer or a transaction already.
    Nested,
    /// The call was given up.
    Cancelled,
    /// The database is damaged.
    Corrupted,
    /// Anything else that the medium reports.
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
    /// Its name in `wit/storage`, as `not-found`.
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

/// What went wrong in storage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The kind, on which code decides.
    pub code: ErrorCode,
    /// For a person: what failed, where, and what to do. It names no path but those that the caller
    /// was granted.
    pub message: String,
    /// The cause as the host knows it, for a log: an `errno` name, a SQLite result code.
    pub detail: Option<String>,
}

impl Error {
    /// An error without a further cause.
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
