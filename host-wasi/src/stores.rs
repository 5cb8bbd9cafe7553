//! The family of stores: the places that a registry lists, by the rules of `storage/files`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use agent_memory_core::toolbox;
use agent_memory_storage::{
    Area, Change, Documents, Error, ErrorCode, MAX_DOCUMENT_BYTES, Tree as _,
};
use agent_memory_storage_files::{
    Directories, Durability, FamilyBase, Layout, check_links, errno_error, path,
};
use serde::Deserialize;
use serde_json::json;

use crate::tree::Place;

/// The stores of one registry.
#[derive(Debug)]
pub(crate) struct Stores {
    pub label: String,
    pub registry: PathBuf,
    pub base: FamilyBase,
    /// The directories of other places, in which and around which no store may be.
    pub others: Directories,
    pub durability: Durability,
    pub lock_wait: Duration,
}

#[derive(Deserialize)]
struct Registered {
    path: String,
}

type Members = BTreeMap<String, Registered>;

impl Stores {
    /// The names of the stores that are not refused.
    pub fn names(&self) -> Result<Vec<String>, Error> {
        let members = self.members()?;
        let is_refused = |name: &String| {
            self.directory(&members, name).is_err_and(|error| error.code == ErrorCode::NotGranted)
        };
        Ok(members.keys().filter(|name| !is_refused(name)).cloned().collect())
    }

    /// The layout of a registered store.
    pub fn layout(&self, name: &str) -> Result<Layout, Error> {
        check_name(name)?;
        let (directory, exists) = self.directory(&self.members()?, name)?;
        if !exists {
            let message = format!(
                "the directory of `{name}` is missing: bring `{}` back, or register another",
                directory.display()
            );
            return Err(Error::new(ErrorCode::NotFound, message));
        }
        Ok(self.layout_of(&directory)?.hiding_lock())
    }

    /// Creates a store below the data directory, and registers it.
    pub fn create(&self, name: &str) -> Result<(), Error> {
        check_name(name)?;
        let new_place = self.base.new_place(&self.label, name);
        let Some(path) = new_place.as_deref().and_then(Path::to_str) else {
            let message = "there is no data directory for new stores: set `AGENT_MEMORY_DATA_DIR`";
            return Err(Error::new(ErrorCode::NotGranted, message));
        };
        let tree = self.registry_tree()?;
        let writer = tree.lock(None)?;
        let (text, version) = self.read(&tree)?.unzip();
        let mut members = self.parse(text.as_deref())?;
        if let Some(twin) = members.keys().find(|other| other.eq_ignore_ascii_case(name)) {
            let message = format!("`{twin}` is registered already: choose another name");
            return Err(Error::new(ErrorCode::AlreadyExists, message));
        }
        let change = json!({"add": {"name": name, "path": path}}).to_string();
        let edited = toolbox::edit_registry(text.as_deref().unwrap_or_default(), &change)
            .map_err(|failure| Error::new(ErrorCode::InvalidPath, failure.message))?;
        members.insert(name.to_owned(), Registered { path: path.to_owned() });
        let (directory, _) = self.directory(&members, name)?;
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
        Layout::of_directory(directory, &directory.to_string_lossy(), is_private, &[])
    }

    /// The directory of a store, after all checks, and whether it exists.
    fn directory(&self, members: &Members, name: &str) -> Result<(PathBuf, bool), Error> {
        let Some(Registered { path }) = members.get(name) else {
            let message = format!("there is no place `{name}` in `{}`", self.label);
            return Err(Error::new(ErrorCode::NotFound, message));
        };
        let refused = |reason: &str| {
            let message = format!("cannot use `{name}` at `{path}`: {reason}");
            Error::new(ErrorCode::NotGranted, message)
        };
        let directory = self.base.directory(path).map_err(refused)?;
        let mut registered = Directories::default();
        for (other, Registered { path }) in members {
            if let Ok(directory) = self.base.directory(path) {
                registered.add(directory, other);
            }
        }
        let meets = registered.meeting(&directory, name);
        if let Some(reason) = meets.or_else(|| self.others.meeting(&directory, "")) {
            return Err(refused(&reason));
        }
        let exists = check_links(&directory).map_err(|error| match error.code {
            ErrorCode::NotGranted => refused(&error.message),
            _ => error,
        })?;
        Ok((directory, exists))
    }

    fn members(&self) -> Result<Members, Error> {
        let text = self.read(&self.registry_tree()?)?.map(|(text, _)| text);
        self.parse(text.as_deref())
    }

    fn parse(&self, text: Option<&str>) -> Result<Members, Error> {
        let Some(text) = text else { return Ok(Members::new()) };
        let parsed =
            toolbox::parse_registry(text).map_err(|failure| self.broken(&failure.message))?;
        serde_json::from_str(&parsed).map_err(|error| self.broken(&error.to_string()))
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
        let layout = Layout::of_registry(directory, self.registry_name(), &shown)?;
        Ok(Place::new(layout, self.durability, self.lock_wait))
    }
}

fn check_name(name: &str) -> Result<(), Error> {
    match path::document(name)?.len() {
        1 => Ok(()),
        _ => Err(Error::new(
            ErrorCode::InvalidPath,
            format!("`{}` is no name of a place: leave the `/` out", name.escape_debug()),
        )),
    }
}
