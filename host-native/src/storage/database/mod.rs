//! SQL databases: one SQLite file each, with one writer at a time over threads, processes and
//! hosts.
//!
//! A writer of a database that is kept takes the [lock](super::lock) of its place first; then
//! SQLite's own lock, which programs that know nothing of the first may hold. Connections stay open
//! between calls, with the statements that they have prepared. Everything but
//! [`begin`](Database::begin) blocks on the file system.

mod authoriser;
mod connection;
mod failure;
mod statement;
#[cfg(test)]
mod tests;
mod transaction;
mod unwritable;

pub use transaction::Transaction;

use super::lock::LockDirectory;
use super::tree::Base;
use super::{Error, ErrorCode, LockTimeout, Tree, Writer, path};
pub(super) use connection::Idle;
use connection::{Link, Watch};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The longest answer of a query and the longest parameters of a statement, in bytes: 16 MiB.
pub const MAX_ROWS_BYTES: usize = 16 * 1024 * 1024;

/// What a column holds, or a parameter brings.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Nothing.
    Null,
    /// A whole number.
    Integer(i64),
    /// A number; NaN is stored as null.
    Real(f64),
    /// Text.
    Text(String),
    /// Bytes.
    Blob(Vec<u8>),
}

/// One statement with its parameters, for `?1`, `?2`, ...
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// SQL.
    pub sql: String,
    /// As many as the statement has.
    pub parameters: Vec<Value>,
}

/// What a query answers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rows {
    /// Their names.
    pub columns: Vec<String>,
    /// A value for each column.
    pub rows: Vec<Vec<Value>>,
    /// Whether there were more rows than were asked for.
    pub truncated: bool,
}

/// What a statement did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effect {
    /// The rows that it inserted, changed or deleted, without what triggers did.
    pub changes: u64,
    /// The row id of the transaction's last insert; 0 before the first.
    pub last_insert_id: i64,
}

/// Whether a transaction may change anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// One unchanging view of the data.
    Read,
    /// The only writer, from the start.
    Write,
}

/// What a database is to its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DatabaseKind {
    /// What it holds is kept nowhere else. Its writers hold the lock of its place.
    Kept,
    /// It can be made anew from documents. It stands beside the lock of its place, and anybody may
    /// delete it. No lock is taken but SQLite's own, and that is not waited for; nothing is synced.
    Derived,
}

/// An open database: a connection that nobody else uses meanwhile. A clone is the same one.
#[derive(Clone, Debug)]
pub struct Database(Arc<Session>);

#[derive(Debug)]
struct Session {
    tree: Tree,
    kind: DatabaseKind,
    /// The directory that it is in.
    base: Base,
    /// The name of its file.
    name: String,
    path: PathBuf,
    /// As a person names the file.
    location: String,
    /// Ends statements of `link`.
    watch: Arc<Watch>,
    /// None after it had to be closed, until it is needed again.
    link: Mutex<Option<Link>>,
}

/// Where derived databases are in a lock directory.
const DERIVED: &str = "derived";

impl Tree {
    /// Opens a database of the tree's place; creates it where it is missing and `create` is set.
    ///
    /// # Errors
    ///
    /// `not-granted` for one to be kept that the place does not have; `not-found`; `read-only` where
    /// it cannot be created; `invalid-path` where something else stands in its place, and where the
    /// name of a derived one is not a path segment of `[a-z0-9][a-z0-9._-]*`; `busy` for a derived
    /// one; `permission`, `io`.
    pub fn open_database(
        &self,
        name: &str,
        kind: DatabaseKind,
        create: bool,
    ) -> Result<Database, Error> {
        if let Some(database) = self.reopen_database(name, kind)? {
            return Ok(database);
        }
        let session = self.session(name, kind)?;
        let link = session.connect(create)?;
        Ok(session.with(link))
    }

    /// An idle connection; none where there is none.
    fn reopen_database(&self, name: &str, kind: DatabaseKind) -> Result<Option<Database>, Error> {
        let session = self.session(name, kind)?;
        let link = self.0.storage.databases.take(&session.path);
        Ok(link.map(|link| session.with(link)))
    }

