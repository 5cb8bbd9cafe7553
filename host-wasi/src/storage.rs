//! The storage of a plugin: documents over the preopened directories, and no databases.

use std::path::PathBuf;
use std::rc::Rc;

use agent_memory_storage::database::{Connection, Kind};
use agent_memory_storage::{Error, ErrorCode, Place as Asked, Storage, Tree};
use agent_memory_storage_files::{Durability, Grant, Layout, Repository};

use crate::family::Family;
use crate::taken::Taken;
use crate::tree::Place;

/// A place that the core knows by its label. The settings may give its path.
#[derive(Debug)]
pub(crate) struct NamedPlace {
    pub label: String,
    pub form: Form,
    /// The error message if the place has no path.
    pub missing: String,
}

/// The form of a named place.
#[derive(Debug)]
pub(crate) enum Form {
    Missing,
    Directory {
        path: PathBuf,
        is_private: bool,
        databases: Vec<String>,
    },
    /// A database file, which a plugin cannot open.
    DatabaseFile,
    Family(Family),
}

/// The places that the settings grant.
#[derive(Debug)]
pub(crate) struct PluginStorage {
    pub repositories: Vec<PathBuf>,
    pub places: Vec<NamedPlace>,
    pub durability: Durability,
    pub taken: Rc<Taken>,
    /// Whether private places may be opened: WASI cannot set modes, and the user has to accept that.
    pub accepts_modes: bool,
}

impl PluginStorage {
    fn grants(&self) -> Vec<Grant> {
        self.repositories.iter().filter_map(|path| Grant::new(path).ok()).collect()
    }

    fn named(&self, label: &str) -> Result<&NamedPlace, Error> {
        let place = self.places.iter().find(|place| place.label == label);
        place.ok_or_else(|| not_granted(format!("this host knows no place `{label}`")))
    }

    fn layout(&self, place: &Asked) -> Result<Layout, Error> {
        let layout = match place {
            Asked::Repository(name) => {
                let resolved = Repository::resolve(name, &self.grants());
                return Layout::from_repository(
                    resolved.map_err(|error| self.with_hint(error, name))?,
                );
            }
            Asked::Named { label, name } => match &self.named(label)?.form {
                Form::Missing => return Err(not_granted(self.named(label)?.missing.clone())),
                Form::DatabaseFile => return Err(needs_a_database(label)),
                Form::Family(family) => family.layout(name)?,
                Form::Directory { path, is_private, databases } => {
                    Layout::from_directory(path, &path.to_string_lossy(), *is_private, databases)?
                }
            },
        };
        if layout.is_private() && !self.accepts_modes {
            return Err(not_granted(format!(
                "`{}` is for its owner alone, but a plugin cannot set modes of files: give the host a \
                 umask of 077, and set `AGENT_MEMORY_ACCEPT_MODES=true`",
                layout.location()
            )));
        }
        Ok(layout)
    }

    /// Replaces the error for a repository that is not granted: here, a variable grants repositories.
    fn with_hint(&self, error: Error, name: &str) -> Error {
        let is_granted =
            self.grants().iter().any(|grant| name.starts_with(&*grant.path().to_string_lossy()));
        if error.code != ErrorCode::NotGranted || is_granted {
            return error;
        }
        not_granted(format!(
            "`{name}` is not granted: preopen it, and name it in `AGENT_MEMORY_ALLOW`"
        ))
    }
}

impl Storage for PluginStorage {
    fn open(&self, place: &Asked) -> Result<Box<dyn Tree + '_>, Error> {
        Ok(Box::new(Place::new(self.layout(place)?, self.durability, &self.taken)))
    }

    fn list_repositories(&self) -> Result<Vec<String>, Error> {
        let grants = self.grants();
        let mut names: Vec<String> = grants
            .iter()
            .filter(|grant| grant.path().join(".git").symlink_metadata().is_ok())
            .filter_map(|grant| grant.path().to_str())
            .filter(|name| Repository::resolve(name, &grants).is_ok())
            .map(str::to_owned)
            .collect();
        names.sort();
        names.dedup();
        Ok(names)
    }

    fn list_places(&self, label: &str) -> Result<Vec<String>, Error> {
        let place = self.named(label)?;
        match &place.form {
            Form::Missing => Err(not_granted(place.missing.clone())),
            Form::Family(family) => family.names(),
            Form::Directory { .. } | Form::DatabaseFile => Ok(vec![String::new()]),
        }
    }

    fn create_place(&self, place: &Asked) -> Result<Box<dyn Tree + '_>, Error> {
        let Asked::Named { label, name } = place else {
            return Err(not_granted("a repository is not created here: create it with Git".into()));
        };
        let Form::Family(family) = &self.named(label)?.form else {
            return Err(not_granted(format!("the place `{label}` is no family of places")));
        };
        if !self.accepts_modes {
            return Err(not_granted(format!(
                "`{name}` would be for its owner alone, but a plugin cannot set modes of \
                 files: give the host a umask of 077, and set `AGENT_MEMORY_ACCEPT_MODES=true`"
            )));
        }
        family.create(name)?;
        self.open(place)
    }

    fn open_database(
        &self,
        place: &Asked,
        name: &str,
        kind: Kind,
        create: bool,
    ) -> Result<Box<dyn Connection + '_>, Error> {
        let Asked::Named { label, .. } = place else {
            return Err(not_granted(format!("a plugin has no database `{name}`")));
        };
        if kind == Kind::Kept {
            if let Form::Missing = self.named(label)?.form {
                return Err(not_granted(self.named(label)?.missing.clone()));
            }
            let exists = match &self.named(label)?.form {
                Form::Directory { path, .. } => path.join(name).symlink_metadata().is_ok(),
                _ => true,
            };
            if exists || create {
                return Err(needs_a_database(label));
            }
        }
        Err(Error::new(ErrorCode::NotFound, format!("a plugin has no database `{name}`")))
    }
}

fn needs_a_database(label: &str) -> Error {
    not_granted(format!(
        "`{label}` needs a database here, and a plugin has none: use the program `agent-memory`, or \
         the package for Node or Python"
    ))
}

fn not_granted(message: String) -> Error {
    Error::new(ErrorCode::NotGranted, message)
}
