//! Scratch directories in memory or on a disk.

use std::env;
use std::path::PathBuf;

use agent_memory_conformance::workspace::target_directory;
use rustix::fs::statfs;
use tempfile::TempDir;

/// The kind of file system of a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Medium {
    /// A file system in memory: tmpfs or ramfs.
    Memory,
    /// Any other file system.
    Disk,
}

const TMPFS: u64 = 0x0102_1994;
const RAMFS: u64 = 0x8584_58f6;

impl Medium {
    /// A scratch directory on this medium, with the magic number of its file system.
    ///
    /// # Panics
    ///
    /// If none of the usual places is on such a file system.
    pub fn directory(self) -> (TempDir, u64) {
        let places = [PathBuf::from("/dev/shm"), env::temp_dir(), target_directory()];
        let kinds = places.iter().filter_map(|place| {
            let kind = u64::from_ne_bytes(statfs(place).ok()?.f_type.to_ne_bytes());
            Some((place, kind))
        });
        let on_this = |kind: u64| {
            let is_memory = kind == TMPFS || kind == RAMFS;
            is_memory == (self == Self::Memory)
        };
        for (place, kind) in kinds.filter(|(_, kind)| on_this(*kind)) {
            if let Ok(directory) = TempDir::with_prefix_in("agent-memory-", place) {
                return (directory, kind);
            }
        }
        panic!("none of {places:?} is on {self:?}: set TMPDIR to a directory that is");
    }
}
