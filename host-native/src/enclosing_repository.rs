//! The repository around a directory.

use agent_memory_storage_files::canonical;
use std::path::{Path, PathBuf};

/// The repository around a directory: the nearest directory at or above it that has a `.git`.
///
/// None if there is no repository, or if it is `/` or the home directory: these hold far more than
/// one repository, so they have to be granted by name.
pub(crate) fn repository_around(directory: &Path) -> Option<PathBuf> {
    let top = top_level(&canonical(directory).ok()?)?.to_owned();
    let home = std::env::home_dir().and_then(|home| canonical(&home).ok());
    let too_much = top.parent().is_none() || home.as_ref() == Some(&top);
    (!too_much).then_some(top)
}

/// The top level of the repository that holds a canonical directory.
pub(crate) fn top_level(directory: &Path) -> Option<&Path> {
    directory.ancestors().find(|ancestor| ancestor.join(".git").symlink_metadata().is_ok())
}
