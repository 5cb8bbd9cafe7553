//! The error of a memory that cannot be built.

use crate::description::UnknownName;
use crate::storage;
use std::path::PathBuf;

/// Why an [`AgentMemory`](crate::AgentMemory) cannot be built.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// A directory, or a place of a toolset such as a database file, cannot be granted.
    #[error("{error}")]
    Grant {
        /// The path as it was given.
        directory: PathBuf,
        /// The reason, with the path.
        error: storage::Error,
    },
    /// There is no such toolset or setting.
    #[error(transparent)]
    Unknown(#[from] UnknownName),
    /// A setting does not accept its value, or two settings exclude each other.
    #[error("{0}")]
    Setting(String),
    /// The offset from UTC is a day or more.
    #[error("the offset from UTC is {0} minutes, but has to be less than a day")]
    UtcOffset(i32),
    /// There is no time zone of this name.
    #[error(
        "there is no time zone `{0}`: use a name of the IANA database, such as `America/New_York`"
    )]
    TimeZone(String),
    /// A time zone and an offset from UTC are given.
    #[error("a time zone and an offset from UTC are given: leave one of them out")]
    TwoZones,
    /// The database server cannot be used.
    #[cfg(feature = "postgres")]
    #[error("{0}")]
    Database(storage::Error),
    /// The component does not load.
    #[error("the component cannot be used: {0}")]
    Component(String),
}
