//! The least work for a program that stores all memories in one JSON file: it reads or replaces the
//! file.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::PathBuf;
use std::process;

use super::memories::Filled;
use crate::comparison::{Contestant, Cost};

/// Reads the whole file and parses it.
pub struct Parse(DurableCopy);

/// Replaces the file by a durable copy.
pub struct DurableCopy {
    file: PathBuf,
    calls: usize,
    _filled: Filled,
}

impl DurableCopy {
    pub fn new(filled: Filled, calls: usize) -> Self {
        Self { file: filled.directory.path().join("default.json"), calls, _filled: filled }
    }
}

impl Parse {
    pub fn new(filled: Filled, calls: usize) -> Self {
        Self(DurableCopy::new(filled, calls))
    }
}

impl Contestant for Parse {
    fn name(&self) -> &str {
        "bare read and parse"
    }

    fn take_turn(&mut self) -> io::Result<Cost> {
        let DurableCopy { file, calls, .. } = &self.0;
        Cost::between(process::id(), *calls, || {
            for _ in 0..*calls {
                let parsed: serde_json::Value = serde_json::from_slice(&fs::read(file)?)?;
                std::hint::black_box(parsed);
            }
            Ok(())
        })
    }
}

impl Contestant for DurableCopy {
    fn name(&self) -> &str {
        "bare durable copy"
    }

    fn take_turn(&mut self) -> io::Result<Cost> {
        Cost::between(process::id(), self.calls, || {
            for _ in 0..self.calls {
                let contents = fs::read(&self.file)?;
                let temporary = self.file.with_extension("tmp");
                let mut file = File::create_new(&temporary)?;
                file.write_all(&contents)?;
                file.sync_data()?;
                fs::rename(&temporary, &self.file)?;
                File::open(self.file.parent().expect("a file is in a directory"))?.sync_all()?;
            }
            Ok(())
        })
    }
}
