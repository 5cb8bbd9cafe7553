//! Opening connections with their limits, and creating databases.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use agent_memory_storage::database::Kind;
use agent_memory_storage::{EntryKind, Error, ErrorCode};
use agent_memory_storage_files::{BESIDE_DATABASE, Directory, Durability, Errno, errno_error};
use agent_memory_storage_lock::result_code;
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{OpenFlags, ffi};

use super::authoriser::Authoriser;
use super::busy::poll;
use super::connection::{Connection, MAX_ROWS_BYTES};
use super::error::{StatementError, report};
use super::immutable::{ImmutableFile, immutable_uri, journal_of};
use super::session::Session;

/// The number of SQLite's instructions between two checks of the interrupt. They take some tens of
/// microseconds.
const LOOK_EVERY: i32 = 1_000;

/// The maximum number of prepared statements of a connection.
const MAX_STATEMENTS: usize = 128;

impl Session {
    /// Opens a connection. With `create`, creates a missing file and its directories.
    pub(super) fn connect(&self, create: bool) -> Result<Connection, Error> {
        let number = getrandom::u64();
        let temporary = number.map(|number| format!(".{number:016x}.agent-memory-tmp"));
        let temporary =
            if create { Some(temporary.map_err(|_| self.no_randomness())?) } else { None };
        let temporary = temporary.as_deref();
        let directory = self.file.directory(temporary, self.options.durability)?;
        // After a crash, the first connection repairs the file. It locks out all others for a moment,
        // so this tries again.
        let connect = || poll(self.busy_deadline(), || self.connect_with(None));
        let connected = match (connect(), temporary) {
            (Err(StatementError::Sqlite(error)), Some(temporary))
                if self.file.kind == Kind::Derived && is_unreadable(&error) =>
            {
                self.file.replace(temporary, self.options.durability)?;
                connect()
            }
            (connected, _) => connected,
        };
        match connected {
            Err(StatementError::Sqlite(error)) if cannot_open(&error) => {
                self.connect_to_unwritable(&directory, &error)
            }
            linked => {
                linked.map_err(|failure| failure.report(&self.file.location, &self.interrupt))
            }
        }
    }

