//! The storages of tenants. They share one database, in which each tenant has its own rows.

use super::{DatabaseServer, Error, ErrorCode, Places, Shared, Storage};
#[cfg(feature = "http")]
use agent_memory_storage_postgres::RowSecurity;
use std::sync::{Arc, OnceLock};

/// The error message for a place that is not in the database.
const MISSING: &str = "there is no such place for this tenant: a tenant has what is in the database, and \
                       repositories that its token names";

impl Storage {
    /// The storage of a tenant. It has the tenant's places in the database and the repositories of this
    /// storage. It has no other places on the disk of this machine, which are not divided by tenants.
    ///
    /// # Errors
    ///
    /// `not-granted` without a database.
    pub(crate) fn for_tenant(&self, number: i64) -> Result<Storage, Error> {
        let server = Arc::new(self.server()?.for_tenant(number));
        let Shared { options, places, local, .. } = &*self.0;
        Ok(Storage(Arc::new(Shared {
            options: options.clone(),
            places: Places::of_repositories(places, MISSING),
            local: local.clone(),
            server: OnceLock::from(server),
        })))
    }

    /// The number of the tenant with a name.
    ///
    /// # Errors
    ///
    /// `not-found` if there is no such tenant; `not-granted` without a database; `busy` if the database
    /// cannot be reached now; `permission`, `io`.
    pub(crate) fn find_tenant(&self, name: &str) -> Result<i64, Error> {
        self.server()?.server().find_tenant(name)?.ok_or_else(|| {
            let message = format!(
                "there is no tenant `{name}` in the database: make it with `agent-memory database \
                 tenant create {name}`"
            );
            Error::new(ErrorCode::NotFound, message)
        })
    }

    /// Whether row-level security of the database keeps tenants apart, in addition to the conditions in
    /// the statements.
    ///
    /// # Errors
    ///
    /// Those of [`find_tenant`](Storage::find_tenant).
    #[cfg(feature = "http")]
    pub(crate) fn row_security(&self) -> Result<RowSecurity, Error> {
        self.server()?.server().row_security()
    }

    fn server(&self) -> Result<&Arc<DatabaseServer>, Error> {
        self.0.server.get().ok_or_else(|| {
            let message =
                "tenants are in a database, and this server has none: give it one (`database_url`)";
            Error::new(ErrorCode::NotGranted, message)
        })
    }
}
