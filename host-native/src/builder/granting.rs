//! Grants the places of toolsets.

use super::error::BuildError;
use crate::data_directory;
use crate::description::{Description, OwnSettings, PlaceDescription, Toolset};
use crate::registry_format::ComponentFormat;
use crate::storage::{FamilyGrant, FamilyMembers, NamedPlace, NamedPlaceKind, Storage, Wanted};
#[cfg(feature = "postgres")]
use crate::{database::DatabaseOptions, description::DatabaseDescription, storage::ServerLabel};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
#[cfg(feature = "postgres")]
use std::time::Duration;

/// The settings from which the places of toolsets are granted.
pub(super) struct Granting<'a> {
    pub(super) storage: &'a Storage,
    pub(super) own: &'a OwnSettings,
    pub(super) format: Arc<ComponentFormat>,
    pub(super) directories: Directories,
    pub(super) members: BTreeMap<String, BTreeMap<String, PathBuf>>,
    /// Whether places without a path in the settings are on a database server.
    #[cfg(feature = "postgres")]
    pub(super) has_server: bool,
}

impl Granting<'_> {
    /// Grants the places of a toolset whose paths the settings give. If the toolset is mounted, grants
    /// its other places at their default paths.
    pub(super) fn grant_places(
        &self,
        toolset: &Toolset,
        is_mounted: bool,
    ) -> Result<(), BuildError> {
        for place in &toolset.places {
            self.storage.know_place(&place.label, &place.missing);
            let set = self.own.get(&toolset.name).and_then(|own| own.get(&place.setting));
            let set = set.and_then(Value::as_str).map(below_home);
            if let Some(members) = self.members.get(&place.label).filter(|_| place.is_family()) {
                if set.is_some() {
                    return Err(BuildError::Setting(format!(
                        "the places of `{}` are given, and its `{}` too: give one of both",
                        place.label, place.setting
                    )));
                }
                let members = members.iter().map(|(name, path)| (name.clone(), path.clone()));
                self.grant_family(place, FamilyMembers::Fixed(members.collect()))?;
                continue;
            }
            #[cfg(feature = "postgres")]
            if set.is_none() && self.has_server {
                self.storage.know_place(&place.label, missing_on_server(toolset, place));
                continue;
            }
            let default = || is_mounted.then(|| self.directories.default_path(&place.default))?;
            if let Some(path) = set.or_else(default) {
                self.grant(place, path)?;
            }
        }
        Ok(())
    }

    /// Puts the places without a path in the settings on a database server.
    #[cfg(feature = "postgres")]
    pub(super) fn set_server(
        &self,
        options: DatabaseOptions,
        description: &Description,
        statement_time: Duration,
    ) -> Result<(), BuildError> {
        let places = description.toolsets.iter();
        let places = places.flat_map(|toolset| toolset.places.iter().map(move |at| (toolset, at)));
        let is_given = |toolset: &Toolset, place: &PlaceDescription| {
            let own = self.own.get(&toolset.name);
            own.is_some_and(|own| own.contains_key(&place.setting))
                || self.members.contains_key(&place.label)
        };
        let labels = places
            .filter(|(toolset, place)| is_for_server(place) && !is_given(toolset, place))
            .map(|(_, place)| ServerLabel {
                label: place.label.clone(),
                is_family: place.is_family(),
                databases: databases(place),
                tables: tables(place),
            });
        let derived = description.derived_databases.iter();
        let derived = derived.filter(|database| database.is_for_postgres());
        let derived = derived.map(|database| database.name.clone());
        let server = options.open(labels.collect(), derived.collect(), statement_time);
        self.storage.set_server(server.map_err(BuildError::Database)?);
        Ok(())
    }

    fn grant(&self, place: &PlaceDescription, path: PathBuf) -> Result<(), BuildError> {
        let kind = match place.kind.as_str() {
            "directory" => NamedPlaceKind::Directory,
            "file" => NamedPlaceKind::File,
            _ if place.is_family() => {
                let format = self.format.clone();
                return self.grant_family(place, FamilyMembers::Registry { path, format });
            }
            // This host does not know this kind of place.
            _ => return Ok(()),
        };
        let wanted = Wanted::Place(NamedPlace {
            label: place.label.clone(),
            kind,
            path: path.clone(),
            is_private: place.is_private,
            databases: databases(place),
        });
        self.grant_once_possible(wanted, path)
    }

    fn grant_family(
        &self,
        place: &PlaceDescription,
        members: FamilyMembers,
    ) -> Result<(), BuildError> {
        let path = match &members {
            FamilyMembers::Registry { path, .. } => Some(path.clone()),
            FamilyMembers::Fixed(places) => places.values().next().cloned(),
        };
        let wanted = Wanted::Family(FamilyGrant {
            label: place.label.clone(),
            members,
            home: std::env::home_dir(),
            data_directory: self.directories.data.clone(),
            databases: databases(place),
        });
        self.grant_once_possible(wanted, path.unwrap_or_default())
    }

    /// Grants a place. If the file system refuses the grant now, only the calls that need the place
    /// fail.
    fn grant_once_possible(&self, wanted: Wanted, directory: PathBuf) -> Result<(), BuildError> {
        match self.storage.grant_once_possible(wanted) {
            Ok(None) => Ok(()),
            Ok(Some(refused)) => {
                tracing::warn!("{refused}: tools that need it fail until then");
                Ok(())
            }
            Err(error) => Err(BuildError::Grant { directory, error }),
        }
    }

    /// Checks that each label that was given to `Builder::place` is the label of a family.
    pub(super) fn check_labels(&self, description: &Description) -> Result<(), BuildError> {
        let places = || description.toolsets.iter().flat_map(|toolset| &toolset.places);
        let is_family = |label: &String| places().any(|at| at.is_family() && at.label == *label);
        match self.members.keys().find(|label| !is_family(label)) {
            Some(label) => {
                Err(BuildError::Setting(format!("no toolset has a family of places `{label}`")))
            }
            None => Ok(()),
        }
    }
}

