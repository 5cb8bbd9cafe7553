//! Transactions: beginning one in turn, and ending it in every way a call ends.

use super::super::lock::{Lock, LockDirectory, Writer};
use super::super::{Error, ErrorCode};
use super::connection::{Link, journal_mode};
use super::failure::{Failure, read_only};
use super::{Database, Effect, Mode, Open, Patience, Rows, Session, Statement, nested, statement};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

const BEGIN_READ: &str = "BEGIN DEFERRED";
const BEGIN_WRITE: &str = "BEGIN IMMEDIATE";
const COMMIT: &str = "COMMIT";
const ROLLBACK: &str = "ROLLBACK";

/// The first read fixes what a read transaction sees.
const FIRST_READ: &str = "SELECT 1 FROM sqlite_schema LIMIT 1";

/// The statements that only the host runs.
pub(super) const CONTROL: [&str; 4] = [BEGIN_READ, BEGIN_WRITE, COMMIT, ROLLBACK];

/// How often SQLite's own lock is asked for.
const POLL: Duration = Duration::from_millis(1);

/// A transaction, rolled back when it is dropped before [`commit`](Transaction::commit) or when the
/// process dies. One that writes holds the database's turn until it ends.
///
/// Share it (`Arc`) with the thread that runs a statement or a commit, and it goes on until that
/// has returned, even if nobody waits for it any more.
#[derive(Debug)]
pub struct Transaction {
    database: Database,
    mode: Mode,
    state: Mutex<State>,
}

#[derive(Debug)]
enum State {
    /// With the row id of its last insert, and the turn if it writes.
    Open(i64, Option<Lock>),
    Committed,
    RolledBack,
}

impl Transaction {
    pub(super) fn begin(
        database: Database,
        mode: Mode,
        patience: Patience,
        writer: Option<&Writer>,
    ) -> impl Future<Output = Result<Transaction, Error>> + Send + use<> {
        let session = &database.0;
        let held = writer.map(|writer| &writer.lock);
        let acquire = |lock: Arc<LockDirectory>| lock.acquire(&session.storage, patience, held);
        let locking = match mode {
            Mode::Read => Ok(None),
            Mode::Write => session.writable().map(|lock| Some(acquire(lock))),
        };
        async move {
            let lock = match locking? {
                Some(locking) => Some(locking.await?),
                None => None,
            };
            let until = lock
                .as_ref()
                .map_or(Instant::now() + patience.lock_wait(), |lock| lock.at_the_head);
            database.prepare_journal(mode, until).await?;
            while !database.0.try_begin(mode)? {
                if Instant::now() >= until {
                    return Err(database.0.busy(patience));
                }
                tokio::time::sleep(POLL).await;
            }
            let state = Mutex::new(State::Open(0, lock));
            Ok(Transaction { database, mode, state })
        }
    }

    /// Runs one statement and gives at most `max_rows` of its rows. In a write transaction it may
    /// also change some, all of them even where not all are given.
    ///
    /// # Errors
    ///
    /// As [`execute`](Transaction::execute); `too-large` beyond
    /// [`MAX_ROWS_BYTES`](super::MAX_ROWS_BYTES).
    pub fn query(&self, statement: &Statement, max_rows: u32) -> Result<Rows, Error> {
        self.with(|link, _| statement::query(link, statement, max_rows, self.mode))
    }

    /// Runs statements in order and stops at the first that fails.
    ///
    /// A statement that fails has changed nothing; what those before it did stands, and the
    /// transaction goes on, unless the medium failed or was full, or the statement was interrupted:
    /// then all of it is rolled back, and every later use of it is an error.
    ///
    /// # Errors
    ///
    /// `already-exists` for a broken unique constraint; `read-only` for a change in a read
    /// transaction; `not-granted` for what no call may run; `nested` after the commit; `cancelled`
    /// where a statement ran for longer than
    /// [`statement_time`](super::super::StorageOptions::statement_time) or was
    /// [given up](Database::give_up); `no-space`, `too-large`, `io`.
    pub fn execute(&self, statements: &[Statement]) -> Result<Vec<Effect>, Error> {
        self.with(|link, last_insert_id| {
            let mut effects = Vec::with_capacity(statements.len());
            for one in statements {
                if !link.is_in_transaction() {
                    return Err(self.lost().into());
                }
                let effect = statement::execute(link, one, self.mode, *last_insert_id)?;
                *last_insert_id = effect.last_insert_id;
                effects.push(effect);
            }
            Ok(effects)
        })
    }

    /// Ends it, so that what it changed stays: after a loss of power too, unless the durability is
    /// relaxed.
    ///
    /// # Errors
    ///
    /// `nested` the second time. Any other error has rolled it back: `busy` where others read for
    /// longer than the patience, `no-space`, `io`.
    pub fn commit(&self) -> Result<(), Error> {
        let mut state = self.state();
        let State::Open(_, lock) = &mut *state else {
            return Err(self.ended(&state));
        };
        let lock = lock.take();
        let session = &self.database.0;
        let committed = session.link().and_then(|link| {
            let committed = self.commit_on(&link);
            // Let go of it before the next writer is let in.
            if committed.is_err() {
                roll_back(link);
            }
            committed
        });
        *state = if committed.is_ok() { State::Committed } else { State::RolledBack };
        drop(lock);
        committed
    }

