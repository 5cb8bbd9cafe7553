//! Connections: how one is opened, what it is held to, and keeping those that are idle.

use super::super::directory::Directory;
use super::super::lock_file::{is_in_place, result_code};
use super::super::tree::EntryKind;
use super::super::{Durability, Error, ErrorCode};
use super::authoriser::Authoriser;
use super::failure::{Failure, not_granted};
use super::transaction::poll;
use super::unwritable::{Unchanging, cannot_open, immutable_uri};
use super::{DatabaseKind, MAX_ROWS_BYTES, Session};
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags};
use rustix::io::Errno;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// So many connections stay open between uses.
const MAX_IDLE: usize = 16;

/// So many prepared statements are kept on each.
const MAX_STATEMENTS: usize = 128;

/// So many instructions of SQLite's machine, some tens of microseconds, between two looks at
/// whether a statement is to end.
const LOOK_EVERY: i32 = 1_000;

/// A SQLite that is older may damage a database in WAL mode that several connections write to.
const SOUND_WAL: i32 = 3_051_003;

/// What a longer statement time counts as: a year.
const NO_END: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// The journal mode of a new database.
pub(super) fn journal_mode(sqlite_version: i32) -> &'static str {
    if sqlite_version >= SOUND_WAL { "WAL" } else { "DELETE" }
}

/// When a statement is to end.
#[derive(Debug)]
pub(super) struct Watch {
    statement_time: Duration,
    given_up: AtomicBool,
    /// None for a statement of the host's own, which goes on to its end.
    ends: Mutex<Option<Instant>>,
}

impl Watch {
    pub fn new(statement_time: Duration) -> Self {
        Watch { statement_time, given_up: AtomicBool::new(false), ends: Mutex::new(None) }
    }

    pub fn give_up(&self) {
        self.given_up.store(true, Ordering::Relaxed);
    }

    pub fn is_given_up(&self) -> bool {
        self.given_up.load(Ordering::Relaxed)
    }

    /// A statement begins.
    pub fn start(&self) {
        let now = Instant::now();
        let ends = now.checked_add(self.statement_time).unwrap_or(now + NO_END);
        *self.ends.lock().unwrap_or_else(PoisonError::into_inner) = Some(ends);
    }

