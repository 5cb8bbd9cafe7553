//! Databases with many episodes.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use tempfile::TempDir;

use super::episodes::Episode;
use super::{engine, product};

/// The largest number of episodes with which a database is copied for each contestant.
const MOST_COPIED: usize = 100_000;

/// A directory with the same episodes in the product's database and in that of a plain program.
#[derive(Clone)]
pub struct Filled {
    /// Removed with the last contestant that uses it.
    pub directory: Rc<TempDir>,
    within: PathBuf,
    episodes: usize,
}

impl Filled {
    /// Fills both databases. The product's index has all episodes but the last few, which it adds in
    /// batches.
    pub fn new(within: &Path, episodes: usize) -> io::Result<Self> {
        let directory = Rc::new(empty(within)?);
        product::fill(directory.path(), episodes)?;
        let all = (0..episodes).map(Episode::new);
        engine::fill(directory.path(), all).map_err(io::Error::other)?;
        Ok(Self { directory, within: within.to_owned(), episodes })
    }

    /// A copy of the directory. A directory that is too large to copy is shared: a few more episodes
    /// make no difference there.
    pub fn copy(&self) -> io::Result<Self> {
        if self.episodes > MOST_COPIED {
            return Ok(self.clone());
        }
        let directory = Rc::new(empty(&self.within)?);
        for name in [product::DATABASE, engine::DATABASE] {
            let to = directory.path().join(name);
            fs::copy(self.directory.path().join(name), &to)?;
            File::open(to)?.sync_all()?;
        }
        Ok(Self { directory, ..self.clone() })
    }
}

fn empty(within: &Path) -> io::Result<TempDir> {
    tempfile::Builder::new().prefix("bench-layers-").tempdir_in(within)
}
