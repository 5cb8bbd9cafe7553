//! A lock, across threads, processes and hosts: that of a tree, or the turn of a database's writers.
//!
//! Two empty SQLite files in the lock directory, never written, each held by `BEGIN IMMEDIATE`:
//! `turn.sqlite` is the lock; `queue.sqlite` is a turnstile, held while waiting for the turn, so
//! that one who takes the lock again at once does not overtake all others. SQLite's own busy
//! handler is unfair, so both are polled.
//!
//! SQLite locks a file with POSIX locks, which a process loses when it closes *any* handle on that
//! file. Therefore nothing but SQLite ever opens these two.

use super::change::{Change, CommitError};
use super::commit;
use super::directory::{Directory, Kind, Stamp};
use super::lock_file::{LockFile, cannot_write, connect, lock_error, take};
use super::lock_queue::Ticket;
use super::patience::Patience;
use super::tree::{Base, Tree, obstacle};
use super::{Durability, Error, ErrorCode, Shared};
use rustix::io::Errno;
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

const QUEUE: &str = "queue.sqlite";
const TURN: &str = "turn.sqlite";

const TURNSTILE_POLL: Duration = Duration::from_millis(2);
const TURN_POLL: Duration = Duration::from_millis(1);

impl Tree {
    /// Takes a place in the queue for the tree's lock, now, and waits for the lock when polled.
    ///
    /// Dropping the future gives up the wait, and whatever it held, at once. First come, first
    /// served among those who ask this storage or a clone of it; between processes nobody is
    /// starved.
    ///
    /// # Errors
    ///
    /// `busy` where the patience ends; `read-only` where the lock cannot be written; `no-space`;
    /// `invalid-path` where something else stands in place of its files; `io`.
    ///
    /// # Panics
    ///
    /// When polled outside a tokio runtime with time.
    pub fn lock(
        &self,
        patience: Patience,
    ) -> impl Future<Output = Result<Writer, Error>> + Send + use<> {
        let locked = self.0.lock.acquire(&self.0.storage, patience, None);
        let tree = self.clone();
        async move { Ok(Writer { tree, lock: locked.await? }) }
    }
}

/// Where the two files of a lock are. It holds no storage: a storage keeps some of these.
#[derive(Debug)]
pub(super) struct LockDirectory {
    /// It need not exist yet.
    pub base: Base,
    /// Its canonical path: who has the same one shares the lock.
    pub path: PathBuf,
    /// Another lock, which some calls take before this one: that of a records tree, for the
    /// database's. A call that wants this one alone waits for the earlier calls of its storage that
    /// hold or want that one, since they may want this one next and must not be overtaken.
    pub after: Option<PathBuf>,
    /// Whether it hides itself from Git.
    pub hide: bool,
    /// Whether it is for its owner alone.
    pub private: bool,
}

impl LockDirectory {
    /// As [`Tree::lock`]. A call that has another lock (`held`) keeps the ticket of that one, and
    /// with it its place in the queue.
    pub fn acquire(
        self: &Arc<Self>,
        storage: &Arc<Shared>,
        patience: Patience,
        held: Option<&Lock>,
    ) -> impl Future<Output = Result<Lock, Error>> + Send + use<> {
        let (path, after) = (self.path.clone(), self.after.clone());
        let ticket = match held {
            None => Arc::new(storage.lock_queue.join(path, after)),
            Some(held) => {
                held.ticket.want(path, after);
                held.ticket.clone()
            }
        };
        let (directory, storage) = (self.clone(), storage.clone());
        async move {
            patience.within(ticket.until_next()).await?;
            let (turn, at_the_head) = directory.take_files(&storage, patience).await?;
            Ok(Lock { turn: Mutex::new(turn), at_the_head, ticket })
        }
    }

    /// Passes the turnstile and takes the turn; until when the head of the queue waits comes along.
    async fn take_files(
        self: &Arc<Self>,
        storage: &Arc<Shared>,
        patience: Patience,
    ) -> Result<(LockFile, Instant), Error> {
        loop {
            let (mut turnstile, mut turn) = match self.idle(storage) {
                Some(files) => files,
                None => {
                    let (directory, storage) = (self.clone(), storage.clone());
                    let opened = tokio::task::spawn_blocking(move || directory.open(&storage));
                    // A runtime may have no thread left for it.
                    let opened = patience.within(opened).await?;
                    opened
                        .map_err(|_| Error::new(ErrorCode::Cancelled, "the host is closing"))??
                }
            };
            let head = || (Instant::now() + patience.lock_wait()).min(patience.deadline());
            // Where nobody waits, nobody is overtaken, but for one that comes to wait just now or
            // that is between two polls of the turnstile: it meets the next one there.
            if turnstile.is_free() && turn.try_take()? && turn.is_in_place() {
                return Ok((turn, head()));
            }
            turn.let_go();
            if !take(&mut turnstile, TURNSTILE_POLL, patience.deadline()).await? {
                return Err(patience.exhausted());
            }
            let at_the_head = head();
            if !take(&mut turn, TURN_POLL, at_the_head).await? {
                return Err(patience.exhausted());
            }
            if turn.is_in_place() {
                return Ok((turn, at_the_head));
            }
            // The directory was removed, and perhaps made anew, meanwhile.
            if Instant::now() >= patience.deadline() {
                return Err(patience.exhausted());
            }
        }
    }

