//! The locks of the places, who holds them, and whether plugins own a place.

use super::Finding;
use crate::AgentMemory;
use crate::cli::program::description;
use agent_memory_storage_files::{Directory, OWN, owner};
use std::path::{Path, PathBuf};

const ABOUT: &str = "lock";

/// The lock directory in a `.git`.
const IN_GIT: &str = ".git/agent-memory";

/// Call it before this process has a lock: closing a lock file drops the process's own locks on it.
pub(super) fn findings(memory: &AgentMemory, repository: Option<&Path>) -> Vec<Finding> {
    let places = description().toolsets.iter().flat_map(|toolset| &toolset.places);
    let directories = places.filter_map(|place| memory.place_directory(&place.label));
    let mut locks: Vec<PathBuf> = directories.map(|directory| directory.join(OWN)).collect();
    locks.extend(repository.map(|repository| repository.join(IN_GIT)));
    locks.extend(repository.map(|repository| repository.join(OWN)));
    locks.iter().filter(|lock| lock.is_dir()).filter_map(|lock| finding(lock)).collect()
}

fn finding(lock: &Path) -> Option<Finding> {
    let shown = lock.display();
    let directory = Directory::open(lock);
    if directory.and_then(|directory| owner::is_of_plugins(&directory)) == Ok(true) {
        let message = format!("plugins write what `{shown}` belongs to, so this program cannot");
        let advice = "`agent-memory hand-over --to hosts PATH` takes it back";
        return Some(Finding::warning(ABOUT, message).advise(advice));
    }
    let holder = holder(&lock.join(owner::LOCK_FILE))?;
    let message = format!("process {holder} holds the lock in `{shown}`");
    Some(Finding::warning(ABOUT, message).advise("a writer holds it for a moment only: look again"))
}

/// The process that holds a lock file, with its name if the system tells it.
#[cfg(unix)]
fn holder(file: &Path) -> Option<String> {
    use rustix::process::{Flock, FlockOffsetType, FlockType, fcntl_getlk};

    /// The byte on which SQLite has the lock of a writer (its `RESERVED_BYTE`).
    const RESERVED: u64 = 0x4000_0001;
    let file = std::fs::File::open(file).ok()?;
    let mut wanted = Flock::from(FlockType::WriteLock);
    (wanted.start, wanted.length) = (RESERVED, 1);
    wanted.offset_type = FlockOffsetType::Set;
    let held = fcntl_getlk(&file, &wanted).ok()??;
    let pid = held.pid?.as_raw_nonzero();
    let name = std::fs::read_to_string(format!("/proc/{pid}/comm"));
    Some(name.map_or_else(|_| pid.to_string(), |name| format!("{pid} ({})", name.trim())))
}

/// Windows does not tell who holds a lock.
#[cfg(not(unix))]
fn holder(_: &Path) -> Option<String> {
    None
}
