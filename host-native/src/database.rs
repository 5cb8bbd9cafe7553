//! A database server for the places of toolsets.

use crate::engine::Image;
use crate::storage::{DatabaseServer, Error, ServerLabel};
pub use agent_memory_storage_postgres::{DatabaseUrl, Migrated, UrlError};
use agent_memory_storage_postgres::{Options, Server};
use std::path::Path;
use std::time::Duration;

/// The default of [`DatabaseOptions::connections`].
pub const DEFAULT_CONNECTIONS: usize = 8;

/// How a host uses a database server.
#[derive(Clone, Debug)]
pub struct DatabaseOptions {
    url: DatabaseUrl,
    connections: usize,
    tenant: i64,
}

impl DatabaseOptions {
    /// The options for a database.
    pub fn new(url: DatabaseUrl) -> Self {
        DatabaseOptions { url, connections: DEFAULT_CONNECTIONS, tenant: 0 }
    }

    /// Sets the most connections: 8 by default, at least 2.
    #[must_use]
    pub fn with_connections(mut self, connections: usize) -> Self {
        self.connections = connections;
        self
    }

    /// Sets the number of the tenant, 0 by default. For tests: no caller is bound to a tenant yet.
    #[doc(hidden)]
    #[must_use]
    pub fn with_tenant(mut self, tenant: i64) -> Self {
        self.tenant = tenant;
        self
    }

    /// Makes the tables of agent memory in the database, or brings them to this version. Of several
    /// programs that do it at once, one does it. It makes the tables of all toolsets of the component,
    /// also of those that no server mounts.
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
        let tables: Vec<String> =
            databases.flat_map(|database| &database.postgres_tables).cloned().collect();
        self.server(STATEMENT_TIME)?.migrate(&tables)
    }

    /// Checks that the database answers, that it takes writes, and that its tables are of this version.
    ///
    /// # Errors
    ///
    /// Those of [`migrate`](Self::migrate); `read-only`.
    pub fn check(&self) -> Result<(), Error> {
        let server = self.server(STATEMENT_TIME)?;
        server.check()?;
        server.check_writable()
    }

    fn server(&self, statement_time: Duration) -> Result<Server, Error> {
        let DatabaseOptions { url, connections, tenant } = self.clone();
        Server::new(Options { url, connections, tenant, statement_time })
    }

    /// Opens the database after a check of its tables. The derived databases are below `data`, in a
    /// directory for each database and tenant.
    pub(crate) fn open(
        &self,
        data: Option<&Path>,
        labels: Vec<ServerLabel>,
        statement_time: Duration,
    ) -> Result<DatabaseServer, Error> {
        let server = self.server(statement_time)?;
        let checked = server.check()?;
        let own = format!("{}-{}", checked.database, self.tenant);
        let derived = data.map(|data| data.join("server").join(own));
        Ok(DatabaseServer::new(server, derived, labels))
    }
}

/// The maximum run time of a statement of a migration.
const STATEMENT_TIME: Duration = Duration::from_secs(60);
