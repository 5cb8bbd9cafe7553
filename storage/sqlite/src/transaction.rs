//! Transactions: beginning one, and ending it in every way a call ends.

use std::fmt::Debug;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use agent_memory_storage::database::{self, Effect, Kind, Mode, Rows, Statement};
use agent_memory_storage::{Error, ErrorCode};

use super::connection::{Connection, journal_mode};
use super::error::{StatementError, read_only};
use super::{Database, Open, Session, nested, statement};

/// The lock of a place, which a transaction keeps until it ends.
pub type Held = Arc<dyn Debug + Send + Sync>;

const BEGIN_READ: &str = "BEGIN DEFERRED";
const BEGIN_WRITE: &str = "BEGIN IMMEDIATE";
const COMMIT: &str = "COMMIT";
const ROLLBACK: &str = "ROLLBACK";

/// The first read fixes what a read transaction sees.
const FIRST_READ: &str = "SELECT 1 FROM sqlite_schema LIMIT 1";

/// The statements that only the host runs.
pub(super) const CONTROL: [&str; 4] = [BEGIN_READ, BEGIN_WRITE, COMMIT, ROLLBACK];

/// The time between two attempts at SQLite's own lock.
const POLL: Duration = Duration::from_millis(1);

/// A transaction. It is rolled back when it is dropped before its commit, or when the process dies.
///
/// Share it (`Arc`) with the thread that runs a statement or a commit. It then goes on until that
/// has returned, even if nobody waits for it any more.
#[derive(Debug)]
pub struct Transaction {
    database: Database,
    mode: Mode<'static>,
    state: Mutex<State>,
}

#[derive(Debug)]
enum State {
    /// With the row id of its last insert, and the lock of the place where it holds one.
    Open(i64, Option<Held>),
    Committed,
    RolledBack,
}

impl Transaction {
    pub(super) fn try_begin(
        database: &Database,
        mode: Mode<'_>,
        held: Option<Held>,
    ) -> Result<Option<Self>, Error> {
        let mode = mode.unscoped();
        Ok(database.0.try_begin(mode)?.then(|| Transaction {
            database: database.clone(),
            mode,
            state: Mutex::new(State::Open(0, held)),
        }))
    }
}

impl database::Transaction for Transaction {
    fn query(&self, statement: &Statement, max_rows: u32) -> Result<Rows, Error> {
        self.with(|connection, _| statement::query(connection, statement, max_rows, self.mode))
    }

    fn execute(&self, statements: &[Statement]) -> Result<Vec<Effect>, Error> {
        self.with(|connection, last_insert_id| {
            let mut effects = Vec::with_capacity(statements.len());
            for one in statements {
                let effect = statement::execute(connection, one, self.mode, *last_insert_id)?;
                *last_insert_id = effect.last_insert_id;
                effects.push(effect);
            }
            Ok(effects)
        })
    }

    fn commit(&self) -> Result<(), Error> {
        let mut state = self.state();
        let State::Open(_, lock) = &mut *state else {
            return Err(self.ended(&state));
        };
        let lock = lock.take();
        let session = &self.database.0;
        let committed = session.connection().and_then(|connection| {
            let committed = self.commit_on(&connection);
            // Let go of it before the next writer is let in.
            if committed.is_err() {
                roll_back(connection);
            }
            committed
        });
        *state = if committed.is_ok() { State::Committed } else { State::RolledBack };
        drop(lock);
        committed
    }
}

impl Transaction {
    fn commit_on(&self, connection: &Connection) -> Result<(), Error> {
        let session = &self.database.0;
        if !connection.is_in_transaction() {
            return Err(self.lost());
        }
        if self.mode.is_write() && !connection.is_in_place() {
            let message =
                format!("`{}` was moved away while it was open: try again", session.location);
            return Err(Error::new(ErrorCode::Io, message));
        }
        session.retry(|| Ok(connection.run(COMMIT)?))
    }

