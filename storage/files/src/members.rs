//! The places that a family has at one moment.

use std::collections::BTreeMap;
use std::path::PathBuf;

use agent_memory_storage::{Error, ErrorCode};
use serde::Deserialize;

use super::family::{Directories, FamilyBase, check_links};
use super::path;

/// A place that a registry lists.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Registered {
    /// Its path as the registry has it. Empty if the registry gives none.
    pub path: String,
    /// Its description.
    pub description: Option<String>,
    /// The reason why it cannot be used.
    pub unusable: Option<String>,
    /// Parts of it that are ignored, for a person.
    #[serde(default)]
    pub warnings: Vec<String>,
}

/// The places of a family at one moment.
#[derive(Debug)]
pub struct Members {
    label: String,
    base: FamilyBase,
    registered: BTreeMap<String, Registered>,
    /// The directories whose paths are possible.
    directories: Directories,
}

impl Members {
    /// The places of the family with a label, by name.
    pub fn new(label: &str, base: &FamilyBase, registered: BTreeMap<String, Registered>) -> Self {
        let mut directories = Directories::default();
        for (name, registered) in &registered {
            if registered.unusable.is_some() {
                continue;
            }
            if let Ok(directory) = base.directory(&registered.path) {
                directories.add(directory, name);
            }
        }
        Members { label: label.to_owned(), base: base.clone(), registered, directories }
    }

    /// The places by name, also those that are refused.
    pub fn registered(&self) -> &BTreeMap<String, Registered> {
        &self.registered
    }

    /// The names of all places. One that is refused or whose directory is missing is among them:
    /// opening it tells why.
    pub fn names(&self) -> Vec<String> {
        self.registered.keys().cloned().collect()
    }

    /// The directory of a place, after all checks, and whether it exists.
    ///
    /// # Errors
    ///
    /// `invalid-path` if it is no name for a place, `not-found` if there is none of this name,
    /// `not-granted` if it cannot be used or its path is refused; `permission`, `io`.
    pub fn directory(&self, name: &str, others: &Directories) -> Result<(PathBuf, bool), Error> {
        check_name(name)?;
        let Some(Registered { path, unusable, .. }) = self.registered.get(name) else {
            let message = format!("there is no place `{name}` in `{}`", self.label);
            return Err(Error::new(ErrorCode::NotFound, message));
        };
        if let Some(reason) = unusable {
            let message = format!("cannot use `{name}`: {reason}");
            return Err(Error::new(ErrorCode::NotGranted, message));
        }
        let refused = |reason: &str| {
            let message = format!("cannot use `{name}` at `{path}`: {reason}");
            Error::new(ErrorCode::NotGranted, message)
        };
        let directory = self.base.directory(path).map_err(refused)?;
        let meets = self.directories.meeting(&directory, name);
        if let Some(reason) = meets.or_else(|| others.meeting(&directory, "")) {
            return Err(refused(&reason));
        }
        let exists = check_links(&directory).map_err(|error| match error.code {
            ErrorCode::NotGranted => refused(&error.message),
            _ => error,
        })?;
        Ok((directory, exists))
    }

    /// The directory of a place that a registry lists. It may be on a disk that is not there now, so
    /// a call does not create it.
    ///
    /// # Errors
    ///
    /// Those of [`directory`](Members::directory); `not-found` if it is missing.
    pub fn existing_directory(&self, name: &str, others: &Directories) -> Result<PathBuf, Error> {
        let (directory, exists) = self.directory(name, others)?;
        if exists {
            return Ok(directory);
        }
        let message = format!(
            "the directory of `{name}` is missing: bring `{}` back, or register another",
            directory.display()
        );
        Err(Error::new(ErrorCode::NotFound, message))
    }

    /// The places after one more is registered.
    ///
    /// # Errors
    ///
    /// `invalid-path` if it is no name for a place; `already-exists` if the name is registered, also
    /// in another case.
    pub fn with(&self, name: &str, path: &str) -> Result<Self, Error> {
        check_name(name)?;
        let mut names = self.registered.keys();
        if let Some(twin) = names.find(|other| other.eq_ignore_ascii_case(name)) {
            let message = format!("`{twin}` is registered already: choose another name");
            return Err(Error::new(ErrorCode::AlreadyExists, message));
        }
        let mut registered = self.registered.clone();
        let added = Registered { path: path.to_owned(), ..Registered::default() };
        registered.insert(name.to_owned(), added);
        Ok(Members::new(&self.label, &self.base, registered))
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
