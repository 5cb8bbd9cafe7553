//! The places on a database server: their documents, their databases and locks.

use super::backend::{Backend, Locking, Tree};
use super::database::Database;
use super::lock_key::LockKey;
use super::server_database::ServerDatabase;
use super::server_lock::{Locker, Queues, ServerLock};
use super::timeout::LockTimeout;
use super::tree::Engine;
use super::writer::{Writer, WriterBackend, WriterLock};
use agent_memory_storage::database::Kind;
use agent_memory_storage::{
    Area, CallKey, Change, CommitError, Document, Documents, Entry, Error, ErrorCode, Place, Status,
};
use agent_memory_storage_postgres::{self as postgres, Server};
use std::sync::Arc;

/// The prefix of the location of a place on a server.
const LOCATION: &str = "postgresql:";

/// The database server of a storage, with the places that it has.
#[derive(Debug)]
pub(crate) struct DatabaseServer {
    server: Server,
    /// The labels whose places the server has.
    labels: Vec<ServerLabel>,
    /// The names of the derived databases whose tables the server has.
    derived: Vec<String>,
    queues: Arc<Queues>,
}

/// The places with one label.
#[derive(Clone, Debug)]
pub(crate) struct ServerLabel {
    pub label: String,
    /// Whether the label is that of a family, whose places have names.
    pub is_family: bool,
    /// The names of the kept databases of each place.
    pub databases: Vec<String>,
    /// The names of the kept databases that are tables on the server.
    pub tables: Vec<String>,
}

impl DatabaseServer {
    pub fn new(server: Server, labels: Vec<ServerLabel>, derived: Vec<String>) -> Self {
        DatabaseServer { server, labels, derived, queues: Arc::default() }
    }

    /// The same database server with the places of another tenant.
    pub(super) fn for_tenant(&self, number: i64) -> Self {
        let DatabaseServer { server, labels, derived, .. } = self;
        DatabaseServer::new(server.for_tenant(number), labels.clone(), derived.clone())
    }

    pub(super) fn server(&self) -> &Server {
        &self.server
    }

    /// The entry of a label. `None` if its places are not on the server.
    pub fn label(&self, label: &str) -> Option<&ServerLabel> {
        self.labels.iter().find(|of| of.label == label)
    }

    /// Opens a place with one of the labels. The first commit in it stores the key of the call, if the
    /// call has one.
    ///
    /// # Errors
    ///
    /// `not-found`, `invalid-path`; `busy` if the server cannot be reached now; `permission`, `io`.
    pub(super) fn open(
        self: &Arc<Self>,
        engine: &Arc<Engine>,
        of: &ServerLabel,
        name: &str,
        key: Option<&Arc<CallKey>>,
    ) -> Result<Tree, Error> {
        let label = &of.label;
        match (of.is_family, name) {
            (true, "") => {
                let message = format!("`{label}` has several places: give the name of one");
                return Err(Error::new(ErrorCode::InvalidPath, message));
            }
            (false, "") => {}
            (false, _) => {
                let message = format!("the place `{label}` has no name: leave it empty");
                return Err(Error::new(ErrorCode::InvalidPath, message));
            }
            (true, name) if !self.server.has_place(label, name)? => {
                let message = format!("there is no place `{name}`");
                return Err(Error::new(ErrorCode::NotFound, message));
            }
            (true, _) => {}
        }
        let place = Place::in_group(label, name);
        let mut tree = self.server.tree(label, name);
        if let Some(key) = key {
            tree = tree.with_key(key.clone());
        }
        Ok(Tree::new(ServerTree {
            reader: tree.reader(),
            key: LockKey::Server(place.clone()),
            location: self.location(of, name),
            kept: of.databases.clone(),
            tables: of.tables.clone(),
            locker: Locker { queues: self.queues.clone(), place, tree },
            server: self.clone(),
            engine: engine.clone(),
        }))
    }

    /// The name of a place for people.
    pub fn location(&self, of: &ServerLabel, name: &str) -> String {
        match name {
            "" => format!("{LOCATION}{}", of.label),
            _ => format!("{LOCATION}{}/{name}", of.label),
        }
    }

    /// The names of the places with a label.
    ///
    /// # Errors
    ///
    /// `busy` if the server cannot be reached now; `permission`, `io`.
    pub fn names(&self, of: &ServerLabel) -> Result<Vec<String>, Error> {
        if of.is_family { self.server.places(&of.label) } else { Ok(vec![String::new()]) }
    }

    /// Creates a place.
    ///
    /// # Errors
    ///
    /// `already-exists`, `invalid-path`; `not-granted` if the label is not that of a family; those of
    /// [`names`](Self::names).
    pub fn create(&self, of: &ServerLabel, name: &str) -> Result<(), Error> {
        if of.is_family {
            return self.server.create_place(&of.label, name);
        }
        let message = format!("the place `{}` is not created here: it has one place", of.label);
        Err(Error::new(ErrorCode::NotGranted, message))
    }

    /// Checks that the server takes writes.
    ///
    /// # Errors
    ///
    /// `read-only`; those of [`names`](Self::names).
    #[cfg(feature = "http")]
    pub fn check_writable(&self) -> Result<(), Error> {
        self.server.check_writable()
    }
}

/// A place on a server.
#[derive(Debug)]
struct ServerTree {
    reader: postgres::Reader,
    key: LockKey,
    location: String,
    kept: Vec<String>,
    tables: Vec<String>,
    locker: Locker,
    server: Arc<DatabaseServer>,
    engine: Arc<Engine>,
}

