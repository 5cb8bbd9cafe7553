//! The granted places, and saving them in a form that another instance can restore.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use agent_memory_storage::Error;
use agent_memory_storage_files::places::{
    FamilyGrant, FamilyMembers, NamedPlace, NamedPlaceKind, Places, RegistryFormat, Resolved,
    Wanted,
};
use agent_memory_storage_files::{Durability, Grant};
use serde::{Deserialize, Serialize};

use crate::host_format::HostFormat;

/// The form of a place that is to be granted.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub enum Form {
    Directory,
    File,
    Family,
}

/// A place that is to be granted.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct WantedPlace {
    pub label: String,
    pub form: Form,
    pub path: PathBuf,
    pub is_private: bool,
    pub databases: Vec<String>,
    pub home: Option<PathBuf>,
    pub data_directory: Option<PathBuf>,
    pub members: Option<BTreeMap<String, PathBuf>>,
}

impl From<WantedPlace> for Wanted {
    fn from(place: WantedPlace) -> Self {
        let WantedPlace { label, form, path, is_private, databases, home, data_directory, members } =
            place;
        let kind = match form {
            Form::Directory => NamedPlaceKind::Directory,
            Form::File => NamedPlaceKind::File,
            Form::Family => {
                let members = match members {
                    Some(members) => FamilyMembers::Fixed(members),
                    None => FamilyMembers::Registry { path, format: format() },
                };
                return Wanted::Family(FamilyGrant {
                    label,
                    members,
                    home,
                    data_directory,
                    databases,
                });
            }
        };
        Wanted::Place(NamedPlace { label, kind, path, is_private, databases })
    }
}

fn format() -> Arc<dyn RegistryFormat> {
    Arc::new(HostFormat)
}

/// The granted places, and every grant that was requested: [`Grants::save`] writes both.
#[derive(Debug, Default)]
pub struct Grants {
    pub places: Places,
    pub durability: Durability,
    saved: Saved,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Saved {
    /// The canonical paths of the granted directories.
    repositories: Vec<PathBuf>,
    /// The labels for which no place is granted, each with the message for calls.
    missing: Vec<(String, String)>,
    wanted: Vec<(WantedPlace, Option<Resolved>)>,
}

impl Grants {
    pub fn grant_repositories(&mut self, directory: &str) -> Result<PathBuf, Error> {
        let canonical = Grant::new(directory.as_ref())?.path().to_owned();
        self.places.grant_again(canonical.clone());
        self.saved.repositories.push(canonical.clone());
        Ok(canonical)
    }

    pub fn grant_place(&mut self, wanted: WantedPlace) -> Result<Option<Error>, Error> {
        let refused = self.places.grant_once_possible(wanted.clone().into())?;
        self.saved.wanted.push((wanted, None));
        Ok(refused)
    }

    pub fn know(&mut self, label: String, missing: String) {
        self.places.know(&*label, &*missing);
        self.saved.missing.push((label, missing));
    }

    pub fn save(&self) -> String {
        let mut saved = self.saved.clone();
        for (wanted, resolved) in &mut saved.wanted {
            *resolved = self.places.resolved(&wanted.label);
        }
        serde_json::to_string(&saved).expect("its paths are UTF-8, as those of a host")
    }

    pub fn restore(text: &str, durability: Durability) -> Self {
        let saved: Saved = serde_json::from_str(text).expect("`save` made it");
        let places = Places::default();
        for canonical in &saved.repositories {
            places.grant_again(canonical.clone());
        }
        for (label, missing) in &saved.missing {
            places.know(&**label, &**missing);
        }
        for (wanted, resolved) in &saved.wanted {
            match resolved {
                Some(resolved) => places.restore(&wanted.label, resolved.clone(), format()),
                None => places.want(wanted.clone().into()),
            }
        }
        Grants { places, durability, saved }
    }
}
