//! Families: groups of named places, which a registry or the embedding program lists.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agent_memory_storage::{Error, ErrorCode};
use serde::{Deserialize, Serialize};

use super::named::GrantedPlace;
use super::registry::{FileLocation, Registry, RegistryFormat};
use crate::{Directories, FamilyBase, Members, Registered};

/// A family to be granted under a label.
#[derive(Clone, Debug)]
pub struct FamilyGrant {
    /// The component's name for the family.
    pub label: String,
    /// The places of the family.
    pub members: FamilyMembers,
    /// The home directory, for `~/` in a path. No place may be the home directory or contain it. A
    /// place may be below it, even if the home is in a directory of the system. `None`: a path with
    /// `~/` is refused.
    pub home: Option<PathBuf>,
    /// The directory for new places. Files of places below it are created for their owner alone.
    pub data_directory: Option<PathBuf>,
    /// The names of the kept databases of each place.
    pub databases: Vec<String>,
}

/// The places of a family.
#[derive(Clone, Debug)]
pub enum FamilyMembers {
    /// The places that a file lists. Calls may create further ones.
    Registry {
        /// The path of the file, which need not exist.
        path: PathBuf,
        /// The format of its text.
        format: Arc<dyn RegistryFormat>,
    },
    /// These places, by name.
    Fixed(BTreeMap<String, PathBuf>),
}

/// A grant of a family, which another thread or process can restore without the file system.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct GrantedFamily {
    label: String,
    base: FamilyBase,
    /// The file that lists the places. `None`: the embedding program has listed them.
    registry: Option<FileLocation>,
    /// The paths of the places that the embedding program has listed, by name.
    places: BTreeMap<String, String>,
    databases: Vec<String>,
}

/// A granted family.
#[derive(Debug)]
pub struct Family {
    granted: GrantedFamily,
    source: Source,
}

#[derive(Debug)]
enum Source {
    Registry(Registry),
    Fixed(Arc<Members>),
}

impl Family {
    pub(super) fn new(grant: FamilyGrant) -> Result<Self, Error> {
        let FamilyGrant { label, members, home, data_directory, databases } = grant;
        let base = FamilyBase::new(home.as_deref(), data_directory.as_deref());
        let mut granted =
            GrantedFamily { label, base, registry: None, places: BTreeMap::new(), databases };
        let family = match members {
            FamilyMembers::Registry { path, format } => {
                granted.registry = Some(FileLocation::new(&granted.label, &path)?);
                Family::restore(granted, format)
            }
            FamilyMembers::Fixed(places) => {
                let shown = |path: PathBuf| path.to_string_lossy().into_owned();
                granted.places =
                    places.into_iter().map(|(name, path)| (name, shown(path))).collect();
                let source = Source::Fixed(granted.members());
                Family { granted, source }
            }
        };
        if let Source::Fixed(members) = &family.source {
            for name in members.registered().keys() {
                members.directory(name, &Directories::default())?;
            }
        }
        Ok(family)
    }

    /// The family of a grant that another thread or process has made.
    pub(super) fn restore(granted: GrantedFamily, format: Arc<dyn RegistryFormat>) -> Self {
        let source = match &granted.registry {
            None => Source::Fixed(granted.members()),
            Some(file) => {
                let GrantedFamily { label, base, .. } = &granted;
                Source::Registry(Registry::new(label, file.clone(), base.clone(), format))
            }
        };
        Family { granted, source }
    }

    /// The grant of the family, for [`restore`](Self::restore).
    pub(super) fn granted(&self) -> &GrantedFamily {
        &self.granted
    }

    /// The registry that lists the places of the family.
    ///
    /// # Errors
    ///
    /// `not-granted` if the embedding program has listed the places.
    pub fn registry(&self) -> Result<&Registry, Error> {
        match &self.source {
            Source::Registry(registry) => Ok(registry),
            Source::Fixed(_) => Err(Error::new(
                ErrorCode::NotGranted,
                format!(
                    "the places of `{}` are chosen by the program that embeds this host: add them \
                     there",
                    self.granted.label
                ),
            )),
        }
    }

    /// The places that the family has at this moment.
    ///
    /// # Errors
    ///
    /// `io` if its registry is broken.
    pub fn members(&self) -> Result<Arc<Members>, Error> {
        match &self.source {
            Source::Registry(registry) => registry.members(),
            Source::Fixed(members) => Ok(members.clone()),
        }
    }

    /// The paths with which no other place may overlap: the path of the registry, or of each listed
    /// place.
    pub(super) fn paths(&self) -> Vec<PathBuf> {
        match &self.source {
            Source::Registry(registry) => vec![registry.path()],
            Source::Fixed(members) => {
                let paths = members.registered().values().map(|place| &place.path);
                paths.filter_map(|path| self.granted.base.directory(path).ok()).collect()
            }
        }
    }

    /// The names of all places, including places that cannot be opened.
    pub(super) fn names(&self) -> Result<Vec<String>, Error> {
        Ok(self.members()?.names())
    }

    /// The place with a name.
    ///
    /// # Errors
    ///
    /// `invalid-path` if a place cannot have this name, `not-found` if the family has no such place or
    /// its directory is missing, `not-granted` if its path is refused; `permission`, `io`.
    pub(super) fn place(&self, name: &str, others: &Directories) -> Result<GrantedPlace, Error> {
        if name.is_empty() {
            let message =
                format!("`{}` has several places: give the name of one", self.granted.label);
            return Err(Error::new(ErrorCode::InvalidPath, message));
        }
        let members = self.members()?;
        let directory = match self.source {
            Source::Registry(_) => members.existing_directory(name, others)?,
            Source::Fixed(_) => members.directory(name, others)?.0,
        };
        let is_private = self.is_private(&directory);
        Ok(GrantedPlace::from_group(directory, is_private, self.granted.databases.clone()))
    }

    /// Whether files and directories of a place are created so that only the owner may read them: true
    /// below the data directory.
    pub fn is_private(&self, directory: &Path) -> bool {
        self.granted.base.is_private(directory)
    }

    /// The path of a new place.
    ///
    /// # Errors
    ///
    /// `not-granted` without a data directory whose path is UTF-8.
    pub fn new_place(&self, name: &str) -> Result<String, Error> {
        let directory = self.granted.base.new_place(&self.granted.label, name);
        directory.and_then(|directory| directory.to_str().map(str::to_owned)).ok_or_else(|| {
            let message = "there is no data directory for new places: set one, or register a path";
            Error::new(ErrorCode::NotGranted, message)
        })
    }
}

impl GrantedFamily {
    /// The places that the embedding program has listed.
    fn members(&self) -> Arc<Members> {
        let registered = self.places.iter().map(|(name, path)| {
            (name.clone(), Registered { path: path.clone(), ..Registered::default() })
        });
        Arc::new(Members::new(&self.label, &self.base, registered.collect()))
    }
}
