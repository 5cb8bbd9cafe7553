//! Finding all files below a directory.

use super::error::Error;
use super::path::{FilePath, is_hidden};
use super::tree::Files;
use crate::error::ReadError;
use crate::storage::{EntryKind, Status};

/// The files below a directory.
#[derive(Default)]
pub(super) struct Walk {
    /// By path.
    pub files: Vec<(FilePath, Status)>,
    /// Why some entries or directories are left out.
    pub left: Vec<Error>,
    /// The hidden files and directories that are left out.
    pub hidden: Vec<FilePath>,
}

/// The entries that a walk looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Which {
    /// Those that a view lists: no hidden ones and no `node_modules`.
    Listed,
    /// All but the hidden ones.
    Visible,
    /// All, as of a directory that is deleted or renamed.
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
    /// Finds the files below a directory. A directory that cannot be read and an entry that is neither
    /// file nor directory are left out, each with its reason.
    ///
    /// # Errors
    ///
    /// Those that do not concern one entry alone.
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

    /// The files, if none is left out.
    pub fn all(self) -> Result<Vec<(FilePath, Status)>, Error> {
        match self.left.into_iter().next() {
            Some(error) => Err(error),
            None => Ok(self.files),
        }
    }
}
