//! The one lock of a place, across threads, processes and hosts.
//!
//! Within a storage, a wait queue serves first who came first. Between processes, there are two
//! empty SQLite files in the lock directory, never written, each held by `BEGIN IMMEDIATE`:
//! `turn.sqlite` is the lock; `queue.sqlite` is held while waiting for it, so that a writer that
//! takes the lock again at once does not overtake all others. SQLite's own busy handler is unfair,
//! so both are polled.
//!
//! SQLite locks a file with POSIX locks, which a process loses when it closes *any* handle on that
//! file. Therefore nothing but SQLite ever opens these two.

use super::change::{Change, CommitError};
use super::commit;
use super::directory::{Directory, Metadata};
use super::lock_file::{LockFile, cannot_write, connect, lock_error, take};
use super::timeout::LockTimeout;
use super::tree::{Base, EntryKind, Tree, obstacle};
use super::{Durability, Error, ErrorCode, Shared};
use crate::queue::{self, Queue};
use rustix::io::Errno;
use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

const QUEUE: &str = "queue.sqlite";
const LOCK: &str = "turn.sqlite";

const QUEUE_POLL: Duration = Duration::from_millis(2);
const LOCK_POLL: Duration = Duration::from_millis(1);

/// The wait queues of a storage, by their lock directories.
#[derive(Debug, Default)]
pub(super) struct WaitQueues(Mutex<HashMap<PathBuf, Queue>>);

impl WaitQueues {
    fn join(&self, lock: &Path) -> queue::Place {
        let mut queues = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        queues.retain(|_, queue| !queue.is_empty());
        queues.entry(lock.to_owned()).or_insert_with(|| Queue::new(1)).join()
    }
}

impl Tree {
    /// Takes the last place in the queue for the place's lock, now, and waits for the lock when polled.
    ///
    /// Dropping the future gives up the wait, and whatever it held, at once. First come, first
    /// served among those who ask this storage or a clone of it; between processes nobody is
    /// starved.
    ///
    /// # Errors
    ///
    /// `busy` where the timeout passes; `read-only` where the lock cannot be written; `no-space`;
    /// `invalid-path` where something else stands in place of its files; `io`.
    ///
    /// # Panics
    ///
    /// When polled outside a tokio runtime with time.
    pub fn lock(
        &self,
        timeout: LockTimeout,
    ) -> impl Future<Output = Result<Writer, Error>> + Send + use<> {
        let locked = self.0.lock.acquire(&self.0.storage, timeout);
        let tree = self.clone();
        async move { Ok(Writer { tree, lock: Arc::new(locked.await?) }) }
    }
}

/// Where the two files of a lock are.
#[derive(Debug)]
pub(super) struct LockDirectory {
    /// It need not exist yet.
    pub base: Base,
    /// Its canonical path: who has the same one shares the lock.
    pub path: PathBuf,
    /// Whether it hides itself from Git.
    pub hide: bool,
    /// Whether it is for its owner alone.
    pub private: bool,
}

impl LockDirectory {
    /// As [`Tree::lock`].
    pub fn acquire(
        self: &Arc<Self>,
        storage: &Arc<Shared>,
        timeout: LockTimeout,
    ) -> impl Future<Output = Result<Lock, Error>> + Send + use<> {
        let place = storage.wait_queues.join(&self.path);
        let (directory, storage) = (self.clone(), storage.clone());
        async move {
            timeout.within(place.served()).await?;
            let (file, at_the_head) = directory.take_files(&storage, timeout).await?;
            Ok(Lock { file: Mutex::new(file), at_the_head, _place: place })
        }
    }

    /// Takes the file that is the lock; until when the head of the queue waits comes along.
    async fn take_files(
        self: &Arc<Self>,
        storage: &Arc<Shared>,
        timeout: LockTimeout,
    ) -> Result<(LockFile, Instant), Error> {
        loop {
            let (mut queue, mut lock) = match self.idle(storage) {
                Some(files) => files,
                None => {
                    let (directory, storage) = (self.clone(), storage.clone());
                    let opened = tokio::task::spawn_blocking(move || directory.open(&storage));
                    // A runtime may have no thread left for it.
                    let opened = timeout.within(opened).await?;
                    opened
                        .map_err(|_| Error::new(ErrorCode::Cancelled, "the host is closing"))??
                }
            };
            // Where nobody waits, nobody is overtaken, but for one that comes to wait just now or
            // that is between two polls of the queue: it meets the next one there.
            if queue.is_free() && lock.try_take()? && lock.is_in_place() {
                return Ok((lock, timeout.at_the_head()));
            }
            lock.let_go();
            if !take(&mut queue, QUEUE_POLL, timeout.deadline()).await? {
                return Err(timeout.passed());
            }
            let at_the_head = timeout.at_the_head();
            if !take(&mut lock, LOCK_POLL, at_the_head).await? {
                return Err(timeout.passed());
            }
            if lock.is_in_place() {
                return Ok((lock, at_the_head));
            }
            // The directory was removed, and perhaps made anew, meanwhile.
            if Instant::now() >= timeout.deadline() {
                return Err(timeout.passed());
            }
        }
    }

    /// Both files, where they are open already.
    fn idle(&self, storage: &Arc<Shared>) -> Option<(LockFile, LockFile)> {
        Some((self.idle_file(storage, QUEUE)?, self.idle_file(storage, LOCK)?))
    }

