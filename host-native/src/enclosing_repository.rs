//! The repository around a directory.

#[cfg(feature = "cli")]
use crate::storage::Error;
use agent_memory_storage_files::canonical;
#[cfg(feature = "cli")]
use agent_memory_storage_files::git_common_directory;
use std::path::{Path, PathBuf};

/// The directory of session logs in a repository.
#[cfg(feature = "cli")]
pub(crate) const DOCUMENTS: &str = ".github/agent-memory";

/// The repository around a directory: the nearest directory at or above it that has a `.git`.
///
/// None if there is no repository, or if it is `/` or the home directory: these hold far more than
/// one repository, so they have to be granted by name.
pub(crate) fn repository_around(directory: &Path) -> Option<PathBuf> {
    let top = top_level(&canonical(directory).ok()?)?.to_owned();
    (!is_too_much(&top, home().as_deref())).then_some(top)
}

/// The common Git directory of the nearest repository at or above a directory. All worktrees of the
/// repository share it.
///
/// None if there is no repository, or if it is `/` or the home directory.
///
/// # Errors
///
/// Those of [`git_common_directory`].
#[cfg(feature = "cli")]
pub(crate) fn common_directory_around(directory: &Path) -> Result<Option<PathBuf>, Error> {
    let Ok(directory) = canonical(directory) else { return Ok(None) };
    let home = home();
    for ancestor in directory.ancestors() {
        if is_too_much(ancestor, home.as_deref()) {
            return Ok(None);
        }
        if let Some(common) = git_common_directory(ancestor)? {
            return Ok(Some(common));
        }
    }
    Ok(None)
}

/// The main worktree of the repository, if the directory is in a linked worktree that has no session logs
/// yet and the main one has some. Git puts logs into a new worktree only once they are committed.
#[cfg(feature = "cli")]
pub(crate) fn main_worktree_with_logs(directory: &Path) -> Option<PathBuf> {
    let linked = repository_around(directory)?;
    let common = common_directory_around(directory).ok()??;
    let main = common.parent().filter(|_| common.ends_with(".git"))?;
    if is_too_much(main, home().as_deref()) {
        return None;
    }
    let has_logs = |top: &Path| top.join(DOCUMENTS).is_dir();
    (main != linked && has_logs(main) && !has_logs(&linked)).then(|| main.to_owned())
}

fn home() -> Option<PathBuf> {
    std::env::home_dir().and_then(|home| canonical(&home).ok())
}

fn is_too_much(directory: &Path, home: Option<&Path>) -> bool {
    directory.parent().is_none() || home == Some(directory)
}

/// The top level of the repository that holds a canonical directory.
pub(crate) fn top_level(directory: &Path) -> Option<&Path> {
    directory.ancestors().find(|ancestor| ancestor.join(".git").symlink_metadata().is_ok())
}
