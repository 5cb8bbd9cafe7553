//! Changing a registry under its lock.

use super::files_writer::FilesWriter;
use super::lock_timeout::LockTimeout;
use super::lock_wait::Locks;
use super::writer::Writer;
use agent_memory_storage::Error;
use agent_memory_storage_files::places::{Family, RegistryChange};
use agent_memory_storage_files::{Directories, Durability, Tree};
use std::path::PathBuf;
use std::sync::Arc;

/// The right to change a registry. Its lock is held until this is dropped.
#[derive(Debug)]
pub struct RegistryWriter {
    family: Arc<Family>,
    others: Directories,
    tree: Tree,
    writer: Writer,
}

impl RegistryWriter {
    pub(super) async fn acquire(
        family: Arc<Family>,
        others: Directories,
        locks: &Arc<Locks>,
        durability: Durability,
        timeout: LockTimeout,
    ) -> Result<Self, Error> {
        let tree = family.registry()?.tree(durability, Arc::default())?;
        let writer = FilesWriter::acquire(tree.clone(), Arc::default(), locks, timeout).await?;
        let writer = Writer::new(writer);
        Ok(RegistryWriter { family, others, tree, writer })
    }

    fn change(&self) -> RegistryChange<'_> {
        let RegistryWriter { family, others, tree, writer } = self;
        RegistryChange { family, others, tree, writer }
    }

    /// Creates a place below the data directory, and registers it.
    ///
    /// # Errors
    ///
    /// Those of [`RegistryChange::create`].
    pub fn create(&self, name: &str) -> Result<(), Error> {
        self.change().create(name)
    }

    /// Registers a directory, and creates it if it is missing. Returns its path, with a leading `~/`
    /// replaced.
    ///
    /// # Errors
    ///
    /// Those of [`RegistryChange::register`].
    pub fn register(
        &self,
        name: &str,
        path: &str,
        description: Option<&str>,
    ) -> Result<PathBuf, Error> {
        self.change().register(name, path, description)
    }

    /// Removes a name from the registry. The directory stays.
    ///
    /// # Errors
    ///
    /// Those of [`RegistryChange::unregister`].
    pub fn unregister(&self, name: &str) -> Result<(), Error> {
        self.change().unregister(name)
    }
}
