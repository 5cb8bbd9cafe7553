//! The places that a family has at one moment.

use agent_memory_storage::{Error, ErrorCode};
use agent_memory_storage_files::{Directories, FamilyBase, path};
use serde::Deserialize;
use std::collections::BTreeMap;

/// A place that a registry lists.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Registered {
    /// Its path as the registry has it.
    pub path: String,
    /// Its description.
    pub description: Option<String>,
    /// Parts of it that are ignored, for a person.
    #[serde(default)]
    pub warnings: Vec<String>,
}

/// The places of a family at one moment.
#[derive(Debug, Default)]
pub(super) struct Members {
    pub registered: BTreeMap<String, Registered>,
    /// The directories whose paths are possible.
    directories: Directories,
}

impl Members {
    /// The directories whose paths are possible.
    pub fn directories(&self) -> &Directories {
        &self.directories
    }

    pub fn new(registered: BTreeMap<String, Registered>, base: &FamilyBase) -> Self {
        let mut directories = Directories::default();
        for (name, registered) in &registered {
            if let Ok(directory) = base.directory(&registered.path) {
                directories.add(directory, name);
            }
        }
        Members { registered, directories }
    }
}

pub(super) fn check_name(name: &str) -> Result<(), Error> {
    match path::document(name)?.len() {
        1 => Ok(()),
        _ => Err(Error::new(
            ErrorCode::InvalidPath,
            format!("`{}` is no name of a place: leave the `/` out", name.escape_debug()),
        )),
    }
}
