//! Registries: files that list the places of a family. A person may edit one at any time, so it is
//! read whenever it is needed, and parsed when it has changed. It has a lock of its own, which is
//! released before the lock of a place is asked for.

use super::family::{Family, Members, check_name};
use super::lock::{Locks, Writer};
use super::named::FileLocation;
use super::timeout::LockTimeout;
use agent_memory_storage::{Area, Change, Documents, Error, ErrorCode, Writer as _};
use agent_memory_storage_files::{
    Cache, Directories, Durability, FamilyBase, Layout, Tree, errno_error,
};
use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The maximum size of a registry in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// The format of the text of registries: functions of the component.
pub trait RegistryFormat: Debug + Send + Sync {
    /// The places of a registry: a JSON object from names to `{"path", "description"?,
    /// "warnings"?}`.
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
}

/// A place that a registry lists.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Registered {
    /// Its path as the registry has it.
    pub path: String,
    /// Its description.
    pub description: Option<String>,
    /// Parts of it that are ignored, for a person.
    #[serde(default)]
    pub warnings: Vec<String>,
}

/// The registry of a family.
#[derive(Debug)]
pub(super) struct Registry {
    file: FileLocation,
    base: FamilyBase,
    format: Arc<dyn RegistryFormat>,
    /// The text that was parsed last, and its places.
    parsed: Mutex<Option<(String, Arc<Members>)>>,
}

impl Registry {
    pub fn new(
        label: &str,
        path: &Path,
        base: FamilyBase,
        format: Arc<dyn RegistryFormat>,
    ) -> Result<Self, Error> {
        let file = FileLocation::of(label, path)?;
        Ok(Registry { file, base, format, parsed: Mutex::default() })
    }

    pub fn path(&self) -> PathBuf {
        self.file.directory.join(&self.file.name)
    }

    /// The path as it was given, for messages.
    pub fn location(&self) -> &str {
        &self.file.location
    }

    fn tree(&self, durability: Durability, cache: Arc<Cache>) -> Result<Tree, Error> {
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
    pub fn members(&self) -> Result<Arc<Members>, Error> {
        let tree = self.tree(Durability::Relaxed, Arc::default())?;
        self.parse(self.read(&tree)?.map(|(text, _)| text))
    }

    /// One thread parses at a time.
    fn parse(&self, text: Option<String>) -> Result<Arc<Members>, Error> {
        let Some(text) = text else { return Ok(Arc::default()) };
        let mut parsed = self.parsed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, members)) = parsed.as_ref().filter(|(before, _)| *before == text) {
            return Ok(members.clone());
        }
        let places = self.format.parse(&text).map_err(|reason| self.broken(&reason))?;
        let places: BTreeMap<String, Registered> =
            serde_json::from_str(&places).map_err(|error| self.broken(&error.to_string()))?;
        for warning in places.values().flat_map(|place| &place.warnings) {
            tracing::warn!(registry = self.location(), "{warning}");
        }
        let members = Arc::new(Members::new(places, &self.base));
        *parsed = Some((text, members.clone()));
        Ok(members)
    }
}

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
        check_name(name)?;
        let registry = self.family.registry()?;
        let (text, version) = registry.read(&self.tree)?.unzip();
        let members = registry.parse(text.clone())?;
        let mut names = members.registered.keys();
        if let Some(twin) = names.find(|other| other.eq_ignore_ascii_case(name)) {
            let message = format!("`{twin}` is registered already: choose another name");
            return Err(Error::new(ErrorCode::AlreadyExists, message));
        }
        let mut change = json!({"add": {"name": name, "path": path}});
        if let Some(description) = description {
            change["add"]["description"] = json!(description);
        }
        let edited = self.edited(registry, text.as_deref(), &change)?;
        let after = self.family.with(&members, name, path);
        let (directory, _) = self.family.directory(&after, name, &self.others)?;
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
        if !registry.parse(text.clone())?.registered.contains_key(name) {
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
