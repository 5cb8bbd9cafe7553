//! The bare file operations of the calls: the writes of an add, and the reads of a list.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::rc::Rc;

use tempfile::TempDir;

use super::filled::{Filled, store};
use super::pages::{Page, Shape};
use crate::comparison::{Contestant, Cost};

/// Writes the files of an add durably: the memory, the index of its category and that of the root.
pub struct BareAdd {
    filled: Filled,
    shape: Shape,
    /// The numbers of the next turn's memories.
    next: std::ops::Range<usize>,
    /// The files of each add, prepared before the measurement.
    adds: Vec<[(PathBuf, String); 3]>,
}

impl BareAdd {
    pub fn new(filled: Filled, shape: Shape, next: std::ops::Range<usize>) -> Self {
        Self { filled, shape, next, adds: Vec::new() }
    }

    #[cfg(test)]
    pub fn directory(&self) -> &TempDir {
        &self.filled.directory
    }

    fn files(&mut self, page: &Page) -> [(PathBuf, String); 3] {
        let store = store(&self.filled.directory);
        let indexes = &mut self.filled.indexes;
        indexes.add(page);
        let files = [page.file(), indexes.of(&page.category), indexes.of_root()];
        files.map(|(path, text)| (store.join(path), text))
    }
}

impl Contestant for BareAdd {
    fn name(&self) -> &str {
        "bare writes"
    }

    fn prepare(&mut self) -> io::Result<()> {
        let shape = self.shape;
        let pages = self.next.clone().map(|number| shape.page(number));
        self.adds = pages.map(|page| self.files(&page)).collect();
        self.next = self.next.end..self.next.end + self.next.len();
        Ok(())
    }

    fn take_turn(&mut self) -> io::Result<Cost> {
        Cost::between(process::id(), self.adds.len(), || self.adds.iter().try_for_each(write))
    }
}

/// Replaces three files durably, and syncs their two directories.
fn write(files: &[(PathBuf, String); 3]) -> io::Result<()> {
    for (path, text) in files {
        let temporary = path.with_extension("tmp");
        let mut file = File::create_new(&temporary)?;
        file.write_all(text.as_bytes())?;
        file.sync_data()?;
        fs::rename(&temporary, path)?;
    }
    let directory = |path: &Path| File::open(path.parent().expect("a file has one"))?.sync_all();
    directory(&files[1].0)?;
    directory(&files[2].0)
}

/// Lists directories and reads files.
pub struct BareReads {
    directories: Vec<PathBuf>,
    files: Vec<PathBuf>,
    calls: usize,
    _directory: Rc<TempDir>,
}

impl BareReads {
    /// Reads of these paths in a store. A turn repeats them `calls` times.
    pub fn new(filled: &Filled, directories: &[String], files: &[String], calls: usize) -> Self {
        let store = store(&filled.directory);
        let in_store = |paths: &[String]| paths.iter().map(|path| store.join(path)).collect();
        Self {
            directories: in_store(directories),
            files: in_store(files),
            calls,
            _directory: filled.directory.clone(),
        }
    }
}

impl Contestant for BareReads {
    fn name(&self) -> &str {
        "bare reads"
    }

    fn take_turn(&mut self) -> io::Result<Cost> {
        Cost::between(process::id(), self.calls, || {
            for _ in 0..self.calls {
                for directory in &self.directories {
                    fs::read_dir(directory)?.try_for_each(|entry| entry.map(drop))?;
                }
                for file in &self.files {
                    std::hint::black_box(fs::read(file)?);
                }
            }
            Ok(())
        })
    }
}