    /// The time of the statement that ran last is over.
    #[cfg(test)]
    pub fn end_now(&self) {
        *self.ends.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    /// A statement of the host's own begins, which must not be interrupted. Even a short `COMMIT`
    /// could be: SQLite counts a statement's steps over all of its runs.
    fn start_own(&self) {
        *self.ends.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn is_over(&self) -> bool {
        let ends = *self.ends.lock().unwrap_or_else(PoisonError::into_inner);
        ends.is_some_and(|ends| self.is_given_up() || Instant::now() >= ends)
    }

    pub fn statement_time(&self) -> Duration {
        self.statement_time
    }
}

/// A connection to a database.
#[derive(Debug)]
pub(super) struct Link {
    pub connection: Connection,
    authoriser: Authoriser,
    watch: Arc<Watch>,
    /// Whether it was seen not to be new.
    has_pages: AtomicBool,
    /// Set where it reads a file as if nobody changed it: it serves one call alone.
    unchanging: Option<Unchanging>,
}

impl Link {
    pub fn watch(&self) -> &Arc<Watch> {
        &self.watch
    }

    pub fn is_in_transaction(&self) -> bool {
        !self.connection.is_autocommit()
    }

    /// Whether the file that is open is still the one at its path.
    pub fn is_in_place(&self) -> bool {
        match &self.unchanging {
            Some(file) => file.holds(),
            None => is_in_place(&self.connection),
        }
    }

    pub fn is_read_only(&self) -> bool {
        self.connection.is_readonly("main").unwrap_or(true)
    }

    /// Sets something that only the host may. It is not kept prepared: who gives the same text
    /// would find it.
    pub fn set(&self, sql: &str) -> rusqlite::Result<()> {
        self.as_host(|| self.connection.execute_batch(sql))
    }

    /// Runs a statement of the host's own, with what rows it has, and keeps it prepared: no call may
    /// give its text.
    pub fn run(&self, sql: &'static str) -> rusqlite::Result<()> {
        self.as_host(|| {
            let mut statement = self.connection.prepare_cached(sql)?;
            let mut rows = statement.raw_query();
            while rows.next()?.is_some() {}
            Ok(())
        })
    }

    pub fn as_host<T>(&self, work: impl FnOnce() -> T) -> T {
        self.watch.start_own();
        self.authoriser.as_host(work)
    }

    /// Runs what a call gave; where SQLite was not allowed to, says so in whatever way it failed.
    pub fn as_call<T>(&self, work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
        self.watch.start();
        self.authoriser.forget();
        let done = work();
        self.check_unchanged()?;
        done.map_err(|failure| match failure {
            Failure::Sqlite(error) if self.authoriser.has_denied() => {
                not_granted(result_code(&error)).into()
            }
            failure => failure,
        })
    }

    /// Fails where the file changed while it was read: what was read, or what SQLite said of it, may
    /// then mix two states.
    pub fn check_unchanged(&self) -> Result<(), Failure> {
        match &self.unchanging {
            Some(file) if !file.holds() => Err(Failure::Changed),
            _ => Ok(()),
        }
    }

    /// Whether nothing was ever written to it.
    pub fn is_new(&self) -> rusqlite::Result<bool> {
        if self.has_pages.load(Ordering::Relaxed) {
            return Ok(false);
        }
        let pages: i64 = self.as_host(|| {
            let mut statement = self.connection.prepare_cached("PRAGMA page_count")?;
            statement.query_row([], |row| row.get(0))
        })?;
        self.has_pages.store(pages > 0, Ordering::Relaxed);
        Ok(pages == 0)
    }
}

/// Connections that nobody uses now, kept open for the next call.
#[derive(Debug, Default)]
pub(in super::super) struct Idle(Mutex<Vec<(PathBuf, Link)>>);

impl Idle {
    pub(super) fn take(&self, path: &Path) -> Option<Link> {
        loop {
            let mut idle = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let newest = idle.iter().rposition(|(other, _)| other == path)?;
            let (_, link) = idle.remove(newest);
            drop(idle);
            if link.is_in_place() {
                link.watch.given_up.store(false, Ordering::Relaxed);
                return Some(link);
            }
        }
    }

    pub(super) fn give_back(&self, path: PathBuf, link: Link) {
        if link.unchanging.is_some() || link.is_in_transaction() {
            return;
        }
        let mut idle = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        idle.push((path, link));
        let oldest = (idle.len() > MAX_IDLE).then(|| idle.remove(0));
        drop(idle);
        drop(oldest);
    }
}

impl Session {
    /// Opens a connection; makes the file, and what leads to it, where it is missing and `create`
    /// is set.
    pub(super) fn connect(&self, create: bool) -> Result<Link, Error> {
        let failed =
            |errno| Error::from_errno(errno, &format!("open the database `{}`", self.location));
        let directory = match self.base.find(&[])? {
            Some(directory) => directory,
            None if create => self.make_directory().map_err(|errno| self.not_created(errno))?,
            None => return Err(self.missing()),
        };
        match directory.metadata(&self.name).map_err(failed)? {
            Some(found) if found.kind != EntryKind::File => return Err(self.not_a_file("")),
            Some(_) => {}
            None if create => {
                self.create_in(&directory).map_err(|errno| self.not_created(errno))?;
            }
            None => return Err(self.missing()),
        }
        // Who repairs it after a crash keeps all others out for a moment.
        match poll(self.own_timeout().at_the_head(), || self.link_to(None)) {
            Err(Failure::Sqlite(error)) if cannot_open(&error) => {
                self.connect_to_unwritable(&directory, &error)
            }
            linked => linked.map_err(|failure| failure.report(&self.location, &self.watch)),
        }
    }

    fn make_directory(&self) -> Result<Directory, Errno> {
        if self.kind == DatabaseKind::Derived {
            // It hides itself from Git before anything is in it.
            self.tree.0.lock.make(false)?;
        }
        self.base.make(self.is_private(), self.is_synced())
    }

    fn is_private(&self) -> bool {
        self.tree.0.lock.private
    }

    fn is_synced(&self) -> bool {
        let durability = self.tree.0.storage.options.durability;
        self.kind == DatabaseKind::Kept && durability == Durability::Full
    }

    /// Puts an empty file there, from the first for its owner alone where the place is.
    ///
    /// It gets its name only when nobody has it open, since closing a file lets go of every lock
    /// that this process has on it, those of SQLite too.
    fn create_in(&self, directory: &Directory) -> Result<(), Errno> {
        let number = getrandom::u64().map_err(|_| Errno::IO)?;
        let temporary = format!(".{number:016x}.agent-memory-tmp");
        let mode = if self.is_private() { 0o600 } else { 0o666 };
        drop(directory.create_file(&temporary, mode)?);
        let linked = directory.link(&temporary, &self.name);
        let removed = directory.remove_file(&temporary);
        match linked {
            // Made by another just now.
            Ok(()) | Err(Errno::EXIST) => removed?,
            Err(errno) => return Err(errno),
        }
        if self.is_synced() { directory.sync() } else { Ok(()) }
    }

    /// `unchanging` where the file is to be read as if nobody changed it.
    pub(super) fn link_to(&self, unchanging: Option<Unchanging>) -> Result<Link, Failure> {
        let path = &self.path;
        let flags = OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let mut connection = if unchanging.is_some() {
            let flags = flags | OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
            Connection::open_with_flags(immutable_uri(path), flags)?
        } else {
            Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_READ_WRITE)?
        };
        // Whoever waits polls, to be fair to others and to be able to end.
        connection.busy_timeout(Duration::ZERO)?;
        let synchronous = match (self.kind, self.tree.0.storage.options.durability) {
            (DatabaseKind::Kept, Durability::Full) => "FULL",
            (DatabaseKind::Kept, Durability::Relaxed) => "NORMAL",
            (DatabaseKind::Derived, _) => "OFF",
        };
        let settings = format!("PRAGMA synchronous = {synchronous}; PRAGMA foreign_keys = ON");
        connection.execute_batch(&settings)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DDL, false)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DML, false)?;
        // A plan depends on the statement alone: SQLite would prepare one with a bound `LIMIT` anew
        // for each value, and those of FTS5 as well.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, MAX_ROWS_BYTES as i32 + 1024)?;
        connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
        connection.set_prepared_statement_cache_capacity(MAX_STATEMENTS);
        let watch = self.watch.clone();
        let looks = watch.clone();
        connection.progress_handler(LOOK_EVERY, Some(move || looks.is_over()))?;
        let authoriser = Authoriser::of(&mut connection)?;
        let has_pages = AtomicBool::new(false);
        let link = Link { connection, authoriser, watch, has_pages, unchanging };
        // The first look at the file tells whether it can be used at all.
        let looked = link.is_new();
        link.check_unchanged()?;
        looked?;
        Ok(link)
    }

    pub(super) fn missing(&self) -> Error {
        let message = format!("there is no database `{}` yet", self.location);
        Error::new(ErrorCode::NotFound, message)
    }

    /// What SQLite keeps at the path with this suffix.
    pub(super) fn not_a_file(&self, suffix: &str) -> Error {
        let message = format!(
            "`{}{suffix}` is not a file (a symbolic link is not followed): move it away",
            self.location
        );
        Error::new(ErrorCode::InvalidPath, message)
    }

    fn not_created(&self, errno: Errno) -> Error {
        let error = Error::from_errno(errno, &format!("create the database `{}`", self.location));
        match error.code {
            ErrorCode::Permission => Error { code: ErrorCode::ReadOnly, ..error },
            _ => error,
        }
    }

    pub(super) fn failed(&self, error: &rusqlite::Error) -> Error {
        super::failure::report(error, &self.location, &self.watch)
    }
}