    /// Opens a connection. With `immutable`, SQLite assumes that the file does not change.
    fn connect_with(&self, immutable: Option<ImmutableFile>) -> Result<Connection, StatementError> {
        let path = &self.file.path;
        let flags = OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut connection = if immutable.is_some() {
            let flags = flags
                | OpenFlags::SQLITE_OPEN_READ_ONLY
                | OpenFlags::SQLITE_OPEN_URI
                | OpenFlags::SQLITE_OPEN_NOFOLLOW;
            rusqlite::Connection::open_with_flags(immutable_uri(path), flags)?
        } else {
            agent_memory_storage_lock::open(path, flags | OpenFlags::SQLITE_OPEN_READ_WRITE)?
        };
        // SQLite does not wait for locks: callers poll, to be fair to others and to stop at their
        // deadline.
        connection.busy_timeout(Duration::ZERO)?;
        let synchronous = match (self.file.kind, self.options.durability) {
            (Kind::Kept, Durability::Full) => "FULL",
            (Kind::Kept, Durability::Relaxed) => "NORMAL",
            (Kind::Derived, _) => "OFF",
        };
        // On macOS, a sync without these pragmas does not reach the medium.
        let full = if cfg!(target_os = "macos") {
            "PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON;"
        } else {
            ""
        };
        let settings =
            format!("{full} PRAGMA synchronous = {synchronous}; PRAGMA foreign_keys = ON");
        connection.execute_batch(&settings)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
        if self.options.looks_only {
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        }
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DDL, false)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DML, false)?;
        // With the query planner stability guarantee (QPSG), a plan depends only on the statement.
        // Otherwise SQLite would prepare a statement with a bound `LIMIT`, or one of FTS5, again for
        // each value.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, MAX_ROWS_BYTES as i32 + 1024)?;
        connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
        connection.set_prepared_statement_cache_capacity(MAX_STATEMENTS);
        let interrupt = self.interrupt.clone();
        let looks = interrupt.clone();
        connection.progress_handler(LOOK_EVERY, Some(move || looks.is_over()))?;
        let authoriser = Authoriser::new(&mut connection)?;
        let has_pages = AtomicBool::new(false);
        let connection =
            Connection { sqlite: connection, authoriser, interrupt, has_pages, immutable };
        // The first read of the file shows whether it can be used at all.
        let looked = connection.is_new();
        connection.check_unchanged()?;
        looked?;
        Ok(connection)
    }

    fn no_randomness(&self) -> Error {
        errno_error(Errno::IO, &format!("create the database `{}`", self.file.location))
    }

    fn failed(&self, error: &rusqlite::Error) -> Error {
        report(error, &self.file.location, &self.interrupt)
    }

    /// Opens a connection after SQLite failed with `error` because it cannot write. The medium may
    /// be read-only, or the directory may belong to another user.
    ///
    /// In WAL mode, SQLite needs the log's index (`-shm`) even to read, and creates a missing one.
    /// If it cannot create the index and there is no log, the file is read as immutable.
    fn connect_to_unwritable(
        &self,
        directory: &Directory,
        error: &rusqlite::Error,
    ) -> Result<Connection, Error> {
        let attempt = format!("open the database `{}`", self.file.location);
        let failed = |errno| errno_error(errno, &attempt);
        let Some(before) = directory.metadata(&self.file.name).map_err(failed)? else {
            return Err(self.file.missing());
        };
        self.check_reach(directory, "").map_err(failed)?;
        for suffix in BESIDE_DATABASE {
            match directory.metadata(&format!("{}{suffix}", self.file.name)).map_err(failed)? {
                None => {}
                Some(found) if found.kind != EntryKind::File => {
                    return Err(self.file.not_a_file(suffix));
                }
                Some(_) => self.check_reach(directory, suffix).map_err(failed)?,
            }
        }
        let refusal = match directory.writable() {
            Err(errno @ (Errno::ROFS | Errno::ACCESS | Errno::PERM)) => errno,
            _ => return Err(self.failed(error)),
        };
        if let Some(journal) = journal_of(&self.file.name, directory).map_err(failed)? {
            return Err(self.left_in(journal, refusal, error));
        }
        let immutable =
            ImmutableFile { directory: directory.clone(), name: self.file.name.clone(), before };
        self.connect_with(Some(immutable))
            .map_err(|failure| failure.report(&self.file.location, &self.interrupt))
    }

    /// Checks that this process may read the file with this suffix.
    fn check_reach(&self, directory: &Directory, suffix: &str) -> Result<(), Errno> {
        match directory.readable_file(&format!("{}{suffix}", self.file.name)) {
            Err(errno @ (Errno::ACCESS | Errno::PERM)) => Err(errno),
            _ => Ok(()),
        }
    }

    fn left_in(&self, journal: &str, refusal: Errno, error: &rusqlite::Error) -> Error {
        let location = &self.file.location;
        let message = format!(
            "cannot read `{location}`: a program has left changes in `{location}{journal}`, which \
             only a process that may write there can bring in: let one open it, or copy both \
             files to where this one may write"
        );
        let code = match refusal {
            Errno::ROFS => ErrorCode::ReadOnly,
            _ => ErrorCode::Permission,
        };
        Error { code, message, detail: result_code(error) }
    }
}

/// Whether SQLite says that the file is not a database, or is corrupted.
fn is_unreadable(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error_code();
    matches!(code, Some(ffi::ErrorCode::NotADatabase | ffi::ErrorCode::DatabaseCorrupt))
}

fn cannot_open(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(
            ffi::ErrorCode::CannotOpen
                | ffi::ErrorCode::ReadOnly
                | ffi::ErrorCode::PermissionDenied
        )
    )
}
