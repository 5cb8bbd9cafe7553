//! SQL databases on a file system: one SQLite file each.
//!
//! It never waits for the lock of a place: a caller that writes to a kept database brings that lock
//! along. SQLite's own lock, which other programs may hold, is asked for once by
//! [`try_begin`](Database::try_begin), and for up to [`Options::busy_wait`] by everything else.
//! Connections stay open between calls, with the statements that they have prepared. All functions
//! block on the file system.

mod authoriser;
mod connection;
mod error;
mod interrupt;
mod statement;
#[cfg(test)]
mod tests;
mod transaction;
mod unwritable;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use agent_memory_storage::database::{Kind, Mode, Rows, Statement};
use agent_memory_storage::{Area, Error, ErrorCode};
use agent_memory_storage_files::{Base, Durability, Layout, path};

use self::connection::Connection;
pub use self::connection::IdleConnections;
use self::interrupt::Interrupt;
pub use self::transaction::{Held, Transaction};

/// The longest answer of a query and the longest parameters of a statement, in bytes: 16 MiB.
pub const MAX_ROWS_BYTES: usize = 16 * 1024 * 1024;

/// The directory of derived databases in a lock directory.
const DERIVED: &str = "derived";

/// How databases work.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// What an acknowledged commit survives.
    pub durability: Durability,
    /// How long one SQL statement runs before it is interrupted.
    pub statement_time: Duration,
    /// How long a statement or a commit waits for a lock of another program.
    pub busy_wait: Duration,
}

/// An open database: a connection that nobody else uses meanwhile. A clone is the same one.
#[derive(Clone, Debug)]
pub struct Database(Arc<Session>);

#[derive(Debug)]
struct Session {
    layout: Layout,
    options: Options,
    idle: Arc<IdleConnections>,
    kind: Kind,
    /// The directory that it is in.
    base: Base,
    /// The name of its file.
    name: String,
    path: PathBuf,
    /// For messages: its file as a person names it.
    location: String,
    interrupt: Arc<Interrupt>,
    /// None after it had to be closed, until it is needed again.
    connection: Mutex<Option<Connection>>,
}

impl Database {
    /// Opens a database of a place; creates it where it is missing and `create` is set.
    ///
    /// A kept database is a file in `directory`, which the caller grants; a derived one is beside
    /// the lock.
    ///
    /// # Errors
    ///
    /// `not-found`; `read-only` where it cannot be created; `invalid-path` where something else
    /// stands in its place, and where the name of a derived one is not a path segment of
    /// `[a-z0-9][a-z0-9._-]*`; `busy` for a derived one; `permission`, `io`.
    pub fn open(
        layout: &Layout,
        name: &str,
        kind: Kind,
        create: bool,
        options: Options,
        idle: &Arc<IdleConnections>,
    ) -> Result<Self, Error> {
        let session = Session::new(layout, name, kind, options, idle)?;
        let connection = match idle.take(&session.path) {
            Some(connection) => connection,
            None => session.connect(create)?,
        };
        Ok(session.with(connection))
    }

    /// Runs one statement that reads, outside a transaction, and gives at most `max_rows` rows.
    ///
    /// # Errors
    ///
    /// `nested` during a transaction; `read-only` for a statement that changes something;
    /// `not-granted` for one that no call may run; `too-large` beyond [`MAX_ROWS_BYTES`]; `busy`,
    /// `cancelled`, `io`.
    pub fn query(&self, statement: &Statement, max_rows: u32) -> Result<Rows, Error> {
        let connection = self.0.connection()?;
        if connection.is_in_transaction() {
            return Err(nested());
        }
        self.0.retry(|| statement::query(&connection, statement, max_rows, Mode::Read))
    }

    /// Begins a transaction, of which there is at most one at a time; none where another program
    /// has the database locked.
    ///
    /// A transaction that writes to a kept database keeps the lock of its place, `held`, until it
    /// ends. The first write to a new database needs
    /// [`create_journal`](Database::create_journal) before.
    ///
    /// # Errors
    ///
    /// `nested`; `read-only`; `no-space`, `io`.
    pub fn try_begin(
        &self,
        mode: Mode<'_>,
        held: Option<Held>,
    ) -> Result<Option<Transaction>, Error> {
        Transaction::try_begin(self, mode, held)
    }