/// Whether a database server can hold a place. It can if the place has documents, or databases that can
/// be tables.
#[cfg(feature = "postgres")]
fn is_for_server(place: &PlaceDescription) -> bool {
    place.kind == "directory" || place.is_family() || !tables(place).is_empty()
}

/// The names of the databases of a place that are tables on a server. Empty for a family: the rows of a
/// table do not say to which place of the family they belong.
#[cfg(feature = "postgres")]
fn tables(place: &PlaceDescription) -> Vec<String> {
    let has_tables =
        |database: &&DatabaseDescription| !place.is_family() && database.is_for_postgres();
    place.databases.iter().filter(has_tables).map(|database| database.name.clone()).collect()
}

/// The message for a place that a database server does not hold.
#[cfg(feature = "postgres")]
fn missing_on_server(toolset: &Toolset, place: &PlaceDescription) -> String {
    let flag = toolset.setting(&place.setting).map_or("", |setting| &setting.flag);
    format!(
        "the place of `{}` is a file of SQLite, which the database server does not hold: give a file \
         of this machine (`--{flag}`), or leave the toolset out",
        toolset.name
    )
}

fn databases(place: &PlaceDescription) -> Vec<String> {
    place.databases.iter().map(|database| database.name.clone()).collect()
}

/// The directories that contain the default paths. Each is `None` if it was not given and there is no
/// home directory.
pub(super) struct Directories {
    data: Option<PathBuf>,
    /// The directory for files that people edit. If a data directory was given, this is the data
    /// directory.
    configuration: Option<PathBuf>,
}

impl Directories {
    pub(super) fn new(given: Option<PathBuf>) -> Self {
        Directories {
            configuration: given.clone().or_else(data_directory::of_configuration),
            data: given.or_else(data_directory::of_platform),
        }
    }

    /// The default path of a place. `None` if there is no directory for it, or if the path is not
    /// absolute.
    fn default_path(&self, path: &str) -> Option<PathBuf> {
        match path.split_once(':') {
            Some(("data", name)) => Some(self.data.as_ref()?.join(name)),
            Some(("config", name)) => Some(self.configuration.as_ref()?.join(name)),
            _ => Some(below_home(path)).filter(|path| path.is_absolute()),
        }
    }
}

/// Replaces a leading `~` by the home directory. Without a leading `~`, or without a home directory,
/// returns the path unchanged.
pub(crate) fn below_home(path: impl AsRef<Path>) -> PathBuf {
    let path = path.as_ref();
    match (path.strip_prefix("~"), std::env::home_dir()) {
        (Ok(below), Some(home)) => home.join(below),
        _ => path.to_owned(),
    }
}
