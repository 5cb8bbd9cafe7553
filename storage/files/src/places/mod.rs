//! The places that a host grants: repositories, named places, and families with their registries.
//!
//! [`Places`] has the grants. Opening a granted place returns its layout and the names of its
//! databases. The host itself takes locks and opens databases.

mod family;
mod named;
mod registry;
mod registry_change;

pub use family::{Family, FamilyGrant, FamilyMembers, GrantedFamily};
pub use named::{GrantedPlace, NamedPlace, NamedPlaceKind};
pub use registry::{FileLocation, Registry, RegistryFormat};
pub use registry_change::RegistryChange;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use agent_memory_storage::{Error, ErrorCode, Place};
use serde::{Deserialize, Serialize};

use crate::family::as_far_as_it_exists;
use crate::{Directories, Grant, Layout, Repository, kind_at};

/// The places that a host grants, by label, and the directories of repositories.
#[derive(Debug, Default)]
pub struct Places {
    grants: RwLock<Vec<Grant>>,
    known: RwLock<BTreeMap<String, KnownPlace>>,
}

/// The grant for a label that the component may ask for.
#[derive(Debug, Default)]
struct KnownPlace {
    granted: Option<Granted>,
    /// A grant that is still to be made, for example because the file system refused it. Each call that
    /// needs the place tries again to make it.
    wanted: Option<Wanted>,
    /// The error message if no place is granted under the label.
    missing: String,
}

/// A place to grant under a label.
#[derive(Clone, Debug)]
pub enum Wanted {
    /// One place.
    Place(NamedPlace),
    /// A family.
    Family(FamilyGrant),
}

impl Wanted {
    fn label(&self) -> &str {
        match self {
            Wanted::Place(place) => &place.label,
            Wanted::Family(family) => &family.label,
        }
    }

    /// The path of the place, or of the family's registry, with its existing part made canonical.
    /// `None` for a family whose places the embedding program lists.
    fn path(&self) -> Option<PathBuf> {
        match self {
            Wanted::Place(place) => Some(as_far_as_it_exists(&place.path)),
            Wanted::Family(family) => match &family.members {
                FamilyMembers::Registry { path, .. } => Some(as_far_as_it_exists(path)),
                FamilyMembers::Fixed(_) => None,
            },
        }
    }
}

/// A place that is granted under a label.
#[derive(Clone, Debug)]
enum Granted {
    Place(Arc<GrantedPlace>),
    Family(Arc<Family>),
}

/// A grant that [`Places::resolved`] returns and [`Places::restore`] takes.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Resolved {
    Place(GrantedPlace),
    Family(GrantedFamily),
}

/// A granted place that was opened. Its directories need not exist yet.
#[derive(Debug)]
pub struct Opened {
    /// The layout of the place.
    pub layout: Layout,
    /// The named place. `None` for a repository.
    pub named: Option<Arc<GrantedPlace>>,
}

impl KnownPlace {
    fn still_wanted(&self) -> Option<Wanted> {
        self.wanted.clone().filter(|_| self.granted.is_none())
    }

    /// The paths with which no other place may overlap.
    fn paths(&self) -> Vec<PathBuf> {
        match (&self.granted, &self.wanted) {
            (Some(granted), _) => granted.paths(),
            (None, Some(wanted)) => wanted.path().into_iter().collect(),
            (None, None) => Vec::new(),
        }
    }
}

impl Granted {
    fn paths(&self) -> Vec<PathBuf> {
        match self {
            Granted::Place(place) => vec![place.path()],
            Granted::Family(family) => family.paths(),
        }
    }
}

impl Places {
    /// Grants a directory and everything below it.
    ///
    /// Symbolic links in its path are followed now, and not again later.
    ///
    /// # Errors
    ///
    /// `not-found`; `permission`; `invalid-path` if it is not a directory.
    pub fn grant(&self, directory: &Path) -> Result<(), Error> {
        self.add_grant(Grant::new(directory)?);
        Ok(())
    }

    /// Grants a directory by the canonical path that it had at an earlier grant.
    pub fn grant_again(&self, canonical: PathBuf) {
        self.add_grant(Grant::from_canonical(canonical));
    }

    fn add_grant(&self, grant: Grant) {
        self.grants.write().unwrap_or_else(PoisonError::into_inner).push(grant);
    }