    /// Whether nothing was ever written to it.
    ///
    /// # Errors
    ///
    /// `busy`, `io`.
    pub fn is_new(&self) -> Result<bool, Error> {
        self.0.is_new()
    }

    /// Sets the journal mode of a new database, before its first page; waits for other programs
    /// until the given time. The journal mode of an existing database stays as it is.
    ///
    /// # Errors
    ///
    /// `busy`, `io`.
    pub fn create_journal(&self, until: Instant) -> Result<(), Error> {
        self.0.create_journal(until)
    }

    /// Whether a transaction that writes can be begun at all.
    ///
    /// # Errors
    ///
    /// `read-only`; `nested` during a transaction.
    pub fn check_writable(&self) -> Result<(), Error> {
        self.0.check_writable()
    }

    /// How it belongs to its place.
    pub fn kind(&self) -> Kind {
        self.0.kind
    }

    /// Where the parts of its place are.
    pub fn layout(&self) -> &Layout {
        &self.0.layout
    }

    /// Where it is, for messages only.
    pub fn location(&self) -> &str {
        &self.0.location
    }

    /// The error where other programs kept it locked for so long.
    pub fn busy(&self, waited: Duration) -> Error {
        self.0.busy(waited)
    }

    /// Ends the statement that runs now, if any, and every later one: nobody waits for them. A
    /// commit goes on to its end.
    pub fn give_up(&self) {
        self.0.interrupt.give_up();
    }
}

impl Session {
    fn new(
        layout: &Layout,
        name: &str,
        kind: Kind,
        options: Options,
        idle: &Arc<IdleConnections>,
    ) -> Result<Self, Error> {
        let place = layout.location().trim_end_matches('/');
        let (base, path, location) = match kind {
            Kind::Kept => {
                (layout.area(Area::Documents), layout.path(name), format!("{place}/{name}"))
            }
            Kind::Derived => {
                check_derived(name)?;
                // The lock directory of a repository may be where no caller was granted anything.
                let location = format!("{place}: {DERIVED}/{name}");
                let path = layout.lock_path().join(DERIVED).join(name);
                (layout.lock().below(&[DERIVED]), path, location)
            }
        };
        Ok(Session {
            layout: layout.clone(),
            options,
            idle: idle.clone(),
            kind,
            base,
            name: name.to_owned(),
            path,
            location,
            interrupt: Arc::new(Interrupt::new(options.statement_time)),
            connection: Mutex::new(None),
        })
    }

    fn with(mut self, connection: Connection) -> Database {
        self.interrupt = connection.interrupt().clone();
        self.connection = Mutex::new(Some(connection));
        Database(Arc::new(self))
    }

    /// Until when other programs are waited for from now on.
    fn busy_deadline(&self) -> Instant {
        match self.kind {
            Kind::Kept => Instant::now() + self.options.busy_wait,
            Kind::Derived => Instant::now(),
        }
    }

    /// The connection, opened anew where it had to be closed.
    fn connection(&self) -> Result<Open<'_>, Error> {
        let mut connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        if connection.is_none() {
            *connection = Some(self.connect(false)?);
        }
        Ok(Open(connection))
    }

    /// The connection, if it is open.
    fn open_connection(&self) -> Option<Open<'_>> {
        let connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        connection.is_some().then(|| Open(connection))
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let connection = self.connection.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(connection) = connection {
            let path = std::mem::take(&mut self.path);
            self.idle.give_back(path, connection);
        }
    }
}

/// The one connection of a session, in use.
struct Open<'a>(MutexGuard<'a, Option<Connection>>);

impl Open<'_> {
    /// Closes the connection, with whatever goes on on it.
    fn close(mut self) {
        *self.0 = None;
    }
}

impl std::ops::Deref for Open<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.0.as_ref().expect("closed only with this")
    }
}

fn check_derived(name: &str) -> Result<(), Error> {
    path::document(name)?;
    let is_first = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let is_later = |byte: u8| is_first(byte) || b"._-".contains(&byte);
    if is_first(name.as_bytes()[0]) && name.bytes().all(is_later) {
        return Ok(());
    }
    Err(Error::new(
        ErrorCode::InvalidPath,
        format!(
            "`{name}` cannot name a derived database: begin with one of `a-z0-9`, and go on with \
             any of `a-z0-9._-`"
        ),
    ))
}

fn nested() -> Error {
    let message = "the call has a transaction already: a call takes one at a time";
    Error::new(ErrorCode::Nested, message)
}