impl ServerTree {
    /// Opens a kept database. The server is not asked.
    fn open_tables(&self, name: &str, create: bool) -> Result<Database, Error> {
        if self.tables.iter().any(|tables| tables == name) {
            return Ok(Database::new(ServerDatabase {
                tables: self.server.server.database(),
                lock: Some((self.locker.clone(), self.key.clone())),
                location: self.location.clone(),
            }));
        }
        if !create && self.kept.iter().any(|kept| kept == name) {
            let message = format!("there is no database `{name}` on the server");
            return Err(Error::new(ErrorCode::NotFound, message));
        }
        let message = format!(
            "the database `{}` cannot be kept on a database server, which has no tables for \
             it: choose a format of documents, such as `json`",
            name.escape_debug()
        );
        Err(Error::new(ErrorCode::NotGranted, message))
    }

    /// Opens a derived database. The server is not asked: its tables exist even if the place has no rows.
    fn open_derived(&self, name: &str) -> Result<Database, Error> {
        self.engine.databases.check_derived()?;
        let Place::Named { label, name: of_place } = &self.locker.place else {
            unreachable!("a repository is on this machine")
        };
        if !self.server.derived.iter().any(|derived| derived == name) {
            let message = format!(
                "the database server has no tables for the derived database `{}`",
                name.escape_debug()
            );
            return Err(Error::new(ErrorCode::NotGranted, message));
        }
        Ok(Database::new(ServerDatabase {
            tables: self.server.server.derived_database(label, of_place, name),
            lock: None,
            location: self.location.clone(),
        }))
    }

    /// Refuses names that a place in files reserves for databases and locks, so that all media refuse the
    /// same names.
    fn check_own(&self, area: Area, path: &str) -> Result<(), Error> {
        is_own(&self.kept, area, path).map_or(Ok(()), Err)
    }
}

fn is_own(kept: &[String], area: Area, path: &str) -> Option<Error> {
    let first = path.split('/').next().unwrap_or_default().to_ascii_lowercase();
    let is_own = agent_memory_storage_files::reserved_names(kept).contains(&first);
    (is_own && area == Area::Documents).then(|| {
        let message = format!("`{path}` leads to what the host keeps for itself");
        Error::new(ErrorCode::InvalidPath, message)
    })
}

impl Backend for ServerTree {
    fn location(&self) -> &str {
        &self.location
    }

    fn lock_key(&self) -> &LockKey {
        &self.key
    }

    fn has_atomic_commits(&self) -> bool {
        true
    }

    fn lock(&self, scope: Option<&str>, timeout: LockTimeout) -> Locking {
        let locking = self.locker.lock(scope, timeout);
        let key = self.key.clone();
        let kept = self.kept.clone();
        Box::pin(async move {
            let lock = Arc::new(locking.await?);
            let reader = lock.lock.reader();
            Ok(Writer::new(ServerWriter { lock, reader, key, kept }))
        })
    }

    fn open_database(&self, name: &str, kind: Kind, create: bool) -> Result<Database, Error> {
        if kind == Kind::Kept {
            return self.open_tables(name, create);
        }
        self.open_derived(name)
    }
}

impl Documents for ServerTree {
    fn stat(&self, area: Area, path: &str) -> Result<Option<Status>, Error> {
        self.check_own(area, path)?;
        self.reader.stat(area, path)
    }

    fn read(&self, area: Area, path: &str, max_bytes: u64) -> Result<Option<Document>, Error> {
        self.check_own(area, path)?;
        self.reader.read(area, path, max_bytes)
    }

    fn list(&self, area: Area, directory: &str) -> Result<Option<Vec<Entry>>, Error> {
        self.check_own(area, directory)?;
        self.reader.list(area, directory)
    }
}

/// The right to change a place on a server, or one of its scopes.
#[derive(Debug)]
struct ServerWriter {
    lock: Arc<ServerLock>,
    reader: postgres::Reader,
    key: LockKey,
    kept: Vec<String>,
}

impl WriterBackend for ServerWriter {
    fn lock_key(&self) -> &LockKey {
        &self.key
    }

    fn lock(&self) -> WriterLock {
        WriterLock::Server(self.lock.clone())
    }

    fn commit(&self, changes: &[Change]) -> Result<Vec<Option<String>>, CommitError> {
        self.commit_and_cache(changes.to_vec())
    }

    fn commit_and_cache(&self, changes: Vec<Change>) -> Result<Vec<Option<String>>, CommitError> {
        for (index, change) in changes.iter().enumerate() {
            let own = [change.path(), change.checked_path()];
            let own = own.iter().find_map(|path| is_own(&self.kept, change.area(), path));
            if let Some(error) = own {
                return Err(CommitError { error, change: Some(index as u32), applied: 0 });
            }
        }
        self.lock.lock.commit(changes)
    }
}

impl Documents for ServerWriter {
    fn stat(&self, area: Area, path: &str) -> Result<Option<Status>, Error> {
        is_own(&self.kept, area, path).map_or(Ok(()), Err)?;
        self.reader.stat(area, path)
    }

    fn read(&self, area: Area, path: &str, max_bytes: u64) -> Result<Option<Document>, Error> {
        is_own(&self.kept, area, path).map_or(Ok(()), Err)?;
        self.reader.read(area, path, max_bytes)
    }

    fn list(&self, area: Area, directory: &str) -> Result<Option<Vec<Entry>>, Error> {
        is_own(&self.kept, area, directory).map_or(Ok(()), Err)?;
        self.reader.list(area, directory)
    }
}