    /// Returns the places for a caller that may only use repositories: with the same granted
    /// directories, and with no place under any label. `missing` is the error message for each known
    /// label.
    #[must_use]
    pub fn of_repositories(&self, missing: &str) -> Places {
        let places = Places::default();
        for label in self.known().keys() {
            places.know(label, missing);
        }
        let grants = self.grants.read().unwrap_or_else(PoisonError::into_inner);
        grants.iter().for_each(|grant| places.add_grant(grant.clone()));
        places
    }

    /// Declares a label, with the error message for calls while no place is granted under it.
    pub fn know(&self, label: impl Into<String>, missing: impl Into<String>) {
        self.known_mut().entry(label.into()).or_default().missing = missing.into();
    }

    /// Grants a named place and its databases. Replaces any earlier grant for its label.
    ///
    /// Symbolic links in the existing part of its path are followed now.
    ///
    /// # Errors
    ///
    /// `invalid-path` if something of another kind is at the path, if the place would contain or lie
    /// within another named place, or if the path is not UTF-8; `permission`.
    pub fn grant_place(&self, place: NamedPlace) -> Result<(), Error> {
        let label = place.label.clone();
        let path = place.path.clone();
        let granted = Granted::Place(Arc::new(GrantedPlace::new(place)?));
        self.grant_under(label, granted, &path)
    }

    /// Grants a family of places. Replaces any earlier grant for its label.
    ///
    /// # Errors
    ///
    /// `invalid-path` if the registry's path or a fixed name is not possible, or if it overlaps with
    /// another named place; `not-granted` if a fixed path is refused; `permission`.
    pub fn grant_family(&self, family: FamilyGrant) -> Result<(), Error> {
        let label = family.label.clone();
        let granted = Granted::Family(Arc::new(Family::new(family)?));
        let path = granted.paths().into_iter().next().unwrap_or_default();
        self.grant_under(label, granted, &path)
    }

    /// Grants a place or a family. If the file system refuses it as it is now, the grant is kept: each
    /// call that needs the place tries it again, and fails with the error if it is still refused.
    /// Returns that error.
    ///
    /// # Errors
    ///
    /// Those of [`Places::grant_place`] and [`Places::grant_family`] that come from the path itself.
    pub fn grant_once_possible(&self, wanted: Wanted) -> Result<Option<Error>, Error> {
        match self.grant_wanted(wanted.clone()) {
            Ok(()) => Ok(None),
            Err(error) if named::may_pass(&error) => {
                let paths: Vec<_> = wanted.path().into_iter().collect();
                let path = paths.first().cloned().unwrap_or_default();
                check_apart(&self.known(), wanted.label(), paths, &path)?;
                self.want(wanted);
                Ok(Some(error))
            }
            Err(error) => Err(error),
        }
    }

    /// Keeps a grant for the first call that needs it.
    pub fn want(&self, wanted: Wanted) {
        let label = wanted.label().to_owned();
        self.known_mut().entry(label).or_default().wanted = Some(wanted);
    }

    /// The place that is granted under a label, for the [`Places`] of another thread or process. `None`
    /// if no place is granted under it.
    pub fn resolved(&self, label: &str) -> Option<Resolved> {
        Some(match self.known().get(label)?.granted.as_ref()? {
            Granted::Place(place) => Resolved::Place((**place).clone()),
            Granted::Family(family) => Resolved::Family(family.granted().clone()),
        })
    }

    /// Grants a place that another thread or process granted under this label. Does not look at the
    /// file system again.
    pub fn restore(&self, label: &str, resolved: Resolved, format: Arc<dyn RegistryFormat>) {
        let granted = match resolved {
            Resolved::Place(place) => Granted::Place(Arc::new(place)),
            Resolved::Family(family) => Granted::Family(Arc::new(Family::restore(family, format))),
        };
        self.known_mut().entry(label.to_owned()).or_default().granted = Some(granted);
    }

    fn grant_wanted(&self, wanted: Wanted) -> Result<(), Error> {
        match wanted {
            Wanted::Place(place) => self.grant_place(place),
            Wanted::Family(family) => self.grant_family(family),
        }
    }

    fn grant_under(&self, label: String, granted: Granted, path: &Path) -> Result<(), Error> {
        let mut known = self.known_mut();
        check_apart(&known, &label, granted.paths(), path)?;
        known.entry(label).or_default().granted = Some(granted);
        Ok(())
    }

