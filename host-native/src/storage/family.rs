//! Families: groups of named places, which a registry or the embedding program lists.

use super::named::GrantedPlace;
use super::registry::{Registry, RegistryFormat};
use agent_memory_storage::{Error, ErrorCode};
use agent_memory_storage_files::{Directories, FamilyBase, Members, Registered};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A family to be granted under a label.
#[derive(Clone, Debug)]
pub struct FamilyGrant {
    /// The component's name for the family.
    pub label: String,
    /// Its places.
    pub members: FamilyMembers,
    /// The home directory, for `~/` in a path. No place may be the home directory or contain it.
    /// The directories below it count as the user's own: the lists of directories of the system do
    /// not apply to them. `None`: a path with `~/` is refused.
    pub home: Option<PathBuf>,
    /// The directory for new places. Places below it are for their owner alone.
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

/// A granted family.
#[derive(Debug)]
pub(super) struct Family {
    label: String,
    base: FamilyBase,
    source: Source,
    databases: Vec<String>,
}

#[derive(Debug)]
enum Source {
    Registry(Registry),
    Fixed(Arc<Members>),
}

impl Family {
    pub fn new(grant: FamilyGrant) -> Result<Self, Error> {
        let FamilyGrant { label, members, home, data_directory, databases } = grant;
        let base = FamilyBase::new(home.as_deref(), data_directory.as_deref());
        let source = match members {
            FamilyMembers::Registry { path, format } => {
                Source::Registry(Registry::new(&label, &path, base.clone(), format)?)
            }
            FamilyMembers::Fixed(places) => {
                let registered = places.into_iter().map(|(name, path)| {
                    let path = path.to_string_lossy().into_owned();
                    (name, Registered { path, ..Registered::default() })
                });
                Source::Fixed(Arc::new(Members::new(&label, &base, registered.collect())))
            }
        };
        let family = Family { label, base, source, databases };
        if let Source::Fixed(members) = &family.source {
            for name in members.registered().keys() {
                members.directory(name, &Directories::default())?;
            }
        }
        Ok(family)
    }

    /// The registry that lists its places.
    ///
    /// # Errors
    ///
    /// `not-granted` if the embedding program has listed them.
    pub fn registry(&self) -> Result<&Registry, Error> {
        match &self.source {
            Source::Registry(registry) => Ok(registry),
            Source::Fixed(_) => Err(Error::new(
                ErrorCode::NotGranted,
                format!(
                    "the places of `{}` are chosen by the program that embeds this host: add them \
                     there",
                    self.label
                ),
            )),
        }
    }

    pub fn members(&self) -> Result<Arc<Members>, Error> {
        match &self.source {
            Source::Registry(registry) => registry.members(),
            Source::Fixed(members) => Ok(members.clone()),
        }
    }

    /// The paths at which no other place may be.
    pub fn paths(&self) -> Vec<PathBuf> {
        match &self.source {
            Source::Registry(registry) => vec![registry.path()],
            Source::Fixed(members) => {
                let paths = members.registered().values().map(|place| &place.path);
                paths.filter_map(|path| self.base.directory(path).ok()).collect()
            }
        }
    }

    /// The names of all places, also of those that cannot be opened.
    pub fn names(&self) -> Result<Vec<String>, Error> {
        Ok(self.members()?.names())
    }

    /// The place with a name.
    ///
    /// # Errors
    ///
    /// `invalid-path` if it is no name for a place, `not-found` if there is none of this name or its
    /// directory is missing, `not-granted` if its path is refused; `permission`, `io`.
    pub fn place(&self, name: &str, others: &Directories) -> Result<GrantedPlace, Error> {
        if name.is_empty() {
            let message = format!("`{}` has several places: give the name of one", self.label);
            return Err(Error::new(ErrorCode::InvalidPath, message));
        }
        let members = self.members()?;
        let directory = match self.source {
            Source::Registry(_) => members.existing_directory(name, others)?,
            Source::Fixed(_) => members.directory(name, others)?.0,
        };
        let is_private = self.is_private(&directory);
        Ok(GrantedPlace::of_family(directory, is_private, self.databases.clone()))
    }

    pub fn is_private(&self, directory: &Path) -> bool {
        self.base.is_private(directory)
    }

    /// The path of a new place.
    ///
    /// # Errors
    ///
    /// `not-granted` without a data directory whose path is UTF-8.
    pub fn new_place(&self, name: &str) -> Result<String, Error> {
        let directory = self.base.new_place(&self.label, name);
        directory.and_then(|directory| directory.to_str().map(str::to_owned)).ok_or_else(|| {
            let message = "there is no data directory for new places: set one, or register a path";
            Error::new(ErrorCode::NotGranted, message)
        })
    }
}
