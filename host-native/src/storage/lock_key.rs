//! The name of a lock.

use agent_memory_storage::Place;
use std::path::{Path, PathBuf};

/// The name of a lock. Trees with the same key share one lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LockKey {
    /// The canonical path of a lock directory.
    Directory(PathBuf),
    /// A place on the database server.
    Server(Place),
}

impl LockKey {
    /// The lock directory; none on a server.
    pub fn directory(&self) -> Option<&Path> {
        match self {
            LockKey::Directory(directory) => Some(directory),
            LockKey::Server(_) => None,
        }
    }
}
