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
use super::line::Place;
use super::tree::{Base, Tree, obstacle};
use super::{Durability, Error, ErrorCode, MAX_LOCK_WAIT, Shared};
use rusqlite::{Connection, FileControl, OpenFlags, ffi};
use rustix::io::Errno;
use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

const QUEUE: &str = "queue.sqlite";
const TURN: &str = "turn.sqlite";

const TURNSTILE_POLL: Duration = Duration::from_millis(2);
const TURN_POLL: Duration = Duration::from_millis(1);

/// How long a writer waits in all while turns keep changing hands.
const TOTAL_WAIT: Duration = Duration::from_secs(30);

/// So many lock files stay open between uses.
const MAX_IDLE: usize = 64;

/// For how long a writer waits, counted from when it was asked for.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    asked: Instant,
    lock_wait: Duration,
}

impl Patience {
    /// Begins now: `lock_wait`, but at most [`MAX_LOCK_WAIT`], at the head of the queue, and 30
    /// seconds, or that wait where it is longer, in all.
    pub fn new(lock_wait: Duration) -> Self {
        Patience { asked: Instant::now(), lock_wait: lock_wait.min(MAX_LOCK_WAIT) }
    }

    /// When it ends, wherever in the queue.
    pub fn deadline(&self) -> Instant {
        self.asked + self.lock_wait.max(TOTAL_WAIT)
    }

    /// Waits for something else that is part of the same wait.
    ///
    /// # Errors
    ///
    /// `busy` where the patience ends first.
    pub async fn within<T>(&self, wait: impl Future<Output = T>) -> Result<T, Error> {
        tokio::time::timeout_at(self.deadline().into(), wait).await.map_err(|_| self.exhausted())
    }

    pub(super) fn lock_wait(&self) -> Duration {
        self.lock_wait
    }

    pub(super) fn waited(&self) -> Duration {
        self.asked.elapsed()
    }

    fn exhausted(&self) -> Error {
        Error::new(
            ErrorCode::Busy,
            format!(
                "other writers kept the lock for the {:.1} s that this one waited: \
                 try again, or wait longer (`--lock-wait`)",
                self.asked.elapsed().as_secs_f64()
            ),
        )
    }
}

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
    pub fn acquire(
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
    /// The lock that some take before this one: who needs this one alone lets those pass, in this
    /// process, that came earlier and want that one, so that no call is overtaken by a later one
    /// that knew at once what it needs.
    pub after: Option<PathBuf>,
    /// Whether it hides itself from Git.
    pub hide: bool,
    /// Whether it is for its owner alone.
    pub private: bool,
}

impl LockDirectory {
    /// As [`Tree::acquire`]. Who holds another lock has the place that it came to that one by.
    pub fn acquire(
        self: &Arc<Self>,
        storage: &Arc<Shared>,
        patience: Patience,
        held: Option<&Lock>,
    ) -> impl Future<Output = Result<Lock, Error>> + Send + use<> {
        let (path, after) = (self.path.clone(), self.after.clone());
        let place = match held {
            None => Arc::new(storage.line.join(path, after)),
            Some(held) => {
                held.place.want(path, after);
                held.place.clone()
            }
        };
        let (directory, storage) = (self.clone(), storage.clone());
        async move {
            patience.within(place.is_next()).await?;
            let (turn, at_the_head) = directory.turn(&storage, patience).await?;
            Ok(Lock { turn: Mutex::new(turn), at_the_head, place })
        }
    }