    fn with<T>(
        &self,
        work: impl FnOnce(&Connection, &mut i64) -> Result<T, StatementError>,
    ) -> Result<T, Error> {
        let mut state = self.state();
        let State::Open(last_insert_id, _) = &mut *state else {
            return Err(self.ended(&state));
        };
        let session = &self.database.0;
        let connection = session.connection()?;
        let done = match connection.is_in_transaction() {
            true => work(&connection, last_insert_id).map_err(|error| session.report(error)),
            false => Err(self.lost()),
        };
        if done.is_err() {
            roll_back(connection);
            // The next writer is let in only now.
            *state = State::RolledBack;
        }
        done
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ended(&self, state: &State) -> Error {
        match state {
            State::Committed => {
                Error::new(ErrorCode::Nested, "the transaction is committed already")
            }
            _ => self.lost(),
        }
    }

    fn lost(&self) -> Error {
        let location = &self.database.0.location;
        let message =
            format!("the transaction on `{location}` was rolled back after an error: begin again");
        Error::new(ErrorCode::Io, message)
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let State::Open(_, lock) = std::mem::replace(state, State::RolledBack) {
            if let Some(connection) = self.database.0.open_connection() {
                roll_back(connection);
            }
            drop(lock);
        }
    }
}

fn roll_back(connection: Open<'_>) {
    // Closing a connection rolls back as well.
    if connection.is_in_transaction() && connection.run(ROLLBACK).is_err() {
        connection.close();
    }
}

impl Session {
    pub(super) fn check_writable(&self) -> Result<(), Error> {
        let connection = self.connection()?;
        if connection.is_in_transaction() {
            return Err(nested());
        }
        if connection.is_read_only() { Err(read_only(&self.location, None)) } else { Ok(()) }
    }

    pub(super) fn create_journal(&self, until: Instant) -> Result<(), Error> {
        if !self.is_new()? {
            return Ok(());
        }
        let sql = match journal_mode(rusqlite::version_number()) {
            "WAL" => "PRAGMA journal_mode = WAL",
            _ => "PRAGMA journal_mode = DELETE",
        };
        let connection = self.connection()?;
        let set = poll(until, || Ok(connection.set(sql)?));
        set.map_err(|error| self.report(error))
    }

    pub(super) fn is_new(&self) -> Result<bool, Error> {
        let connection = self.connection()?;
        connection.is_new().map_err(|error| self.report(error.into()))
    }

    /// Whether it began: not where another program has the database locked.
    ///
    /// It does not leave the thread: what it reads is the first page, which is in memory but for
    /// the first time.
    fn try_begin(&self, mode: Mode<'_>) -> Result<bool, Error> {
        let connection = self.connection()?;
        if connection.is_in_transaction() {
            return Err(nested());
        }
        let begun = match mode {
            Mode::Read => connection.run(BEGIN_READ).and_then(|()| connection.run(FIRST_READ)),
            Mode::Write(_) => connection.run(BEGIN_WRITE),
        };
        let error = match begun {
            Ok(()) => return Ok(true),
            Err(error) => connection.check_unchanged().err().unwrap_or_else(|| error.into()),
        };
        roll_back(connection);
        if error.is_busy() { Ok(false) } else { Err(self.report(error)) }
    }

    /// Runs what another program's lock may hinder, again and again until the time is over.
    pub(super) fn retry<T>(
        &self,
        attempt: impl FnMut() -> Result<T, StatementError>,
    ) -> Result<T, Error> {
        let asked = Instant::now();
        poll(self.busy_deadline(), attempt).map_err(|error| match error.is_busy() {
            true => self.busy(asked.elapsed()),
            false => self.report(error),
        })
    }

    fn report(&self, error: StatementError) -> Error {
        error.report(&self.location, &self.interrupt)
    }

    pub(super) fn busy(&self, waited: Duration) -> Error {
        let location = &self.location;
        let message = match self.kind {
            Kind::Derived => format!("`{location}` is in use: try again"),
            Kind::Kept => format!(
                "another program kept `{location}` locked for the {:.1} s that this call waited: \
                 try again, or wait longer (`lock_wait`)",
                waited.as_secs_f64()
            ),
        };
        Error::new(ErrorCode::Busy, message)
    }
}

/// Tries again while another program holds SQLite's lock, until the given time.
pub(super) fn poll<T>(
    until: Instant,
    mut attempt: impl FnMut() -> Result<T, StatementError>,
) -> Result<T, StatementError> {
    loop {
        match attempt() {
            Err(error) if error.is_busy() && Instant::now() < until => {
                std::thread::sleep(POLL);
            }
            done => return done,
        }
    }
}
