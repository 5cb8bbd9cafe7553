//! The places that a family, a group of named places, has at one moment.

use std::collections::BTreeMap;
use std::path::PathBuf;

use agent_memory_storage::{Error, ErrorCode};
use serde::Deserialize;

use super::family::{Directories, FamilyBase, check_links};
use super::path;

/// A place that a registry lists.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Registered {
    /// The path of the place as the registry has it. Empty if the registry gives none.
    pub path: String,
    /// The description of the place in the registry.
    pub description: Option<String>,
    /// The reason why the place cannot be used, if the text of the registry is wrong about it.
    pub unusable: Option<String>,
    /// Messages for a person about parts of the registry's entry that are ignored.
    #[serde(default)]
    pub warnings: Vec<String>,
}

/// The places of a family at one moment.
#[derive(Debug)]
pub struct Members {
    label: String,
    base: FamilyBase,
    registered: BTreeMap<String, Registered>,
    /// The directories of the places, without the places whose paths are not allowed.
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

    /// The places by name, including places that cannot be opened.
    pub fn registered(&self) -> &BTreeMap<String, Registered> {
        &self.registered
    }

    /// The names of all places, including places that cannot be opened because they are refused or
    /// their directory is missing: the error of opening one tells why.
    pub fn names(&self) -> Vec<String> {
        self.registered.keys().cloned().collect()
    }

    /// The directory of a place, after all checks, and whether it exists.
    ///
    /// # Errors
    ///
    /// `invalid-path` if a place cannot have this name, `not-found` if the family has no such place,
    /// `not-granted` if the place cannot be used or its path is refused; `permission`, `io`.
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

    /// The directory of a place that a registry lists. A missing directory is not created: it may be on
    /// a disk that is not connected now.
    ///
    /// # Errors
    ///
    /// Those of [`directory`](Members::directory); `not-found` if the directory is missing.
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

    /// These places and a new one.
    ///
    /// # Errors
    ///
    /// `invalid-path` if a place cannot have this name; `already-exists` if the name is registered,
    /// even if only its case differs.
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
