use std::path::{Path, PathBuf};

/// The repository that somebody who works in a directory means: the nearest directory at or above
/// it that has a `.git`.
///
/// None where that is `/` or the home directory, which hold far more than one repository, and none
/// where there is no repository: such a directory is granted by name or not at all.
pub(crate) fn repository_around(directory: &Path) -> Option<PathBuf> {
    let top = top_level(&directory.canonicalize().ok()?)?.to_owned();
    let home = std::env::home_dir().and_then(|home| home.canonicalize().ok());
    let too_much = top.parent().is_none() || home.as_ref() == Some(&top);
    (!too_much).then_some(top)
}

/// The top level of the repository that holds a canonical directory.
pub(crate) fn top_level(directory: &Path) -> Option<&Path> {
    directory.ancestors().find(|ancestor| ancestor.join(".git").symlink_metadata().is_ok())
}
