//! A database server, and the places on it.

use super::server_lock::{Locker, ScopeQueues};
use agent_memory_storage::{Error, ErrorCode, Place};
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
    queues: Arc<ScopeQueues>,
}

/// The places with one label: one place, or the places of a family.
#[derive(Clone, Debug)]
pub(crate) struct ServerLabel {
    pub label: String,
    /// Whether the label is that of a family, whose places have names.
    pub is_family: bool,
    /// The names of the kept (not derived) databases of each place.
    pub databases: Vec<String>,
    /// The names of those kept databases that are tables on the server.
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

    /// Makes the [`Locker`] of a place, which waits in the queues of this process.
    pub(super) fn locker(&self, place: Place, tree: postgres::Tree) -> Locker {
        Locker { queues: self.queues.clone(), place, tree }
    }

    /// Whether the server has the tables of a derived database.
    pub(super) fn has_derived(&self, name: &str) -> bool {
        self.derived.iter().any(|derived| derived == name)
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
