//! What goes wrong, in the words of `wit/storage/storage.wit`.

use rustix::io::Errno;
use std::fmt;

/// The kind of an [`Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    /// The call holds a writer or a transaction already.
    Nested,
    /// The call was given up.
    Cancelled,
    /// What is kept there is damaged: it is no database, or not what one holds.
    Corrupted,
    /// Anything else that the medium reports.
    Io,
}

impl ErrorCode {
    /// The name that the WIT gives it.
    pub fn name(self) -> &'static str {
        match self {
            ErrorCode::NotFound => "not-found",
            ErrorCode::AlreadyExists => "already-exists",
            ErrorCode::VersionMismatch => "version-mismatch",
            ErrorCode::NotGranted => "not-granted",
            ErrorCode::NoSpace => "no-space",
            ErrorCode::ReadOnly => "read-only",
            ErrorCode::Permission => "permission",
            ErrorCode::TooLarge => "too-large",
            ErrorCode::InvalidPath => "invalid-path",
            ErrorCode::Busy => "busy",
            ErrorCode::Nested => "nested",
            ErrorCode::Cancelled => "cancelled",
            ErrorCode::Corrupted => "corrupted",
            ErrorCode::Io => "io",
        }
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What went wrong in storage.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// Its kind.
    pub code: ErrorCode,
    /// For a person: what failed, where, and what to do. Names no path but those the caller was
    /// granted.
    pub message: String,
    /// The cause, for a log: an `errno` name, a SQLite result code.
    pub detail: Option<String>,
}

impl Error {
    /// An error without a further cause.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Error { code, message: message.into(), detail: None }
    }

    /// The operating system's answer to an attempt to `attempt` ("read `a.md`").
    ///
    /// Never `not-found`: who knows that an absence is an answer handles it before.
    pub(super) fn from_errno(errno: Errno, attempt: &str) -> Self {
        let (code, reason) = match errno {
            Errno::ROFS => (ErrorCode::ReadOnly, "the medium can only be read"),
            Errno::ACCESS | Errno::PERM => {
                (ErrorCode::Permission, "the operating system refuses: check the permissions")
            }
            Errno::NOSPC | Errno::DQUOT => {
                (ErrorCode::NoSpace, "the medium is full: free some space")
            }
            Errno::FBIG => (ErrorCode::TooLarge, "the medium takes no file of this size"),
            Errno::LOOP | Errno::NOTDIR | Errno::ISDIR | Errno::NAMETOOLONG => (
                ErrorCode::InvalidPath,
                "something else stands there, or the medium takes no such name",
            ),
            _ => (ErrorCode::Io, "the medium reports an error"),
        };
        Error {
            code,
            message: format!("cannot {attempt}: {reason}"),
            detail: Some(errno_name(errno)),
        }
    }

    /// As [`from_errno`](Self::from_errno), for what the standard library reports.
    pub(super) fn from_io(error: &std::io::Error, attempt: &str) -> Self {
        match Errno::from_io_error(error) {
            Some(errno) => Error::from_errno(errno, attempt),
            None => Error {
                code: ErrorCode::Io,
                message: format!("cannot {attempt}: the medium reports an error"),
                detail: Some(error.to_string()),
            },
        }
    }
}

fn errno_name(errno: Errno) -> String {
    let name = match errno {
        Errno::ACCESS => "EACCES",
        Errno::BUSY => "EBUSY",
        Errno::DQUOT => "EDQUOT",
        Errno::EXIST => "EEXIST",
        Errno::FBIG => "EFBIG",
        Errno::INVAL => "EINVAL",
        Errno::IO => "EIO",
        Errno::ISDIR => "EISDIR",
        Errno::LOOP => "ELOOP",
        Errno::MFILE => "EMFILE",
        Errno::NAMETOOLONG => "ENAMETOOLONG",
        Errno::NFILE => "ENFILE",
        Errno::NODEV => "ENODEV",
        Errno::NOENT => "ENOENT",
        Errno::NOMEM => "ENOMEM",
        Errno::NOSPC => "ENOSPC",
        Errno::NOTDIR => "ENOTDIR",
        Errno::NOTEMPTY => "ENOTEMPTY",
        Errno::NXIO => "ENXIO",
        Errno::PERM => "EPERM",
        Errno::ROFS => "EROFS",
        Errno::STALE => "ESTALE",
        other => return format!("errno {}", other.raw_os_error()),
    };
    name.to_owned()
}
