//! Finds all files below a directory.

use super::error::Error;
use super::path::{FilePath, is_hidden};
use super::tree::Files;
use crate::error::ReadError;
use crate::storage::{EntryKind, Status};

/// The files below a directory.
#[derive(Default)]
pub(super) struct Walk {
    /// The files, by path, with their status.
    pub files: Vec<(FilePath, Status)>,
    /// An error for each entry or directory that was left out because it cannot be read.
    pub left: Vec<Error>,
    /// The hidden files and directories that the walk left out.
    pub hidden: Vec<FilePath>,
}

/// Which entries a walk includes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Which {
    /// The entries that a view lists: no hidden entries and no `node_modules`.
    Listed,
    /// All entries except hidden ones.
    Visible,
    /// All entries, for deleting or renaming a directory.
    All,
}

impl Which {
    fn has(self, name: &str) -> bool {
        match self {
            Self::Listed => !is_hidden(name) && name != "node_modules",
            Self::Visible => !is_hidden(name),
            Self::All => true,
        }
    }
}

impl Walk {
    /// Finds the files below a directory. Leaves out each directory that cannot be read and each
    /// entry that is neither file nor directory, and keeps its error in `left`.
    ///
    /// # Errors
    ///
    /// An error that concerns more than one entry, or the directory `/memories` itself.
    pub fn new(files: &Files<'_>, directory: &FilePath, which: Which) -> Result<Self, Error> {
        let mut walk = Self::default();
        walk.go(files, directory, which)?;
        Ok(walk)
    }

    fn go(&mut self, files: &Files<'_>, directory: &FilePath, which: Which) -> Result<(), Error> {
        let entries = match files.entries(directory) {
            Err(ReadError::Unusable(error)) if !directory.is_root() => {
                self.left.push(error);
                return Ok(());
            }
            entries => entries?.unwrap_or_default(),
        };
        for (name, status) in entries {
            if !which.has(&name) {
                if is_hidden(&name) {
                    self.hidden.push(directory.child(&name));
                }
                continue;
            }
            match (status.kind, directory.listed(&name)) {
                (EntryKind::File, Some(path)) => self.files.push((path, status)),
                (EntryKind::Directory, Some(path)) => self.go(files, &path, which)?,
                _ => self.left.push(Error::not_a_file(&directory.child(&name))),
            }
        }
        Ok(())
    }

    /// Returns the files, or the first error if an entry was left out.
    pub fn all(self) -> Result<Vec<(FilePath, Status)>, Error> {
        match self.left.into_iter().next() {
            Some(error) => Err(error),
            None => Ok(self.files),
        }
    }
}
