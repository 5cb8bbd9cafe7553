//! Transactions: beginning one in its turn, and ending it in every way a call ends.

use super::super::lock::{Lock, LockDirectory};
use super::super::{Error, ErrorCode};
use super::connection::{Link, journal_mode};
use super::failure::{Failure, read_only};
use super::{
    Database, DatabaseKind, Effect, LockTimeout, Mode, Open, Rows, Session, Statement, Writer,
    nested, statement,
};
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
/// process dies. One that writes to a database that is kept holds the lock of its place until it
/// ends.
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
    /// With the row id of its last insert, and the lock where it holds one.
    Open(i64, Option<Arc<Lock>>),
    Committed,
    RolledBack,
}

impl Transaction {
    pub(super) fn begin(
        database: Database,
        mode: Mode,
        writer: Option<&Writer>,
        timeout: LockTimeout,
    ) -> impl Future<Output = Result<Transaction, Error>> + Send + use<> {
        let session = &database.0;
        let timeout = session.timeout(timeout);
        let checked = session.check_begin(mode, writer);
        let lock = session.lock().filter(|_| mode == Mode::Write && checked.is_ok());
        let held = lock.and(writer).map(|writer| writer.lock.clone());
        let acquiring = lock
            .filter(|_| held.is_none())
            .map(|lock| lock.acquire(&session.tree.0.storage, timeout));
        async move {
            checked?;
            let mut until = timeout.at_the_head();
            let lock = match acquiring {
                Some(acquiring) => {
                    let lock = acquiring.await?;
                    until = lock.at_the_head;
                    Some(Arc::new(lock))
                }
                None => held,
            };
            database.prepare_journal(mode, until).await?;
            while !database.0.try_begin(mode)? {
                if Instant::now() >= until {
                    return Err(database.0.busy(timeout));
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
    /// An error ends the transaction: it is rolled back, its lock is let go, and every later use is
    /// an error.
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
    /// `nested` the second time. After `io` it may have happened; after any other error it was rolled
    /// back: `busy` where others read for longer than the timeout, `no-space`.
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
        session.retry(|| Ok(link.run(COMMIT)?))
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
        let done = match link.is_in_transaction() {
            true => work(&link, last_insert_id).map_err(|failure| session.report(failure)),
            false => Err(self.lost()),
        };
        if done.is_err() {
            roll_back(link);
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
    pub(super) fn check_writable(&self) -> Result<(), Error> {
        let link = self.link()?;
        if link.is_in_transaction() {
            return Err(nested());
        }
        if link.is_read_only() { Err(read_only(&self.location, None)) } else { Ok(()) }
    }

    /// Who cannot begin waits for nobody.
    fn check_begin(&self, mode: Mode, writer: Option<&Writer>) -> Result<(), Error> {
        if mode == Mode::Read {
            return Ok(());
        }
        let is_elsewhere =
            |(lock, writer): (&Arc<LockDirectory>, &Writer)| lock.path != writer.lock_key();
        if self.lock().zip(writer).is_some_and(is_elsewhere) {
            let message = "the call has locked another place: a call locks one place alone";
            return Err(Error::new(ErrorCode::Nested, message));
        }
        self.check_writable()
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
    pub(super) fn retry<T>(&self, attempt: impl FnMut() -> Result<T, Failure>) -> Result<T, Error> {
        let timeout = self.own_timeout();
        let done = poll(timeout.at_the_head(), attempt);
        done.map_err(|failure| match failure.is_busy() {
            true => self.busy(timeout),
            false => self.report(failure),
        })
    }

    fn report(&self, failure: Failure) -> Error {
        failure.report(&self.location, &self.watch)
    }

    fn busy(&self, timeout: LockTimeout) -> Error {
        let location = &self.location;
        let message = match self.kind {
            DatabaseKind::Derived => format!("`{location}` is in use: try again"),
            DatabaseKind::Kept => format!(
                "another program kept `{location}` locked for the {:.1} s that this call waited: \
                 try again, or wait longer (`lock_wait`)",
                timeout.waited().as_secs_f64()
            ),
        };
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
