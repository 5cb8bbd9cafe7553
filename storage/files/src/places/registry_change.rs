//! Changes of a registry: a place is created, registered or removed from the list.

use std::fmt::Debug;
use std::path::{Path, PathBuf};

use agent_memory_storage::{Area, Change, Error, ErrorCode, Writer};
use serde_json::json;

use super::family::Family;
use super::registry::Registry;
use crate::{Directories, Durability, Layout, Tree, errno_error};

/// Changes a registry. The writer has the registry's lock.
#[derive(Clone, Copy)]
pub struct RegistryChange<'a> {
    /// The family of the registry.
    pub family: &'a Family,
    /// The directories of other places, with which no place of the family may overlap.
    pub others: &'a Directories,
    /// The tree of the registry.
    pub tree: &'a Tree,
    /// The writer for the tree.
    pub writer: &'a dyn Writer,
}

impl Debug for RegistryChange<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("RegistryChange").finish_non_exhaustive()
    }
}

impl RegistryChange<'_> {
    /// Creates a place below the data directory, and registers it.
    ///
    /// # Errors
    ///
    /// `already-exists` if the name is registered, even if only its case differs; `invalid-path` if a
    /// place cannot have this name; `not-granted` if the directory is refused; `read-only`,
    /// `no-space`, `permission`, `io`.
    pub fn create(&self, name: &str) -> Result<(), Error> {
        self.register(name, &self.family.new_place(name)?, None).map(drop)
    }

    /// Registers a directory, and creates it if it is missing. Returns its path, in which the home
    /// directory replaces a leading `~/`.
    ///
    /// # Errors
    ///
    /// As [`create`](RegistryChange::create).
    pub fn register(
        &self,
        name: &str,
        path: &str,
        description: Option<&str>,
    ) -> Result<PathBuf, Error> {
        let registry = self.family.registry()?;
        let (text, version) = registry.read(self.tree)?.unzip();
        let after = registry.parse(text.clone())?.with(name, path)?;
        let mut change = json!({"add": {"name": name, "path": path}});
        if let Some(description) = description {
            change["add"]["description"] = json!(description);
        }
        let edited = registry.edited(text.as_deref(), &change)?;
        let (directory, _) = after.directory(name, self.others)?;
        self.create_directory(&directory)?;
        self.put(registry, edited, version)?;
        Ok(directory)
    }

    fn create_directory(&self, directory: &Path) -> Result<(), Error> {
        let shown = directory.to_string_lossy();
        let is_private = self.family.is_private(directory);
        let layout = Layout::from_directory(directory, &shown, is_private, &[])?;
        let durable = self.tree.durability() == Durability::Full;
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
        let (text, version) = registry.read(self.tree)?.unzip();
        if !registry.parse(text.clone())?.registered().contains_key(name) {
            let message = format!("no `{name}` is registered in `{}`", registry.location());
            return Err(Error::new(ErrorCode::NotFound, message));
        }
        let change = json!({"remove": {"name": name}});
        let edited = registry.edited(text.as_deref(), &change)?;
        self.put(registry, edited, version)
    }

    fn put(&self, registry: &Registry, text: String, expects: Option<String>) -> Result<(), Error> {
        let put = Change::Put {
            area: Area::Documents,
            path: registry.file_name().to_owned(),
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