    /// The directory of the place that is granted under a label. For a place that is a file, the file's
    /// directory. The part that existed at the grant is canonical. `None` for a family, and for a label
    /// without a grant.
    pub fn directory(&self, label: &str) -> Option<PathBuf> {
        match self.known().get(label)?.granted.as_ref()? {
            Granted::Place(place) => Some(place.directory.clone()),
            Granted::Family(_) => None,
        }
    }

    /// The directories of the named places and of the registries, without repetition. The directories
    /// need not exist.
    ///
    /// # Errors
    ///
    /// That of a grant which the file system still refuses.
    pub fn directories(&self) -> Result<Vec<PathBuf>, Error> {
        let is_given = |known: &KnownPlace| known.granted.is_some() || known.wanted.is_some();
        let known = self.known();
        let labels = known.iter().filter(|(_, known)| is_given(known));
        let labels: Vec<String> = labels.map(|(label, _)| label.clone()).collect();
        drop(known);
        let mut directories = Vec::new();
        for label in labels {
            match self.granted(&label)? {
                Granted::Place(place) => directories.push(place.directory.clone()),
                Granted::Family(family) => {
                    directories.extend(family.registry().map(Registry::directory).ok());
                }
            }
        }
        directories.sort();
        directories.dedup();
        Ok(directories)
    }

    /// Opens a place. Creates nothing.
    ///
    /// `more_roots` are granted for this call only. Roots that are not directories are ignored. With
    /// `only`, repositories outside of these directories count as not granted.
    ///
    /// # Errors
    ///
    /// `not-granted` if no grant covers the place (the message says how to grant it), if it is not the
    /// top level of its repository (the message names the top level), or if its `.git` cannot be
    /// trusted with the lock; `not-found`, `permission`, `invalid-path`. With `only`, the message
    /// does not tell whether a repository outside exists.
    pub fn open(
        &self,
        place: &Place,
        more_roots: &[PathBuf],
        only: Option<&[PathBuf]>,
    ) -> Result<Opened, Error> {
        let (label, name) = match place {
            Place::Repository(name) => {
                let resolved = Repository::resolve(name, &self.grants_within(more_roots, only));
                let resolved = match only {
                    Some(_) => resolved.map_err(|error| out_of_reach(name, error)),
                    None => resolved,
                };
                let layout = Layout::from_repository(resolved?)?;
                return Ok(Opened { layout, named: None });
            }
            Place::Named { label, name } => (label, name),
        };
        let granted = match self.granted(label)? {
            Granted::Place(place) if name.is_empty() => place,
            Granted::Place(_) => {
                let message = format!("the place `{label}` has no name: leave it empty");
                return Err(Error::new(ErrorCode::InvalidPath, message));
            }
            Granted::Family(family) => Arc::new(family.place(name, &self.others(label))?),
        };
        Ok(Opened { layout: granted.layout()?, named: Some(granted) })
    }

    /// The paths of the granted directories that have a `.git`, in byte order. Repositories in a
    /// granted directory without a `.git` are not listed. Repositories that cannot be opened are
    /// listed: the error of opening one tells why.
    ///
    /// `more_roots` are granted for this call only. With `only`, repositories outside of these
    /// directories are not listed.
    pub fn repositories(&self, more_roots: &[PathBuf], only: Option<&[PathBuf]>) -> Vec<String> {
        let is_repository = |grant: &Grant| kind_at(&grant.path().join(".git"), false).is_ok();
        let grants = self.grants_within(more_roots, only);
        let found = grants.iter().filter(|grant| is_repository(grant));
        let mut names: Vec<String> =
            found.filter_map(|grant| grant.path().to_str()).map(str::to_owned).collect();
        names.sort();
        names.dedup();
        names
    }

    /// The names of the places under a label, in byte order. A single place has an empty name.
    ///
    /// # Errors
    ///
    /// `not-granted` for a label under which nothing is granted; `io` if a registry is broken.
    pub fn names(&self, label: &str) -> Result<Vec<String>, Error> {
        match self.granted(label)? {
            Granted::Place(_) => Ok(vec![String::new()]),
            Granted::Family(family) => family.names(),
        }
    }

