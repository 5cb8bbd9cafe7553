//! The process that holds a lock file.

use std::path::Path;

/// The id of the process that holds a lock file. `None` if none does, and on Windows, which does not tell.
///
/// This opens and closes the file, which drops the locks that this process has on it. So only a process
/// that takes no lock may call it.
#[cfg(unix)]
pub fn holder(lock_file: &Path) -> Option<i32> {
    use rustix::process::{Flock, FlockOffsetType, FlockType, fcntl_getlk};

    /// The byte on which SQLite has the lock of a writer (its `RESERVED_BYTE`).
    const RESERVED: u64 = 0x4000_0001;
    let file = std::fs::File::open(lock_file).ok()?;
    let mut wanted = Flock::from(FlockType::WriteLock);
    (wanted.start, wanted.length) = (RESERVED, 1);
    wanted.offset_type = FlockOffsetType::Set;
    let held = fcntl_getlk(&file, &wanted).ok()??;
    Some(held.pid?.as_raw_pid())
}

/// Always `None`, because this system does not tell who holds a lock.
#[cfg(not(unix))]
pub fn holder(_: &Path) -> Option<i32> {
    None
}
