//! A family: the places that a registry lists, by the rules of `storage/files`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use agent_memory_core::toolbox;
use agent_memory_storage::{
    Area, Change, Documents, Error, ErrorCode, MAX_DOCUMENT_BYTES, Tree as _,
};
use agent_memory_storage_files::{
    Directories, Durability, FamilyBase, Layout, Members, Registered, errno_error,
};
use serde_json::json;

use crate::taken::Taken;
use crate::tree::Place;

/// The places of one registry.
#[derive(Debug)]
pub(crate) struct Family {
    pub label: String,
    pub registry: PathBuf,
    pub base: FamilyBase,
    /// The directories of other places, with which no place of the family may overlap.
    pub others: Directories,
    pub durability: Durability,
    pub taken: Rc<Taken>,
}

impl Family {
    /// The names of all places, including places that cannot be opened.
    pub fn names(&self) -> Result<Vec<String>, Error> {
        Ok(self.members()?.names())
    }

    /// The layout of a registered place.
    pub fn layout(&self, name: &str) -> Result<Layout, Error> {
        let directory = self.members()?.existing_directory(name, &self.others)?;
        Ok(self.layout_of(&directory)?.hiding_lock())
    }

    /// Creates a place below the data directory, and registers it.
    pub fn create(&self, name: &str) -> Result<(), Error> {
        let new_place = self.base.new_place(&self.label, name);
        let Some(path) = new_place.as_deref().and_then(Path::to_str) else {
            let message = "there is no data directory for new places: set `AGENT_MEMORY_DATA_DIR`";
            return Err(Error::new(ErrorCode::NotGranted, message));
        };
        let tree = self.registry_tree()?;
        let writer = tree.lock(None)?;
        let (text, version) = self.read(&tree)?.unzip();
        let after = self.parse(text.as_deref())?.with(name, path)?;
        let change = json!({"add": {"name": name, "path": path}}).to_string();
        let edited = toolbox::edit_registry(text.as_deref().unwrap_or_default(), &change)
            .map_err(|failure| Error::new(ErrorCode::InvalidPath, failure.message))?;
        let (directory, _) = after.directory(name, &self.others)?;
        let layout = self.layout_of(&directory)?;
        let durable = self.durability == Durability::Full;
        let created = layout.area(Area::Documents).create(layout.is_private(), durable);
        created.map_err(|errno| errno_error(errno, &format!("create `{path}`")))?;
        let put = Change::Put {
            area: Area::Documents,
            path: self.registry_name().to_owned(),
            contents: edited.into_bytes(),
            expects: version,
        };
        writer.commit(&[put]).map(drop).map_err(|failed| failed.error)
    }

    fn layout_of(&self, directory: &Path) -> Result<Layout, Error> {
        let is_private = self.base.is_private(directory);
        Layout::from_directory(directory, &directory.to_string_lossy(), is_private, &[])
    }

    fn members(&self) -> Result<Members, Error> {
        let text = self.read(&self.registry_tree()?)?.map(|(text, _)| text);
        self.parse(text.as_deref())
    }

    fn parse(&self, text: Option<&str>) -> Result<Members, Error> {
        let listing = |places| Members::new(&self.label, &self.base, places);
        let Some(text) = text else { return Ok(listing(BTreeMap::new())) };
        let parsed =
            toolbox::parse_registry(text).map_err(|failure| self.broken(&failure.message))?;
        let places: BTreeMap<String, Registered> =
            serde_json::from_str(&parsed).map_err(|error| self.broken(&error.to_string()))?;
        Ok(listing(places))
    }

    fn read(&self, tree: &Place) -> Result<Option<(String, String)>, Error> {
        let found = tree.read(Area::Documents, self.registry_name(), MAX_DOCUMENT_BYTES)?;
        let Some(document) = found else { return Ok(None) };
        let text = String::from_utf8(document.contents);
        let text = text.map_err(|_| self.broken("it is not UTF-8"))?;
        Ok(Some((text, document.version)))
    }

    fn broken(&self, reason: &str) -> Error {
        let shown = self.registry.display();
        Error::new(ErrorCode::Io, format!("the registry `{shown}` cannot be used: {reason}"))
    }

    fn registry_name(&self) -> &str {
        self.registry.file_name().and_then(|name| name.to_str()).unwrap_or_default()
    }

    fn registry_tree(&self) -> Result<Place, Error> {
        let directory = self.registry.parent().unwrap_or(Path::new("/"));
        let shown = self.registry.to_string_lossy();
        let layout = Layout::from_registry(directory, self.registry_name(), &shown)?;
        Ok(Place::new(layout, self.durability, &self.taken))
    }
}
