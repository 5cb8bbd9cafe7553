//! Requests for the lock of a place.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use agent_memory_storage::{EntryKind, Error, ErrorCode};
use agent_memory_storage_files::{
    Directory, Errno, Layout, errno_error, lock_directory_error, owner,
};

use super::lock_file::{IdleLocks, LockFile, cannot_write, connect, lock_error};

const QUEUE: &str = "queue.sqlite";
const LOCK: &str = owner::LOCK_FILE;

/// The files of a lock directory, which are empty.
pub const FILES: [&str; 2] = [QUEUE, LOCK];

/// A request for the lock of a place. It never waits: its caller decides how often and how long to
/// ask. Dropping it releases everything that it holds.
#[derive(Debug)]
pub struct Request {
    queue: LockFile,
    lock: LockFile,
    state: State,
    /// The location of the place, for messages.
    location: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    New,
    Queued,
    AtHead,
}

/// The progress of a request.
#[derive(Debug)]
pub enum Progress {
    /// The request got the lock.
    Locked(PlaceLock),
    /// Another writer is at the head of the wait queue.
    Queued(Request),
    /// The request is at the head of the wait queue, but another writer holds the lock.
    AtHead(Request),
    /// The lock directory was removed or replaced. The caller must make a new request.
    Removed,
}

impl Request {
    /// A request with lock files that are open already, without access to the file system. `None`
    /// unless both files are open.
    pub fn reopen(layout: &Layout, idle: &Arc<IdleLocks>) -> Option<Self> {
        let queue = idle_file(layout, idle, QUEUE)?;
        let lock = idle_file(layout, idle, LOCK)?;
        let location = layout.location().to_owned();
        Some(Request { queue, lock, state: State::New, location })
    }

    /// Makes a request. Opens both files, and creates missing files and directories.
    ///
    /// # Errors
    ///
    /// `read-only` if the lock cannot be written, or if plugins own the place; `no-space`;
    /// `invalid-path` if something else exists in place of its files; `io`.
    pub fn open(layout: &Layout, idle: &Arc<IdleLocks>, durable: bool) -> Result<Self, Error> {
        let failed = |errno| match errno {
            Errno::ACCESS | Errno::PERM | Errno::ROFS => {
                cannot_write(layout.location(), errno_error(errno, "").detail)
            }
            errno => lock_directory_error(layout, errno),
        };
        let directory = layout.create_lock_directory(durable).map_err(failed)?;
        owner::check_for_hosts(layout.lock_path(), layout.location())?;
        let open = |file| open_file(layout, idle, &directory, file, failed);
        let queue = open(QUEUE)?;
        let lock = open(LOCK)?;
        Ok(Request { queue, lock, state: State::New, location: layout.location().to_owned() })
    }

    /// Asks for the lock once.
    ///
    /// # Errors
    ///
    /// Those of [`open`](Request::open).
    pub fn ask(mut self) -> Result<Progress, Error> {
        if self.state == State::New {
            // If the queue file is free, no writer is at the head of the wait queue, so this one tries
            // the lock at once. It may overtake a writer that is between two attempts to take the queue
            // file.
            if self.queue.is_free()
                && self.lock.try_take(&self.location)?
                && self.lock.is_in_place()
            {
                return self.locked();
            }
            self.lock.let_go();
            self.state = State::Queued;
        }
        if self.state == State::Queued {
            if !self.queue.try_take(&self.location)? {
                return Ok(Progress::Queued(self));
            }
            self.state = State::AtHead;
        }
        if !self.lock.try_take(&self.location)? {
            Ok(Progress::AtHead(self))
        } else if self.lock.is_in_place() {
            self.locked()
        } else {
            Ok(Progress::Removed)
        }
    }

    /// Returns the lock. Fails if plugins own the place.
    fn locked(self) -> Result<Progress, Error> {
        let directory = self.lock.path.parent().unwrap_or(Path::new("/"));
        owner::check_for_hosts(directory, &self.location)?;
        Ok(Progress::Locked(PlaceLock::new(self.lock)))
    }
}

/// The lock of a place. It is held until this is dropped or the process ends.
#[derive(Debug)]
pub struct PlaceLock(Mutex<LockFile>);

impl PlaceLock {
    fn new(file: LockFile) -> Self {
        PlaceLock(Mutex::new(file))
    }

    /// Whether the lock file is still at its path. If not, another writer may hold a new lock.
    pub fn is_in_place(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_in_place()
    }
}

fn idle_file(layout: &Layout, idle: &Arc<IdleLocks>, name: &str) -> Option<LockFile> {
    let path = layout.lock_path().join(name);
    let connection = idle.take(&path)?;
    Some(LockFile { idle: idle.clone(), path, connection: Some(connection) })
}

fn open_file(
    layout: &Layout,
    idle: &Arc<IdleLocks>,
    directory: &Directory,
    file: &str,
    failed: impl Fn(Errno) -> Error,
) -> Result<LockFile, Error> {
    if let Some(file) = idle_file(layout, idle, file) {
        return Ok(file);
    }
    let path = layout.lock_path().join(file);
    let before = directory.metadata(file).map_err(&failed)?;
    if before.is_some_and(|found| found.kind != EntryKind::File) {
        return Err(Error::new(
            ErrorCode::InvalidPath,
            format!(
                "`{}` is not a file, but the lock needs one there: move it away",
                path.display()
            ),
        ));
    }
    // SQLite does not tell why it cannot open a file, so this checks the access.
    let may_use = || {
        if before.is_some() {
            directory.may_use(file)?;
        }
        directory.writable()
    };
    let connection = connect(&path).map_err(|error| match may_use() {
        Err(errno) => failed(errno),
        Ok(()) => lock_error(layout.location(), &error),
    })?;
    // SQLite opens a file read-only if it may not write it. `BEGIN IMMEDIATE` would then succeed
    // without a lock.
    if connection.is_readonly("main").map_err(|error| lock_error(layout.location(), &error))? {
        return Err(failed(directory.writable().err().unwrap_or(Errno::ACCESS)));
    }
    if before.is_none() {
        // With the mode that SQLite gives new files, a group that may use the directory could not write
        // this file.
        let mode = if layout.is_private() {
            Some(0o600)
        } else {
            directory.metadata(".").ok().flatten().map(|found| found.mode & 0o666)
        };
        let _ = mode.map(|mode| directory.set_file_mode(file, mode));
    }
    Ok(LockFile { idle: idle.clone(), path, connection: Some(connection) })
}
