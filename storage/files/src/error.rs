//! The operating system's errors as errors of storage.

use agent_memory_storage::{Error, ErrorCode};

use super::errno::Errno;

/// The error for a failed attempt, such as "read `a.md`".
///
/// Its code is never `not-found`: the caller handles a missing file before.
pub fn errno_error(errno: Errno, attempt: &str) -> Error {
    let (code, reason) = match errno {
        Errno::ROFS => (ErrorCode::ReadOnly, "the medium can only be read"),
        Errno::ACCESS | Errno::PERM => {
            (ErrorCode::Permission, "the operating system refuses: check the permissions")
        }
        Errno::NOSPC | Errno::DQUOT => (ErrorCode::NoSpace, "the medium is full: free some space"),
        Errno::FBIG => (ErrorCode::TooLarge, "the medium takes no file of this size"),
        Errno::LOOP | Errno::NOTDIR | Errno::ISDIR | Errno::NAMETOOLONG => (
            ErrorCode::InvalidPath,
            "something else stands there, or the medium takes no such name",
        ),
        Errno::BUSY => {
            (ErrorCode::Io, "it is in use: close it in the other program, or try again in a moment")
        }
        // In WASI, names that are not UTF-8 cannot be listed.
        Errno::ILSEQ => (ErrorCode::InvalidPath, "a name there is not UTF-8: rename it"),
        _ => (ErrorCode::Io, "the medium reports an error"),
    };
    Error { code, message: format!("cannot {attempt}: {reason}"), detail: Some(errno_name(errno)) }
}

/// The error for a failed attempt to lock a place. Like [`errno_error`], but a missing permission is
/// `read-only`: the place can still be read.
pub(crate) fn lock_error(errno: Errno, attempt: &str) -> Error {
    let error = errno_error(errno, attempt);
    match errno {
        Errno::ACCESS | Errno::PERM => Error { code: ErrorCode::ReadOnly, ..error },
        _ => error,
    }
}

/// The same as [`errno_error`] for an error of the standard library.
pub fn io_error(error: &std::io::Error, attempt: &str) -> Error {
    match Errno::from_io_error(error) {
        Some(errno) => errno_error(errno, attempt),
        None => Error {
            code: ErrorCode::Io,
            message: format!("cannot {attempt}: the medium reports an error"),
            detail: Some(error.to_string()),
        },
    }
}

fn errno_name(errno: Errno) -> String {
    let name = match errno {
        Errno::ACCESS => "EACCES",
        Errno::BUSY => "EBUSY",
        Errno::DQUOT => "EDQUOT",
        Errno::EXIST => "EEXIST",
        Errno::FBIG => "EFBIG",
        Errno::ILSEQ => "EILSEQ",
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