    /// Passes the turnstile and takes the turn; until when the head of the queue waits comes along.
    async fn turn(
        self: &Arc<Self>,
        storage: &Arc<Shared>,
        patience: Patience,
    ) -> Result<(LockFile, Instant), Error> {
        loop {
            let (mut turnstile, mut turn) = match self.idle(storage) {
                Some(files) => files,
                None => {
                    let (directory, storage) = (self.clone(), storage.clone());
                    tokio::task::spawn_blocking(move || directory.open(&storage))
                        .await
                        .map_err(|_| Error::new(ErrorCode::Cancelled, "the host is closing"))??
                }
            };
            let head = || (Instant::now() + patience.lock_wait).min(patience.deadline());
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
    // Dropped before the place is: the next one in the process finds the turn free.
    turn: Mutex<LockFile>,
    /// Until when the head of the queue waits for what else it needs.
    pub at_the_head: Instant,
    place: Arc<Place>,
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

    /// Takes what was put, to know it again.
    pub(crate) fn keep(&self, changes: Vec<Change>, versions: &[String]) {
        self.tree.0.storage.kept.keep_put(changes, versions);
    }
}

/// Lock files that nobody holds now, kept open for the next writer.
#[derive(Debug, Default)]
pub(super) struct Connections(Mutex<HashMap<PathBuf, Connection>>);

impl Connections {
    fn take(&self, path: &Path) -> Option<Connection> {
        let mut idle = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        idle.remove(path).filter(is_in_place)
    }

    fn give_back(&self, path: PathBuf, connection: Connection) {
        let mut idle = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() >= MAX_IDLE {
            idle.clear();
        }
        idle.insert(path, connection);
    }
}

/// A connection to one of the two files. Dropping it lets go of the file's lock.
#[derive(Debug)]
struct LockFile {
    storage: Arc<Shared>,
    path: PathBuf,
    /// Taken when it is dropped.
    connection: Option<Connection>,
}

impl LockFile {
    fn connection(&self) -> &Connection {
        self.connection.as_ref().expect("taken on drop alone")
    }

    fn is_in_place(&self) -> bool {
        is_in_place(self.connection())
    }

    /// Whether nobody holds it, in this process or another; false where that cannot be told.
    fn is_free(&self) -> bool {
        let mut file: *mut ffi::sqlite3_file = std::ptr::null_mut();
        let mut held = 1;
        // SAFETY: the connection is open and used here alone, and SQLite says where its file is,
        // with the functions of its kind.
        unsafe {
            let (handle, ask) = (self.connection().handle(), ffi::SQLITE_FCNTL_FILE_POINTER);
            let to = (&raw mut file).cast();
            if ffi::sqlite3_file_control(handle, c"main".as_ptr(), ask, to) != ffi::SQLITE_OK {
                return false;
            }
            let Some(methods) = file.as_ref().and_then(|file| file.pMethods.as_ref()) else {
                return false;
            };
            let checked = methods.xCheckReservedLock.map(|check| check(file, &raw mut held));
            checked == Some(ffi::SQLITE_OK) && held == 0
        }
    }

    /// Lets go of it where it is held.
    fn let_go(&mut self) {
        if !self.connection().is_autocommit() {
            // Where that fails, so does the next attempt to take it.
            let _ = run(self.connection(), "ROLLBACK");
        }
    }

    fn try_take(&mut self) -> Result<bool, Error> {
        match run(self.connection(), "BEGIN IMMEDIATE") {
            Ok(()) => Ok(true),
            Err(error) if is_busy(&error) => Ok(false),
            Err(error) => Err(lock_error(&error)),
        }
    }
}

impl Drop for LockFile {
    fn drop(&mut self) {
        let connection = self.connection.take().expect("dropped once");
        // A connection that cannot roll back is closed, which lets go as well.
        if connection.is_autocommit() || run(&connection, "ROLLBACK").is_ok() {
            let path = std::mem::take(&mut self.path);
            self.storage.connections.give_back(path, connection);
        }
    }
}

/// Runs a statement that it has prepared before.
fn run(connection: &Connection, sql: &str) -> rusqlite::Result<()> {
    connection.prepare_cached(sql)?.execute([]).map(drop)
}

/// Whether the file that is open is still the one at its path.
pub(super) fn is_in_place(connection: &Connection) -> bool {
    let mut moved = 0;
    connection.file_control(None::<&str>, FileControl::HasMoved(&mut moved)).is_ok() && moved == 0
}

/// Polls until it is taken (true) or the time has come (false); tries at least once.
async fn take(file: &mut LockFile, every: Duration, until: Instant) -> Result<bool, Error> {
    loop {
        if file.try_take()? {
            return Ok(true);
        }
        if Instant::now() >= until {
            return Ok(false);
        }
        tokio::time::sleep(every).await;
    }
}

fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(Duration::ZERO)?;
    // `BEGIN IMMEDIATE` prepares the first page of an empty file, and would create a journal.
    connection.execute_batch("PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF")?;
    Ok(connection)
}

pub(super) fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ffi::ErrorCode::DatabaseBusy | ffi::ErrorCode::DatabaseLocked)
    )
}

fn lock_error(error: &rusqlite::Error) -> Error {
    let (code, message) = match error.sqlite_error_code() {
        Some(ffi::ErrorCode::ReadOnly | ffi::ErrorCode::PermissionDenied) => {
            return cannot_write(Error {
                code: ErrorCode::ReadOnly,
                message: String::new(),
                detail: result_code(error),
            });
        }
        Some(ffi::ErrorCode::DiskFull) => {
            (ErrorCode::NoSpace, "cannot take the lock: the medium is full: free some space")
        }
        Some(ffi::ErrorCode::NotADatabase | ffi::ErrorCode::DatabaseCorrupt) => (
            ErrorCode::Io,
            "cannot take the lock: its `queue.sqlite` or `turn.sqlite` is damaged: remove both",
        ),
        _ => (ErrorCode::Io, "cannot take the lock: the medium reports an error"),
    };
    Error { code, message: message.to_owned(), detail: result_code(error) }
}

pub(super) fn result_code(error: &rusqlite::Error) -> Option<String> {
    let code = error.sqlite_error()?.extended_code;
    Some(format!("SQLite result code {code}"))
}

fn cannot_write(cause: Error) -> Error {
    Error {
        code: ErrorCode::ReadOnly,
        message: "cannot take the lock: the place where it is kept can only be read by this \
                  process: check its owner and permissions"
            .to_owned(),
        detail: cause.detail,
    }
}