    fn session(&self, name: &str, kind: DatabaseKind) -> Result<Session, Error> {
        let tree = self.location().trim_end_matches('/');
        let (base, path, location) = match (kind, &self.0.named) {
            (DatabaseKind::Kept, Some(place)) if place.databases.iter().any(|own| own == name) => {
                (self.0.documents.clone(), place.path.join(name), format!("{tree}/{name}"))
            }
            (DatabaseKind::Kept, _) => {
                let message = format!(
                    "the database `{}` is not granted: none of this name is kept in `{tree}`",
                    name.escape_debug()
                );
                return Err(Error::new(ErrorCode::NotGranted, message));
            }
            (DatabaseKind::Derived, _) => {
                check_derived(name)?;
                let lock = &self.0.lock;
                // The lock directory of a repository may be where no caller was granted anything.
                let location = format!("{tree}: {DERIVED}/{name}");
                (lock.base.below(&[DERIVED]), lock.path.join(DERIVED).join(name), location)
            }
        };
        let watch = Arc::new(Watch::new(self.0.storage.options.statement_time));
        let (tree, name, link) = (self.clone(), name.to_owned(), Mutex::new(None));
        Ok(Session { tree, kind, base, name, path, location, watch, link })
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

impl Database {
    /// Runs one statement that reads, outside a transaction, and gives at most `max_rows` rows.
    ///
    /// # Errors
    ///
    /// `nested` during a transaction; `read-only` for a statement that changes something;
    /// `not-granted` for one that is [refused](self) in any place; `too-large` beyond
    /// [`MAX_ROWS_BYTES`]; `busy`, `cancelled`, `io`.
    pub fn query(&self, statement: &Statement, max_rows: u32) -> Result<Rows, Error> {
        let link = self.0.link()?;
        if link.is_in_transaction() {
            return Err(nested());
        }
        self.0.retry(|| statement::query(&link, statement, max_rows, Mode::Read))
    }

    /// Begins a transaction, of which there is at most one at a time.
    ///
    /// To write to a database that is kept, takes the last place in the queue for the lock of its
    /// place, now, and waits for that lock and for SQLite's own when polled; dropping the future
    /// gives up the wait. Under a `writer` of that place it shares the lock, which then ends with
    /// the last of the two.
    ///
    /// # Errors
    ///
    /// `nested`, also under a writer of another place; `busy` where the timeout passes; `read-only`;
    /// `no-space`, `io`.
    ///
    /// # Panics
    ///
    /// When polled outside a tokio runtime with time.
    pub fn begin(
        &self,
        mode: Mode,
        writer: Option<&Writer>,
        timeout: LockTimeout,
    ) -> impl Future<Output = Result<Transaction, Error>> + Send + use<> {
        Transaction::begin(self.clone(), mode, writer, timeout)
    }

    /// The lock that its writers hold, as [`Tree::lock_key`]; none for a derived database.
    pub fn lock_key(&self) -> Option<&Path> {
        self.0.lock().map(|lock| &*lock.path)
    }

    /// Whether a transaction that writes can be begun at all.
    ///
    /// # Errors
    ///
    /// `read-only`.
    pub fn check_writable(&self) -> Result<(), Error> {
        self.0.check_writable()
    }

    /// Where it is, for messages only.
    pub fn location(&self) -> &str {
        &self.0.location
    }

    /// Ends the statement that runs now, if any, and every later one: nobody waits for them. A
    /// commit goes on to its end.
    pub fn give_up(&self) {
        self.0.watch.give_up();
    }
}

impl Session {
    fn lock(&self) -> Option<&Arc<LockDirectory>> {
        (self.kind == DatabaseKind::Kept).then_some(&self.tree.0.lock)
    }

    /// How long others are waited for where the call is ready to wait so long.
    fn timeout(&self, given: LockTimeout) -> LockTimeout {
        match self.kind {
            DatabaseKind::Kept => given,
            DatabaseKind::Derived => LockTimeout::new(Duration::ZERO),
        }
    }

    fn own_timeout(&self) -> LockTimeout {
        self.timeout(LockTimeout::new(self.tree.0.storage.options.lock_wait))
    }

    fn with(mut self, link: Link) -> Database {
        self.watch = link.watch().clone();
        self.link = Mutex::new(Some(link));
        Database(Arc::new(self))
    }

    /// The connection, opened anew where it had to be closed.
    fn link(&self) -> Result<Open<'_>, Error> {
        let mut link = self.link.lock().unwrap_or_else(PoisonError::into_inner);
        if link.is_none() {
            *link = Some(self.connect(false)?);
        }
        Ok(Open(link))
    }

    /// The connection, if it is open.
    fn open_link(&self) -> Option<Open<'_>> {
        let link = self.link.lock().unwrap_or_else(PoisonError::into_inner);
        link.is_some().then(|| Open(link))
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let link = self.link.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(link) = link {
            let path = std::mem::take(&mut self.path);
            self.tree.0.storage.databases.give_back(path, link);
        }
    }
}

/// The one connection of a session, in use.
struct Open<'a>(MutexGuard<'a, Option<Link>>);

impl Open<'_> {
    /// Closes the connection, with whatever goes on on it.
    fn close(mut self) {
        *self.0 = None;
    }
}

impl std::ops::Deref for Open<'_> {
    type Target = Link;

    fn deref(&self) -> &Link {
        self.0.as_ref().expect("closed only with this")
    }
}

fn nested() -> Error {
    let message = "the call has a transaction already: a call takes one at a time";
    Error::new(ErrorCode::Nested, message)
}
