//! The errors of this crate, which say what to do.

use std::io;
use std::path::PathBuf;

/// The reason why a configuration file is not changed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The client has no such file.
    #[error("{0}")]
    NoFile(String),
    /// The client cannot use such a server or hook.
    #[error("{0}")]
    Unsupported(String),
    /// The file is not what its client reads.
    #[error("`{}` is left as it is: {reason}", .path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The fault, and what to do.
        reason: String,
    },
    /// The operating system reports an error.
    #[error("cannot {attempt} `{}`: {error}", .path.display())]
    Io {
        /// The attempt, as a verb.
        attempt: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
}