    fn idle_file(&self, storage: &Arc<Shared>, name: &str) -> Option<LockFile> {
        let path = self.path.join(name);
        let connection = storage.connections.take(&path)?;
        Some(LockFile { storage: storage.clone(), path, connection: Some(connection) })
    }

    /// Opens both files, and makes what is missing.
    fn open(&self, storage: &Arc<Shared>) -> Result<(LockFile, LockFile), Error> {
        let failed = |errno| match errno {
            Errno::ACCESS | Errno::PERM | Errno::ROFS => cannot_write(Error::from_errno(errno, "")),
            errno => obstacle(errno, &[self.base.way.last().map_or("", String::as_str)]),
        };
        let durable = storage.options.durability == Durability::Full;
        let directory = self.make(durable).map_err(failed)?;
        let open = |file| self.open_file(storage, &directory, file, failed);
        Ok((open(QUEUE)?, open(LOCK)?))
    }

    /// The directory itself, hidden from Git; makes what is missing.
    pub fn make(&self, durable: bool) -> Result<Directory, Errno> {
        let directory = self.base.make(self.private, durable)?;
        // Whatever else a person put there is theirs.
        let is_empty = |found: Metadata| found.kind == EntryKind::File && found.size == 0;
        if self.hide && directory.metadata(".gitignore")?.is_none_or(is_empty) {
            let mut file = directory.overwrite_file(".gitignore", 0o666)?;
            file.write_all(b"*\n")
                .map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
        }
        Ok(directory)
    }

    fn open_file(
        &self,
        storage: &Arc<Shared>,
        directory: &Directory,
        file: &str,
        failed: impl Fn(Errno) -> Error,
    ) -> Result<LockFile, Error> {
        if let Some(idle) = self.idle_file(storage, file) {
            return Ok(idle);
        }
        let path = self.path.join(file);
        let before = directory.metadata(file).map_err(&failed)?;
        if before.is_some_and(|found| found.kind != EntryKind::File) {
            return Err(Error::new(
                ErrorCode::InvalidPath,
                format!(
                    "something other than a file stands in place of the lock's `{file}`: remove it"
                ),
            ));
        }
        // SQLite does not say why it cannot open a file.
        let may_use = || {
            if before.is_some() {
                directory.may_use(file)?;
            }
            directory.writable()
        };
        let connection = connect(&path).map_err(|error| match may_use() {
            Err(errno) => failed(errno),
            Ok(()) => lock_error(&error),
        })?;
        // SQLite falls back to reading what it may not write, and `BEGIN IMMEDIATE` then succeeds
        // without a lock.
        if connection.is_readonly("main").map_err(|error| lock_error(&error))? {
            return Err(failed(directory.writable().err().unwrap_or(Errno::ACCESS)));
        }
        if before.is_none() {
            // SQLite's own choice shuts out a group that may use the directory.
            let mode = if self.private {
                Some(0o600)
            } else {
                directory.metadata(".").ok().flatten().map(|found| found.mode & 0o666)
            };
            let _ = mode.map(|mode| directory.set_file_mode(file, mode));
        }
        Ok(LockFile { storage: storage.clone(), path, connection: Some(connection) })
    }
}

/// A lock that is held until this is dropped or the process dies. A writer and a transaction of one
/// call share it.
#[derive(Debug)]
pub(super) struct Lock {
    // Dropped before the place in the queue is: the next one in the process finds the file free.
    file: Mutex<LockFile>,
    /// Until when the head of the queue waits for what else it needs.
    pub at_the_head: Instant,
    _place: queue::Place,
}

/// The right to change one tree: its place is locked until this is dropped or the process dies, and
/// until the transaction has ended that [was begun](super::Database::begin) under it.
///
/// Share it (`Arc`) with the thread that runs a commit, and the lock stays held until that commit
/// has returned, even if nobody waits for it any more.
#[derive(Debug)]
pub struct Writer {
    tree: Tree,
    pub(super) lock: Arc<Lock>,
}

impl Writer {
    /// Makes the changes in their order, and returns for each the version of the document that it
    /// leaves; none for one deleted.
    ///
    /// With [`Durability::Full`], one changed document in a directory that exists costs one sync of
    /// a file and one of a directory.
    ///
    /// # Errors
    ///
    /// `version-mismatch`, also where splices do not fit; `already-exists` where something stands
    /// at the new path of a rename; `too-large` beyond
    /// [`MAX_DOCUMENT_BYTES`](super::MAX_DOCUMENT_BYTES) a document, before an edit or a copy too,
    /// or [`MAX_CHANGES`](super::MAX_CHANGES); `invalid-path`, also where a path is changed twice,
    /// or one below another; `no-space`, `read-only`, `permission`, `io`. Unless a rename, a
    /// deletion or the sync of a directory failed, nothing was changed and nothing is left behind.
    pub fn commit(&self, changes: &[Change]) -> Result<Vec<Option<String>>, CommitError> {
        let lock = self.lock.file.lock().unwrap_or_else(PoisonError::into_inner);
        commit::commit(&self.tree, changes, &|| lock.is_in_place())
    }

    /// The lock directory, as [`Tree::lock_key`].
    pub fn lock_key(&self) -> &Path {
        self.tree.lock_key()
    }

    /// Remembers long documents that were just written, so that their version is found by comparing
    /// and not by hashing (`kept.rs`).
    pub(crate) fn keep(&self, changes: Vec<Change>, versions: &[Option<String>]) {
        self.tree.0.storage.kept.keep_put(changes, versions);
    }
}
