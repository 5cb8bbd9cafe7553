//! Stores with many memories.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;

use tempfile::TempDir;

use super::pages::{Indexes, STORE, Shape, category};
use crate::contestants::path_text;

/// A directory with a store, and the registry that lists it.
pub struct Filled {
    /// Removed with the last contestant that uses it.
    pub directory: Rc<TempDir>,
    pub indexes: Indexes,
}

impl Filled {
    pub fn new(within: &Path, shape: Shape) -> io::Result<Self> {
        let directory = Rc::new(tempfile::Builder::new().prefix("bench-").tempdir_in(within)?);
        let store = store(&directory);
        for number in 0..shape.categories {
            fs::create_dir_all(store.join(category(number)))?;
        }
        let mut indexes = Indexes::default();
        for page in (0..shape.all()).map(|number| shape.page(number)) {
            indexes.add(&page);
            let (path, text) = page.file();
            fs::write(store.join(path), text)?;
        }
        for number in 0..shape.categories {
            let (path, text) = indexes.of(&category(number));
            fs::write(store.join(path), text)?;
        }
        let (path, text) = indexes.of_root();
        fs::write(store.join(path), text)?;
        let path = path_text(&store)?;
        let entry =
            format!("  {STORE}:\n    kind: filesystem\n    properties:\n      path: {path}\n");
        fs::write(registry(&directory), format!("stores:\n{entry}"))?;
        // Write everything now, so that the disk is idle when the measurement begins.
        Command::new("sync").arg("-f").arg(directory.path()).status()?;
        Ok(Self { directory, indexes })
    }
}

pub fn store(directory: &TempDir) -> PathBuf {
    directory.path().join(STORE)
}

pub fn registry(directory: &TempDir) -> PathBuf {
    directory.path().join("stores.yaml")
}
