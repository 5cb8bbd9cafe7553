//! A database server for the places of toolsets.

use crate::description::DatabaseDescription;
use crate::engine::Image;
use crate::storage::{DatabaseServer, Error, ServerLabel};
pub use agent_memory_storage_postgres::{DatabaseUrl, Migrated, RowSecurity, TenantName, UrlError};
use agent_memory_storage_postgres::{Options, Server, ToolsetTables};
use std::time::Duration;

/// The default of [`DatabaseOptions::connections`].
pub const DEFAULT_CONNECTIONS: usize = 8;

/// How a host uses a database server.
#[derive(Clone, Debug)]
pub struct DatabaseOptions {
    url: DatabaseUrl,
    connections: usize,
    tenant: i64,
    /// For tests: row-level security lets through the rows of this tenant instead of the rows of
    /// `tenant`.
    mistaken: Option<i64>,
}

impl DatabaseOptions {
    /// The options for a database.
    pub fn new(url: DatabaseUrl) -> Self {
        DatabaseOptions { url, connections: DEFAULT_CONNECTIONS, tenant: 0, mistaken: None }
    }

    /// Sets the maximum number of connections: 8 by default, at least 2.
    #[must_use]
    pub fn with_connections(mut self, connections: usize) -> Self {
        self.connections = connections;
        self
    }

    /// For tests: sets the number of the tenant, 0 by default. Programs choose a tenant by its name,
    /// with [`AgentMemory::for_tenant`](crate::AgentMemory::for_tenant).
    #[doc(hidden)]
    #[must_use]
    pub fn with_tenant(mut self, tenant: i64) -> Self {
        self.tenant = tenant;
        self
    }

    /// For tests of row-level security: it lets through the rows of this tenant, although the
    /// statements ask for another one.
    #[doc(hidden)]
    #[must_use]
    pub fn with_mistaken_tenant(mut self, let_through: i64) -> Self {
        self.mistaken = Some(let_through);
        self
    }

    /// Creates the tables of agent memory in the database, or updates them to this version. If several
    /// programs do it at once, one does it and the others wait, for 30 s at most. It creates the tables of
    /// all toolsets of the component, also of those that no server mounts.
    ///
    /// # Errors
    ///
    /// `busy` if the database cannot be reached now; `permission`; `io` if a later version made the
    /// tables. The message says what to do.
    pub fn migrate(&self) -> Result<Migrated, Error> {
        let image = Image::embedded();
        let description = image.description();
        let description = description.expect("an image is described when it is compiled");
        let places = description.toolsets.iter().flat_map(|toolset| &toolset.places);
        let databases = places.flat_map(|place| &place.databases);
        let derived = description.derived_databases.iter();
        self.server(STATEMENT_TIME)?.migrate(&ToolsetTables {
            kept: databases.flat_map(DatabaseDescription::tables).collect(),
            derived: derived.flat_map(DatabaseDescription::tables).collect(),
        })
    }

    /// Checks that the database answers, that it takes writes, and that its tables are of this version.
    ///
    /// # Errors
    ///
    /// Those of [`migrate`](Self::migrate); `read-only`.
    pub fn check(&self) -> Result<(), Error> {
        self.checked()?.check_writable()
    }

    /// Creates a tenant. Servers that use the database can serve it at once.
    ///
    /// # Errors
    ///
    /// `already-exists` if a tenant has the name, also in another case; those of
    /// [`check`](Self::check).
    pub fn create_tenant(&self, name: &str) -> Result<(), Error> {
        self.checked()?.create_tenant(name).map(drop)
    }

    /// All tenants, in the order of their creation. The tenant 0, which has no name, is not among them.
    ///
    /// # Errors
    ///
    /// Those of [`migrate`](Self::migrate).
    pub fn tenants(&self) -> Result<Vec<TenantName>, Error> {
        self.checked()?.tenants()
    }

    /// Whether row-level security of the database keeps tenants apart, in addition to the conditions in
    /// the statements.
    ///
    /// # Errors
    ///
    /// Those of [`migrate`](Self::migrate).
    pub fn row_security(&self) -> Result<RowSecurity, Error> {
        self.checked()?.row_security()
    }

    fn checked(&self) -> Result<Server, Error> {
        let server = self.server(STATEMENT_TIME)?;
        server.check()?;
        Ok(server)
    }

    fn server(&self, statement_time: Duration) -> Result<Server, Error> {
        let DatabaseOptions { url, connections, tenant, mistaken } = self.clone();
        let server = Server::new(Options { url, connections, tenant, statement_time })?;
        Ok(match mistaken {
            Some(let_through) => server.mistaken(let_through),
            None => server,
        })
    }

    /// Opens the database after a check of its tables. `labels` are the places in it, and `derived` the
    /// names of its derived databases.
    pub(crate) fn open(
        &self,
        labels: Vec<ServerLabel>,
        derived: Vec<String>,
        statement_time: Duration,
    ) -> Result<DatabaseServer, Error> {
        let server = self.server(statement_time)?;
        server.check()?;
        Ok(DatabaseServer::new(server, labels, derived))
    }
}

/// The maximum run time of a statement here, and of the wait for another program's migration.
const STATEMENT_TIME: Duration = Duration::from_secs(30);