    fn commit_on(&self, link: &Link) -> Result<(), Error> {
        let session = &self.database.0;
        if !link.is_in_transaction() {
            return Err(self.lost());
        }
        if self.mode == Mode::Write && !link.is_in_place() {
            let message =
                format!("`{}` was moved away while it was open: try again", session.location);
            return Err(Error::new(ErrorCode::Io, message));
        }
        let patience = Patience::new(session.storage.options.lock_wait);
        session.patiently(patience, || Ok(link.run(COMMIT)?))
    }

    fn with<T>(
        &self,
        work: impl FnOnce(&Link, &mut i64) -> Result<T, Failure>,
    ) -> Result<T, Error> {
        let mut state = self.state();
        let State::Open(last_insert_id, _) = &mut *state else {
            return Err(self.ended(&state));
        };
        let session = &self.database.0;
        let link = session.link()?;
        if !link.is_in_transaction() {
            return Err(self.lost());
        }
        work(&link, last_insert_id)
            .map_err(|failure| failure.report(&session.location, link.watch()))
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

    /// SQLite rolled it back with the statement that failed.
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
            if let Some(link) = self.database.0.open_link() {
                roll_back(link);
            }
            drop(lock);
        }
    }
}

fn roll_back(link: Open<'_>) {
    // Closing a connection rolls back as well.
    if link.is_in_transaction() && link.run(ROLLBACK).is_err() {
        link.close();
    }
}

impl Database {
    /// A new database gets its journal mode before its first page; the journal of any other is left
    /// as it is.
    async fn prepare_journal(&self, mode: Mode, until: Instant) -> Result<(), Error> {
        if mode == Mode::Read || !self.0.is_new()? {
            return Ok(());
        }
        let database = self.clone();
        let prepared = tokio::task::spawn_blocking(move || {
            let sql = match journal_mode(rusqlite::version_number()) {
                "WAL" => "PRAGMA journal_mode = WAL",
                _ => "PRAGMA journal_mode = DELETE",
            };
            let link = database.0.link()?;
            let prepared = poll(until, || Ok(link.set(sql)?));
            prepared.map_err(|failure| database.0.report(failure))
        });
        prepared.await.map_err(|_| Error::new(ErrorCode::Cancelled, "the host is closing"))?
    }
}

impl Session {
    /// The lock to take before writing.
    pub(super) fn writable(&self) -> Result<Arc<LockDirectory>, Error> {
        let link = self.link()?;
        if link.is_in_transaction() {
            return Err(nested());
        }
        if link.is_read_only() {
            return Err(read_only(&self.location, None));
        }
        link.lock(|| self.records.database_lock())
    }

    fn is_new(&self) -> Result<bool, Error> {
        let link = self.link()?;
        link.is_new().map_err(|error| self.report(error.into()))
    }

    /// Whether it began: not where another program has the database locked.
    ///
    /// It does not leave the thread: what it reads is the first page, which is in memory but for
    /// the first time.
    fn try_begin(&self, mode: Mode) -> Result<bool, Error> {
        let link = self.link()?;
        if link.is_in_transaction() {
            return Err(nested());
        }
        let begun = match mode {
            Mode::Read => link.run(BEGIN_READ).and_then(|()| link.run(FIRST_READ)),
            Mode::Write => link.run(BEGIN_WRITE),
        };
        let failure = match begun {
            Ok(()) => return Ok(true),
            Err(error) => link.check_unchanged().err().unwrap_or_else(|| error.into()),
        };
        roll_back(link);
        if failure.is_busy() { Ok(false) } else { Err(self.report(failure)) }
    }

    /// Runs what another program's lock may hinder, again and again.
    pub(super) fn patiently<T>(
        &self,
        patience: Patience,
        attempt: impl FnMut() -> Result<T, Failure>,
    ) -> Result<T, Error> {
        let done = poll(Instant::now() + patience.lock_wait(), attempt);
        done.map_err(|failure| match failure.is_busy() {
            true => self.busy(patience),
            false => self.report(failure),
        })
    }

    fn report(&self, failure: Failure) -> Error {
        failure.report(&self.location, &self.watch)
    }

    fn busy(&self, patience: Patience) -> Error {
        let message = format!(
            "another program kept `{}` locked for the {:.1} s that this call waited: \
             try again, or wait longer (`lock_wait`)",
            self.location,
            patience.waited().as_secs_f64()
        );
        Error::new(ErrorCode::Busy, message)
    }
}

pub(super) fn poll<T>(
    until: Instant,
    mut attempt: impl FnMut() -> Result<T, Failure>,
) -> Result<T, Failure> {
    loop {
        match attempt() {
            Err(failure) if failure.is_busy() && Instant::now() < until => {
                std::thread::sleep(POLL);
            }
            done => return done,
        }
    }
}