    /// Both files, where they are open already.
    fn idle(&self, storage: &Arc<Shared>) -> Option<(LockFile, LockFile)> {
        Some((self.idle_file(storage, QUEUE)?, self.idle_file(storage, TURN)?))
    }

    fn idle_file(&self, storage: &Arc<Shared>, name: &str) -> Option<LockFile> {
        let path = self.path.join(name);
        let connection = storage.connections.take(&path)?;
        Some(LockFile { storage: storage.clone(), path, connection: Some(connection) })
    }

    /// Opens the turnstile and the turn, and makes what is missing.
    fn open(&self, storage: &Arc<Shared>) -> Result<(LockFile, LockFile), Error> {
        let name = self.base.way.last().map_or("", String::as_str);
        let failed = |errno| match errno {
            Errno::ACCESS | Errno::PERM | Errno::ROFS => cannot_write(Error::from_errno(errno, "")),
            errno => obstacle(errno, &[name]),
        };
        let durable = storage.options.durability == Durability::Full;
        let directory = self.base.make(self.private, durable).map_err(failed)?;
        // Whatever else a person put there is theirs.
        let is_empty = |found: Stamp| found.kind == Kind::File && found.size == 0;
        if self.hide && directory.stamp(".gitignore").map_err(failed)?.is_none_or(is_empty) {
            let mut file = directory.overwrite_file(".gitignore", 0o666).map_err(failed)?;
            file.write_all(b"*\n")
                .map_err(|error| Error::from_io(&error, "write `.gitignore` beside the lock"))?;
        }
        let open = |file| self.open_file(storage, &directory, file, failed);
        Ok((open(QUEUE)?, open(TURN)?))
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
        let before = directory.stamp(file).map_err(&failed)?;
        if before.is_some_and(|stamp| stamp.kind != Kind::File) {
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
                directory.stamp(".").ok().flatten().map(|stamp| stamp.mode & 0o666)
            };
            let _ = mode.map(|mode| directory.set_file_mode(file, mode));
        }
        Ok(LockFile { storage: storage.clone(), path, connection: Some(connection) })
    }
}

/// A lock that is held until this is dropped or the process dies.
#[derive(Debug)]
pub(super) struct Lock {
    // Dropped before the ticket is: the next one in the process finds the turn free.
    turn: Mutex<LockFile>,
    /// Until when the head of the queue waits for what else it needs.
    pub at_the_head: Instant,
    ticket: Arc<Ticket>,
}

/// The right to change one tree: its lock is held until this is dropped or the process dies.
///
/// Share it (`Arc`) with the thread that runs a commit, and the lock stays held until that commit
/// has returned, even if nobody waits for it any more.
#[derive(Debug)]
pub struct Writer {
    tree: Tree,
    pub(super) lock: Lock,
}

impl Writer {
    /// Makes the changes in their order, and returns the version of each document put, edited
    /// or copied and an empty string for each one deleted.
    ///
    /// With [`Durability::Full`], one changed document in a directory that exists costs one sync of
    /// a file and one of a directory.
    ///
    /// # Errors
    ///
    /// `version-mismatch`, also where splices do not fit; `too-large` beyond
    /// [`MAX_DOCUMENT_BYTES`](super::MAX_DOCUMENT_BYTES) a document, before an edit or a copy too,
    /// or [`MAX_CHANGES`](super::MAX_CHANGES); `invalid-path`, also where a path is written twice,
    /// or one below another; `no-space`, `read-only`, `permission`, `io`. Unless a rename, a
    /// deletion or the sync of a directory failed, nothing was changed and nothing is left behind.
    pub fn commit(&self, changes: &[Change]) -> Result<Vec<String>, CommitError> {
        let turn = self.lock.turn.lock().unwrap_or_else(PoisonError::into_inner);
        commit::commit(&self.tree, changes, &|| turn.is_in_place())
    }

    /// Remembers long documents that were just written, so that their version is found by comparing
    /// and not by hashing (`kept.rs`).
    pub(crate) fn keep(&self, changes: Vec<Change>, versions: &[String]) {
        self.tree.0.storage.kept.keep_put(changes, versions);
    }
}
