//! Registries: files that list the places of a family. A person may edit one at any time, so it is
//! read whenever it is needed, and parsed when it has changed. It has a lock of its own, which is
//! released before the lock of a place is asked for.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use agent_memory_storage::{Area, Change, Documents, Error, ErrorCode, Writer};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::family::Family;
use crate::{
    Cache, Directories, Durability, FamilyBase, Layout, Members, Registered, Tree, errno_error,
};

/// The maximum size of a registry in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// The format of the text of registries: functions of the component.
pub trait RegistryFormat: Debug + Send + Sync {
    /// The places of a registry: a JSON object from names to `{"path", "description"?,
    /// "unusable"?, "warnings"?}`.
    ///
    /// # Errors
    ///
    /// A message for a person if the text is no registry.
    fn parse(&self, text: &str) -> Result<String, String>;

    /// The text after one change: `{"add": {"name", "path", "description"?}}` or `{"remove":
    /// {"name"}}`.
    ///
    /// # Errors
    ///
    /// A message for a person if the text is no registry or the change is impossible.
    fn edit(&self, text: &str, change: &str) -> Result<String, String>;

    /// Tells a person about a part of a registry that is ignored.
    fn warn(&self, registry: &str, warning: &str);
}

/// A file that is granted and need not exist.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FileLocation {
    /// Its directory. The part that existed at the grant is canonical.
    pub directory: PathBuf,
    /// Its name.
    pub name: String,
    /// The path as it was given, for messages.
    pub location: String,
}

/// The registry of a family.
#[derive(Debug)]
pub struct Registry {
    label: String,
    file: FileLocation,
    base: FamilyBase,
    format: Arc<dyn RegistryFormat>,
    /// The text that was parsed last, and its places.
    parsed: Mutex<Option<(String, Arc<Members>)>>,
}

impl Registry {
    pub(super) fn new(
        label: &str,
        file: FileLocation,
        base: FamilyBase,
        format: Arc<dyn RegistryFormat>,
    ) -> Self {
        Registry { label: label.to_owned(), file, base, format, parsed: Mutex::default() }
    }

    pub(super) fn path(&self) -> PathBuf {
        self.file.directory.join(&self.file.name)
    }

    /// The path as it was given, for messages.
    pub fn location(&self) -> &str {
        &self.file.location
    }

    /// The tree of its file, which has its lock.
    ///
    /// # Errors
    ///
    /// `invalid-path`, `permission`, `io`.
    pub fn tree(&self, durability: Durability, cache: Arc<Cache>) -> Result<Tree, Error> {
        let FileLocation { directory, name, location } = &self.file;
        let layout = Layout::of_registry(directory, name, location)?;
        Ok(Tree::with_cache(layout, durability, cache))
    }

    /// The text and its version; none if the file is missing.
    fn read(&self, tree: &Tree) -> Result<Option<(String, String)>, Error> {
        let Some(document) = tree.read(Area::Documents, &self.file.name, MAX_BYTES)? else {
            return Ok(None);
        };
        match String::from_utf8(document.contents) {
            Ok(text) => Ok(Some((text, document.version))),
            Err(_) => Err(self.broken("it is not UTF-8")),
        }
    }

    fn broken(&self, reason: &str) -> Error {
        let message = format!("the registry `{}` cannot be used: {reason}", self.location());
        Error::new(ErrorCode::Io, message)
    }

    /// The places that the file lists now.
    pub(super) fn members(&self) -> Result<Arc<Members>, Error> {
        let tree = self.tree(Durability::Relaxed, Arc::default())?;
        self.parse(self.read(&tree)?.map(|(text, _)| text))
    }

    /// One thread parses at a time.
    fn parse(&self, text: Option<String>) -> Result<Arc<Members>, Error> {
        let listing = |places| Arc::new(Members::new(&self.label, &self.base, places));
        let Some(text) = text else { return Ok(listing(BTreeMap::new())) };
        let mut parsed = self.parsed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, members)) = parsed.as_ref().filter(|(before, _)| *before == text) {
            return Ok(members.clone());
        }
        let places = self.format.parse(&text).map_err(|reason| self.broken(&reason))?;
        let places: BTreeMap<String, Registered> =
            serde_json::from_str(&places).map_err(|error| self.broken(&error.to_string()))?;
        for (name, place) in &places {
            for warning in &place.warnings {
                self.format.warn(self.location(), warning);
            }
            if let Some(reason) = &place.unusable {
                self.format.warn(self.location(), &format!("`{name}` cannot be used: {reason}"));
            }
        }
        let members = listing(places);
        *parsed = Some((text, members.clone()));
        Ok(members)
    }
}

/// Changes a registry, whose lock the writer has.
#[derive(Clone, Copy)]
pub struct RegistryChange<'a> {
    /// The family of the registry.
    pub family: &'a Family,
    /// The directories of other places, in which and around which none of these may be.
    pub others: &'a Directories,
    /// The tree of the registry.
    pub tree: &'a Tree,
    /// The right to change it.
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
        let (text, version) = registry.read(self.tree)?.unzip();
        let after = registry.parse(text.clone())?.with(name, path)?;
        let mut change = json!({"add": {"name": name, "path": path}});
        if let Some(description) = description {
            change["add"]["description"] = json!(description);
        }
        let edited = self.edited(registry, text.as_deref(), &change)?;
        let (directory, _) = after.directory(name, self.others)?;
        self.create_directory(&directory)?;
        self.put(registry, edited, version)?;
        Ok(directory)
    }

    fn create_directory(&self, directory: &Path) -> Result<(), Error> {
        let shown = directory.to_string_lossy();
        let is_private = self.family.is_private(directory);
        let layout = Layout::of_directory(directory, &shown, is_private, &[])?;
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
        let edited = self.edited(registry, text.as_deref(), &change)?;
        self.put(registry, edited, version)
    }

    fn edited(
        &self,
        registry: &Registry,
        text: Option<&str>,
        change: &Value,
    ) -> Result<String, Error> {
        let edited = registry.format.edit(text.unwrap_or_default(), &change.to_string());
        edited.map_err(|reason| Error::new(ErrorCode::InvalidPath, reason))
    }

    fn put(&self, registry: &Registry, text: String, expects: Option<String>) -> Result<(), Error> {
        let put = Change::Put {
            area: Area::Documents,
            path: registry.file.name.clone(),
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