    /// The family with a label.
    ///
    /// # Errors
    ///
    /// `not-granted` if no family is granted under it.
    pub fn family(&self, label: &str) -> Result<Arc<Family>, Error> {
        match self.granted(label)? {
            Granted::Family(family) => Ok(family),
            Granted::Place(_) => Err(Error::new(
                ErrorCode::NotGranted,
                format!("the place `{label}` is not created here: it is no family of places"),
            )),
        }
    }

    /// The directories and files of the places under other labels, and the registry of this label.
    pub fn others(&self, label: &str) -> Directories {
        let known = self.known();
        let mut others = directories_but(&known, label);
        let own = known.get(label).and_then(|known| known.granted.as_ref());
        if let Some(Granted::Family(family)) = own
            && let Ok(registry) = family.registry()
        {
            others.add(registry.path(), registry.location());
        }
        others
    }

    fn granted(&self, label: &str) -> Result<Granted, Error> {
        let wanted = self.known().get(label).and_then(KnownPlace::still_wanted);
        if let Some(wanted) = wanted {
            self.grant_wanted(wanted)?;
        }
        let known = self.known();
        let known = known.get(label);
        if let Some(granted) = known.and_then(|known| known.granted.clone()) {
            return Ok(granted);
        }
        let message = known.map_or_else(
            || format!("this host knows no place `{label}`"),
            |known| known.missing.clone(),
        );
        Err(Error::new(ErrorCode::NotGranted, message))
    }

    fn known(&self) -> RwLockReadGuard<'_, BTreeMap<String, KnownPlace>> {
        self.known.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn known_mut(&self) -> RwLockWriteGuard<'_, BTreeMap<String, KnownPlace>> {
        self.known.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// The granted directories, restricted to `only` if given: a grant within a directory of `only` is
    /// kept; a grant that contains directories of `only` is replaced by these.
    fn grants_within(&self, more_roots: &[PathBuf], only: Option<&[PathBuf]>) -> Vec<Grant> {
        let grants = self.grants.read().unwrap_or_else(PoisonError::into_inner);
        let more = more_roots.iter().filter_map(|root| Grant::new(root).ok());
        let grants: Vec<Grant> = grants.iter().cloned().chain(more).collect();
        let Some(only) = only else { return grants };
        let part = |grant: &Grant| -> Vec<Grant> {
            let within = only.iter().any(|only| grant.path().starts_with(only));
            let parts = only.iter().filter(|only| only.starts_with(grant.path()));
            let parts = parts.filter_map(|part| Grant::new(part).ok());
            // Leaves out a directory of `only` that a symbolic link has replaced: the link may lead
            // elsewhere.
            let parts = parts.filter(|part| only.iter().any(|only| part.path() == only));
            if within { vec![grant.clone()] } else { parts.collect() }
        };
        grants.iter().flat_map(part).collect()
    }
}

/// Replaces the error of opening a repository, for a caller that may use only some repositories: the
/// new message does not tell whether the repository exists, and shows no other path.
fn out_of_reach(name: &str, error: Error) -> Error {
    match error.code {
        ErrorCode::NotGranted | ErrorCode::NotFound => {
            let message = format!("`{name}` is not a repository that you reach");
            Error::new(ErrorCode::NotGranted, message)
        }
        _ => error,
    }
}

/// Checks that the paths of a place overlap no place under another label. `path` is the path of the
/// place as it was given, for the message.
fn check_apart(
    known: &BTreeMap<String, KnownPlace>,
    label: &str,
    paths: Vec<PathBuf>,
    path: &Path,
) -> Result<(), Error> {
    let others = directories_but(known, label);
    let meets = |path: PathBuf| others.meeting(&path, "").map(|reason| (path, reason));
    let Some((met, reason)) = paths.into_iter().find_map(meets) else { return Ok(()) };
    let shown = if met.ends_with(path) { path } else { met.as_path() };
    let message = format!("cannot keep {label} in `{}`: {reason}", shown.display());
    Err(Error::new(ErrorCode::InvalidPath, message))
}

/// The directories and files of all places except those under `label`.
fn directories_but(known: &BTreeMap<String, KnownPlace>, label: &str) -> Directories {
    let mut others = Directories::default();
    for (other, known) in known.iter().filter(|(other, _)| *other != label) {
        for path in known.paths() {
            others.add(path, other);
        }
    }
    others
}
