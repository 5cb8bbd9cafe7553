//! Changing a registry under its lock.

use super::family::Family;
use super::lock::{Locks, Writer};
use super::registry::Registry;
use super::timeout::LockTimeout;
use agent_memory_storage::{Area, Change, Error, ErrorCode, Writer as _};
use agent_memory_storage_files::{Directories, Durability, Layout, Tree, errno_error};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The right to change a registry. Its lock is held until this is dropped.
#[derive(Debug)]
pub struct RegistryWriter {
    family: Arc<Family>,
    others: Directories,
    tree: Tree,
    writer: Writer,
    durability: Durability,
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
        let writer = Writer::acquire(tree.clone(), Arc::default(), locks, timeout).await?;
        Ok(RegistryWriter { family, others, tree, writer, durability })
    }

    /// Creates a place below the data directory, and registers it.
    ///
    /// # Errors
    ///
    /// `already-exists` if the name is registered, also in another case; `invalid-path` if it is no
    /// name for a place; `not-granted` if the directory is refused; `read-only`, `no-space`,
    /// `permission`, `io`.
    pub fn create(&self, name: &str) -> Result<(), Error> {
        self.add(name, &self.family.new_place(name)?, None).map(drop)
    }

    /// Registers a directory, and creates it if it is missing. Returns it without a leading `~/`.
    ///
    /// # Errors
    ///
    /// As [`create`](RegistryWriter::create).
    pub fn register(
        &self,
        name: &str,
        path: &str,
        description: Option<&str>,
    ) -> Result<PathBuf, Error> {
        self.add(name, path, description)
    }

    fn add(&self, name: &str, path: &str, description: Option<&str>) -> Result<PathBuf, Error> {
        let registry = self.family.registry()?;
        let (text, version) = registry.read(&self.tree)?.unzip();
        let after = registry.parse(text.clone())?.with(name, path)?;
        let mut change = json!({"add": {"name": name, "path": path}});
        if let Some(description) = description {
            change["add"]["description"] = json!(description);
        }
        let edited = self.edited(registry, text.as_deref(), &change)?;
        let (directory, _) = after.directory(name, &self.others)?;
        self.create_directory(&directory)?;
        self.put(registry, edited, version)?;
        Ok(directory)
    }

    fn create_directory(&self, directory: &Path) -> Result<(), Error> {
        let shown = directory.to_string_lossy();
        let is_private = self.family.is_private(directory);
        let layout = Layout::of_directory(directory, &shown, is_private, &[])?;
        let durable = self.durability == Durability::Full;
        let created = layout.area(Area::Documents).create(is_private, durable);
        created.map(drop).map_err(|errno| errno_error(errno, &format!("create `{shown}`")))
    }

    /// Removes a name from the registry. The directory stays.
    ///
    /// # Errors
    ///
    /// `not-found` if the name is not registered; `read-only`, `no-space`, `permission`, `io`.
    pub fn unregister(&self, name: &str) -> Result<(), Error> {
        let registry = self.family.registry()?;
        let (text, version) = registry.read(&self.tree)?.unzip();
        if !registry.parse(text.clone())?.registered().contains_key(name) {
            let message = format!("no `{name}` is registered in `{}`", registry.location());
            return Err(Error::new(ErrorCode::NotFound, message));
        }
        let change = json!({"remove": {"name": name}});
        let edited = self.edited(registry, text.as_deref(), &change)?;
        self.put(registry, edited, version)
    }

    fn edited(
        &self,
        registry: &Registry,
        text: Option<&str>,
        change: &serde_json::Value,
    ) -> Result<String, Error> {
        let edited = registry.edited(text, &change.to_string());
        edited.map_err(|reason| Error::new(ErrorCode::InvalidPath, reason))
    }

    fn put(&self, registry: &Registry, text: String, expects: Option<String>) -> Result<(), Error> {
        let put = Change::Put {
            area: Area::Documents,
            path: registry.name().to_owned(),
            contents: text.into_bytes(),
            expects,
        };
        self.writer.commit(&[put]).map(drop).map_err(|failed| match failed.error.code {
            ErrorCode::VersionMismatch => {
                let message =
                    format!("somebody changed `{}` meanwhile: try again", registry.location());
                Error::new(ErrorCode::Busy, message)
            }
            _ => failed.error,
        })
    }
}
