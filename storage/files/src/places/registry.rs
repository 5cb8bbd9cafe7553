//! Registries: files that list the places of a family. A person may edit a registry at any time, so its
//! file is read at each use, and parsed if it has changed. A registry has its own lock. A call releases
//! it before it requests the lock of a place.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use agent_memory_storage::{Area, Documents, Error, ErrorCode};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Cache, Durability, FamilyBase, Layout, Members, Registered, Tree};

/// The maximum size of a registry in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// The format of the text of registries. The component implements the functions.
pub trait RegistryFormat: Debug + Send + Sync {
    /// The places of a registry: a JSON object from names to `{"path", "description"?,
    /// "unusable"?, "warnings"?}`.
    ///
    /// # Errors
    ///
    /// A message for a person if the text is not a registry.
    fn parse(&self, text: &str) -> Result<String, String>;

    /// The text after one change: `{"add": {"name", "path", "description"?}}` or `{"remove":
    /// {"name"}}`.
    ///
    /// # Errors
    ///
    /// A message for a person if the text is not a registry or the change is impossible.
    fn edit(&self, text: &str, change: &str) -> Result<String, String>;

    /// Tells a person about a part of a registry that is ignored.
    fn warn(&self, registry: &str, warning: &str);
}

/// A file that is granted and need not exist.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FileLocation {
    /// The directory of the file. The part that existed at the grant is canonical.
    pub directory: PathBuf,
    /// The name of the file in the directory.
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

    pub(super) fn directory(&self) -> PathBuf {
        self.file.directory.clone()
    }

    pub(super) fn path(&self) -> PathBuf {
        self.file.directory.join(&self.file.name)
    }

    /// The path as it was given, for messages.
    pub fn location(&self) -> &str {
        &self.file.location
    }

    /// The tree in which the file of the registry is a document. The lock of the tree is the registry's
    /// lock.
    ///
    /// # Errors
    ///
    /// `invalid-path`, `permission`, `io`.
    pub fn tree(&self, durability: Durability, cache: Arc<Cache>) -> Result<Tree, Error> {
        let FileLocation { directory, name, location } = &self.file;
        let layout = Layout::from_registry(directory, name, location)?;
        Ok(Tree::with_cache(layout, durability, cache))
    }

    /// Reads the text of the registry and its version. `None` if the file is missing.
    pub(super) fn read(&self, tree: &Tree) -> Result<Option<(String, String)>, Error> {
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

    /// The text of the registry after a change, which has the form for [`RegistryFormat::edit`].
    pub(super) fn edited(&self, text: Option<&str>, change: &Value) -> Result<String, Error> {
        let edited = self.format.edit(text.unwrap_or_default(), &change.to_string());
        edited.map_err(|reason| Error::new(ErrorCode::InvalidPath, reason))
    }

    /// The name of its file.
    pub(super) fn file_name(&self) -> &str {
        &self.file.name
    }

    /// Parses the text of the registry, or returns the last result if the text is still the same.
    /// `None` is a missing file, which lists no places. One thread parses at a time.
    pub(super) fn parse(&self, text: Option<String>) -> Result<Arc<Members>, Error> {
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
