//! The code that is common to all systems whose files this crate opens itself.

use std::path::Path;

use super::Directory;
use super::facts::{Facts, Kind};
use crate::errno::{Errno, errno_of};

pub use std::fs::File;

impl Directory {
    /// Opens the directory that these names lead to. An error has the index of the name.
    pub fn descend(&self, names: &[&str]) -> Result<Self, (usize, Errno)> {
        let mut directory = self.clone();
        for (index, &name) in names.iter().enumerate() {
            directory = directory.child(name).map_err(|errno| (index, errno))?;
        }
        Ok(directory)
    }

    pub(super) fn facts_of(&self, names: &[String]) -> Result<Vec<Option<Facts>>, Errno> {
        names.iter().map(|name| self.facts(name)).collect()
    }
}

/// The kind of the file or directory at a path. With `follow`, follows a symbolic link there.
///
/// # Errors
///
/// The operating system's; `NOENT` if nothing exists there.
pub fn kind_at(path: &Path, follow: bool) -> Result<Kind, Errno> {
    let found = if follow { path.metadata() } else { path.symlink_metadata() };
    Ok(found.map_err(|error| errno_of(&error))?.file_type().into())
}
