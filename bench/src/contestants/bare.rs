//! The file operations of a careful program, without anything else.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process;

use super::{Core, Disk};
use crate::comparison::{Contestant, Cost};
use crate::work::{AGENT, ENTRY, NEXT_SECTION, NOWHERE, tree};

/// Reads the summary's file.
pub struct BareRead {
    disk: Disk,
    summary: PathBuf,
}

impl BareRead {
    pub const NAME: &str = "bare read of the file";

    pub fn new(disk: Disk) -> Self {
        let summary = tree(disk.repository.path()).join(AGENT).join("_summary.md");
        Self { disk, summary }
    }
}

impl Contestant for BareRead {
    fn name(&self) -> &str {
        Self::NAME
    }

    fn prepare(&mut self) -> io::Result<()> {
        self.disk.put_back()
    }

    fn take_turn(&mut self) -> io::Result<Cost> {
        let calls = self.disk.calls.arguments.len();
        Cost::between(process::id(), calls, || {
            for _ in 0..calls {
                std::hint::black_box(fs::read_to_string(&self.summary)?);
            }
            Ok(())
        })
    }
}

/// Adds an entry by replacing the log durably. It has no lock, no schema and no checks.
pub struct BareAppend {
    disk: Disk,
    logs: Vec<PathBuf>,
}

impl BareAppend {
    pub const NAME: &str = "bare durable replace";

    pub fn new(disk: Disk) -> Self {
        let logs = disk.work.logs(disk.repository.path());
        Self { disk, logs }
    }
}

impl Contestant for BareAppend {
    fn name(&self) -> &str {
        Self::NAME
    }

    fn prepare(&mut self) -> io::Result<()> {
        self.disk.put_back()
    }

    fn take_turn(&mut self) -> io::Result<Cost> {
        Cost::between(process::id(), self.logs.len(), || {
            self.logs.iter().try_for_each(|log| replace(log))
        })
    }
}

/// The native core with storage in memory, followed by the bare replace: roughly a host that costs
/// nothing itself.
pub struct CoreThenBare {
    core: Core,
    bare: BareAppend,
}

impl CoreThenBare {
    pub const NAME: &str = "the core, then that";

    pub fn new(disk: Disk) -> Self {
        let calls = disk.work.appends(NOWHERE);
        Self { core: Core::new(disk.work.clone(), &calls), bare: BareAppend::new(disk) }
    }
}

impl Contestant for CoreThenBare {
    fn name(&self) -> &str {
        Self::NAME
    }

    fn prepare(&mut self) -> io::Result<()> {
        self.core.prepare()?;
        self.bare.prepare()
    }

    fn take_turn(&mut self) -> io::Result<Cost> {
        Cost::between(process::id(), self.bare.logs.len(), || {
            self.core.take_turn()?;
            self.bare.take_turn().map(drop)
        })
    }
}

fn replace(log: &Path) -> io::Result<()> {
    let text = fs::read_to_string(log)?;
    let after = with_entry(&text).ok_or_else(|| io::Error::other("the log lacks a section"))?;
    let temporary = log.with_extension("tmp");
    let mut file = File::create_new(&temporary)?;
    file.write_all(after.as_bytes())?;
    file.sync_data()?;
    drop(file);
    fs::rename(&temporary, log)?;
    File::open(log.parent().expect("a log is in a directory"))?.sync_all()
}

fn with_entry(text: &str) -> Option<String> {
    let (before, after) = text.split_at(text.find(&format!("\n## {NEXT_SECTION}\n"))?);
    Some(format!("{before}\n{ENTRY}\n{after}"))
}
