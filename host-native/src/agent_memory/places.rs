//! The methods that access granted places without calling a tool.

use super::AgentMemory;
use crate::storage::{self, DatabaseKind, Registered, RegistryWriter, Rows, Statement};
use std::collections::BTreeMap;
use std::path::PathBuf;

impl AgentMemory {
    #[cfg(all(feature = "cli", feature = "postgres"))]
    pub(crate) fn storage(&self) -> &storage::Storage {
        &self.own.storage
    }

    /// The directory of the place with this label; if the place is a file, the directory of that file.
    /// `None` if the place is not granted, is a family of places, or is on a database server. The part
    /// of the path that existed when the memory was built is canonical.
    pub fn place_directory(&self, label: &str) -> Option<PathBuf> {
        self.own.storage.place_directory(label)
    }

    /// The places that the registry of a family lists, by name. Places that cannot be opened are
    /// listed, too.
    ///
    /// # Errors
    ///
    /// `not-granted` if no family is granted under the label; `io` if the registry is broken.
    pub fn registered(&self, label: &str) -> Result<BTreeMap<String, Registered>, storage::Error> {
        self.own.storage.registered(label)
    }

    /// The directory of a place of a family.
    ///
    /// # Errors
    ///
    /// Those of [`Storage::open`].
    pub fn family_directory(&self, label: &str, name: &str) -> Result<String, storage::Error> {
        let place = storage::Place::in_group(label, name);
        Ok(self.own.storage.open(&place, &[])?.location().to_owned())
    }

    /// Waits for the lock of a family's registry, to change it.
    ///
    /// # Errors
    ///
    /// Those of [`Storage::lock_registry`].
    ///
    /// # Panics
    ///
    /// If polled outside a tokio runtime with timers.
    pub async fn lock_registry(&self, label: &str) -> Result<RegistryWriter, storage::Error> {
        let timeout = storage::LockTimeout::new(self.own.storage.options().lock_wait);
        self.own.storage.lock_registry(label, timeout).await
    }

    /// Runs a read-only statement on a kept (not derived) database of the place that is granted under a
    /// label, and returns at most `max_rows` rows.
    ///
    /// Do not open the database's file with another SQLite library in the same process: when it closes
    /// the file, the locks of this library are lost. Dropping the future interrupts the statement.
    ///
    /// # Errors
    ///
    /// `not-granted` if no such place or database is granted, and for a statement that no call may
    /// run; `not-found` if there is no database yet; `read-only` for a statement that writes;
    /// `cancelled` if it ran for too long; those of [`Storage::open`].
    ///
    /// # Panics
    ///
    /// As [`call`](AgentMemory::call).
    pub async fn query(
        &self,
        label: &str,
        database: &str,
        statement: Statement,
        max_rows: u32,
    ) -> Result<Rows, storage::Error> {
        let own = self.own.clone();
        let name = database.to_owned();
        let place = storage::Place::named(label);
        let opened = on_a_blocking_thread(move || {
            own.storage.open(&place, &[])?.open_database(&name, DatabaseKind::Kept, false)
        });
        let database = opened.await?;
        let _interrupt = InterruptOnDrop(database.clone());
        on_a_blocking_thread(move || database.query(&statement, max_rows)).await
    }

    /// Runs SQLite's `quick_check` on a kept (not derived) database of the place that is granted under
    /// a label. Returns at most 20 complaints, and none for a sound database.
    ///
    /// # Errors
    ///
    /// `not-granted` if no such place or database is granted; `not-found` if there is no database yet;
    /// `corrupted` if the file cannot be read at all; `busy`, `cancelled`, `io`.
    ///
    /// # Panics
    ///
    /// As [`call`](AgentMemory::call).
    pub async fn check_database(
        &self,
        label: &str,
        database: &str,
    ) -> Result<Vec<String>, storage::Error> {
        let own = self.own.clone();
        let name = database.to_owned();
        let place = storage::Place::named(label);
        on_a_blocking_thread(move || {
            let place = own.storage.open(&place, &[])?;
            place.open_database(&name, DatabaseKind::Kept, false)?.check()
        })
        .await
    }

    /// Checks that each named place can be written: creates a file in it, and removes the file. Runs on
    /// a blocking thread.
    ///
    /// # Errors
    ///
    /// The reason why one of the places cannot be written. The message may contain a path.
    #[cfg(feature = "http")]
    pub(crate) async fn check_writable(&self) -> Result<(), storage::Error> {
        let own = self.own.clone();
        on_a_blocking_thread(move || own.storage.check_writable()).await
    }
}

/// Interrupts the current statement of the database when this is dropped.
struct InterruptOnDrop(storage::Database);

impl Drop for InterruptOnDrop {
    fn drop(&mut self) {
        self.0.give_up();
    }
}

pub(super) async fn on_a_blocking_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, storage::Error> + Send + 'static,
) -> Result<T, storage::Error> {
    let closing = |_| storage::Error::new(storage::ErrorCode::Cancelled, "the program is closing");
    tokio::task::spawn_blocking(work).await.map_err(closing)?
}
