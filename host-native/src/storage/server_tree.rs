//! A place on a database server: its documents, its lock and its databases.

use super::database::Database;
use super::files_tree::Local;
use super::lock_key::LockKey;
use super::lock_timeout::LockTimeout;
use super::server::{DatabaseServer, ServerLabel};
use super::server_database::ServerDatabase;
use super::server_documents::ServerDocuments;
use super::server_lock::Locker;
use super::server_writer::ServerWriter;
use super::tree::{Locking, Tree, TreeBackend};
use super::writer::Writer;
use agent_memory_storage::database::Kind;
use agent_memory_storage::{CallKey, Documents, Error, ErrorCode, Place};
use std::sync::Arc;

/// A place on a server.
#[derive(Debug)]
pub(super) struct ServerTree {
    documents: ServerDocuments,
    key: LockKey,
    location: String,
    kept: Vec<String>,
    tables: Vec<String>,
    locker: Locker,
    server: Arc<DatabaseServer>,
    local: Arc<Local>,
}

impl ServerTree {
    /// Opens a place with one of the labels of a server. The first commit stores the idempotency key of
    /// the call, if it has one.
    ///
    /// # Errors
    ///
    /// `not-found`, `invalid-path`; `busy` if the server cannot be reached now; `permission`, `io`.
    pub fn open(
        server: &Arc<DatabaseServer>,
        local: &Arc<Local>,
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
            (true, name) if !server.server().has_place(label, name)? => {
                let message = format!("there is no place `{name}`");
                return Err(Error::new(ErrorCode::NotFound, message));
            }
            (true, _) => {}
        }
        let place = Place::in_group(label, name);
        let mut tree = server.server().tree(label, name);
        if let Some(key) = key {
            tree = tree.with_key(key.clone());
        }
        Ok(Tree::new(ServerTree {
            documents: ServerDocuments::new(tree.reader(), &of.databases),
            key: LockKey::Server(place.clone()),
            location: server.location(of, name),
            kept: of.databases.clone(),
            tables: of.tables.clone(),
            locker: server.locker(place, tree),
            server: server.clone(),
            local: local.clone(),
        }))
    }

    /// Opens a kept (not derived) database. The server is not asked.
    fn open_tables(&self, name: &str, create: bool) -> Result<Database, Error> {
        if self.tables.iter().any(|tables| tables == name) {
            return Ok(Database::new(ServerDatabase {
                tables: self.server.server().database(),
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
        self.local.databases.check_derived()?;
        let Place::Named { label, name: of_place } = &self.locker.place else {
            unreachable!("a repository is on this machine")
        };
        if !self.server.has_derived(name) {
            let message = format!(
                "the database server has no tables for the derived database `{}`",
                name.escape_debug()
            );
            return Err(Error::new(ErrorCode::NotGranted, message));
        }
        Ok(Database::new(ServerDatabase {
            tables: self.server.server().derived_database(label, of_place, name),
            lock: None,
            location: self.location.clone(),
        }))
    }
}

impl TreeBackend for ServerTree {
    fn documents(&self) -> &dyn Documents {
        &self.documents
    }

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
        let documents = self.documents.clone();
        Box::pin(async move {
            let lock = Arc::new(locking.await?);
            Ok(Writer::new(ServerWriter::new(lock, key, &documents)))
        })
    }

    fn open_database(&self, name: &str, kind: Kind, create: bool) -> Result<Database, Error> {
        if kind == Kind::Kept {
            return self.open_tables(name, create);
        }
        self.open_derived(name)
    }
}
