//! The memories of tenants: each tenant of the database server has one.

use super::AgentMemory;
use super::own::Own;
use super::places::on_a_blocking_thread;
use crate::caller::Caller;
use crate::storage::{self, Storage};
use std::sync::Arc;

impl AgentMemory {
    /// Returns the memory of a tenant of the [database](crate::database). No other tenant can read or
    /// change its data. It has the toolsets, models and settings of this memory, but no data of the
    /// tenant 0, to which this memory belongs. Of the places on the disk of this machine, it has only
    /// the repositories.
    ///
    /// The first call for a tenant also begins to carry out the follow-ups that wait in its storage, as
    /// [`resume`](AgentMemory::resume) does.
    ///
    /// # Errors
    ///
    /// `not-found` if there is no such tenant; `not-granted` without a database; `busy` if the database
    /// cannot be reached now; `permission`, `io`.
    ///
    /// # Panics
    ///
    /// As [`call`](AgentMemory::call).
    pub async fn for_tenant(&self, name: &str) -> Result<AgentMemory, storage::Error> {
        if let Some(known) = self.mounted.tenants.find(name) {
            return Ok(self.with(known));
        }
        let storage = self.own.storage.clone();
        let wanted = name.to_owned();
        let storage = on_a_blocking_thread(move || storage_of(&storage, &wanted)).await?;
        let (own, is_new) =
            self.mounted.tenants.add(name, || Own::new(storage, self.own.in_progress.beside()));
        let memory = self.with(own);
        if is_new {
            memory.resume(Caller::default());
        }
        Ok(memory)
    }

    /// Logs a warning if tenants cannot be served, or if row-level security does not keep them apart.
    #[cfg(feature = "http")]
    pub(crate) async fn warn_of_tenants(&self) {
        let storage = self.own.storage.clone();
        match on_a_blocking_thread(move || warning(&storage)).await {
            Ok(None) => {}
            Ok(Some(warning)) => tracing::warn!("{warning}"),
            Err(error) => tracing::warn!("clients with a tenant are refused: {}", error.message),
        }
    }

    fn with(&self, own: Arc<Own>) -> AgentMemory {
        AgentMemory { mounted: self.mounted.clone(), own }
    }
}

/// The storage of a tenant.
#[cfg(feature = "postgres")]
fn storage_of(storage: &Storage, name: &str) -> Result<Storage, storage::Error> {
    storage.for_tenant(storage.find_tenant(name)?)
}

#[cfg(not(feature = "postgres"))]
fn storage_of(_: &Storage, _: &str) -> Result<Storage, storage::Error> {
    Err(no_database())
}

/// A warning for the operator of a server with tenants.
#[cfg(all(feature = "http", feature = "postgres"))]
fn warning(storage: &Storage) -> Result<Option<&'static str>, storage::Error> {
    storage.row_security().map(|security| security.warning())
}

#[cfg(all(feature = "http", not(feature = "postgres")))]
fn warning(_: &Storage) -> Result<Option<&'static str>, storage::Error> {
    Err(no_database())
}

#[cfg(not(feature = "postgres"))]
fn no_database() -> storage::Error {
    let message = "tenants are in a database, which this program cannot use: use one that can";
    storage::Error::new(storage::ErrorCode::NotGranted, message)
}
