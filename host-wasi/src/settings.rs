//! The settings of a plugin, from variables of its environment. `docs/plugin.md` lists them.

use std::fmt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use agent_memory_core::{context, toolbox};
use agent_memory_setting_values as value;
use agent_memory_storage_files::{Directories, Durability, FamilyBase};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::family::Family;
use crate::storage::{Form, NamedPlace, PluginStorage};
use crate::taken::Taken;

/// The variables of the environment: the value of a name, if it is set.
pub type Environment<'a> = dyn Fn(&str) -> Option<String> + 'a;

/// The error for a variable with an invalid value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsError(String);

impl fmt::Display for SettingsError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for SettingsError {}

/// The clock of the calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clock {
    Real,
    /// Call k, from 0, sees the start plus k steps. Both in milliseconds.
    Fixed {
        start: i64,
        step: i64,
    },
}

/// The settings of a plugin.
#[derive(Debug)]
pub struct Settings {
    /// The settings that each call's context passes to the core.
    pub of_context: context::Settings,
    /// The tools for models, as MCP lists them.
    pub(crate) tools: Vec<Value>,
    pub(crate) utc_offset_minutes: i32,
    pub(crate) clock: Clock,
    /// The seed of the first call. `None` for a seed from the system's randomness.
    pub(crate) seed: Option<u64>,
    pub(crate) storage: PluginStorage,
}

#[derive(Deserialize)]
struct Description {
    toolsets: Vec<Toolset>,
}

#[derive(Deserialize)]
struct Toolset {
    name: String,
    default: bool,
    settings: Vec<Setting>,
    left_out_by: Option<String>,
    places: Vec<PlaceDescription>,
    tools: Vec<Map<String, Value>>,
}

#[derive(Deserialize)]
struct Setting {
    name: String,
    flag: String,
    environment: Vec<String>,
    schema: Value,
    /// Whether the setting is the path of a place. The core gets no such setting.
    is_path: bool,
}

#[derive(Deserialize)]
struct PlaceDescription {
    label: String,
    kind: String,
    is_private: bool,
    setting: Option<String>,
    default: String,
    databases: Vec<Database>,
    missing: String,
}

#[derive(Deserialize)]
struct Database {
    name: String,
}

impl Settings {
    /// Reads the variables. A variable that is empty or an unexpanded `${...}` counts as not set.
    ///
    /// # Errors
    ///
    /// If the value of a variable cannot be read; the message names the variable and what it accepts.
    pub fn from_environment(environment: &Environment<'_>) -> Result<Self, SettingsError> {
        let variables = Variables(environment);
        let described = toolbox::describe();
        let Description { toolsets } =
            serde_json::from_str(&described).expect("the core describes itself");
        let durability =
            variables.read("AGENT_MEMORY_DURABILITY", value::DURABILITY, value::durability)?;
        let durability = durability.unwrap_or_default();
        let taken = Rc::new(Taken::default());
        let mut of_context = context::Settings::default();
        let mut places = Vec::new();
        let mut mounted = variables.get("AGENT_MEMORY_TOOLSET").map_or_else(
            || toolsets.iter().filter(|one| one.default).map(|one| one.name.clone()).collect(),
            |names| names.split(',').map(|name| name.trim().to_owned()).collect::<Vec<_>>(),
        );
        let mut with_others = Vec::new();
        for toolset in &toolsets {
            let mut own = variables.own(toolset)?;
            for place in &toolset.places {
                let path = variables.path_of(place, &own)?;
                let form = form(place, path, &variables, durability, &taken);
                let missing = place.missing.clone();
                places.push(NamedPlace { label: place.label.clone(), form, missing });
            }
            if let Some(setting) = &toolset.left_out_by {
                let is_left_out = own.get(setting) == Some(&Value::Bool(true));
                with_others.extend((!is_left_out).then(|| toolset.name.clone()));
            } else if mounted.iter().any(|name| name == "all") {
                mounted.push(toolset.name.clone());
            }
            let is_path =
                |name: &str| toolset.settings.iter().any(|one| one.name == name && one.is_path);
            own.retain(|name, _| !is_path(name));
            if !own.is_empty() {
                of_context.own.insert(toolset.name.clone(), own);
            }
        }
        keep_apart(&mut places);
        mounted.retain(|name| name != "all");
        mounted.extend(with_others);
        of_context.toolsets.clone_from(&mounted);
        toolbox::check_settings(&of_context).map_err(|failure| SettingsError(failure.message))?;
        let accepts = variables.read("AGENT_MEMORY_ACCEPT_MODES", BOOLEAN, boolean)?;
        let repositories = variables.read("AGENT_MEMORY_ALLOW", PATHS, paths)?.unwrap_or_default();
        Ok(Settings {
            of_context,
            tools: listed(toolsets, &mounted),
            utc_offset_minutes: variables
                .read("AGENT_MEMORY_UTC_OFFSET", value::UTC_OFFSET, value::utc_offset)?
                .unwrap_or(0),
            clock: variables
                .read("AGENT_MEMORY_FIXED_CLOCK", value::FIXED_CLOCK, clock)?
                .unwrap_or(Clock::Real),
            seed: variables.read(
                "AGENT_MEMORY_FIXED_RANDOM",
                value::FIXED_RANDOM,
                value::fixed_random,
            )?,
            storage: PluginStorage {
                repositories,
                places,
                durability,
                taken,
                accepts_modes: accepts.unwrap_or(false),
            },
        })
    }
}

/// The tools of the mounted toolsets for models. A name that two tools share is qualified by the
/// toolset.
fn listed(toolsets: Vec<Toolset>, mounted: &[String]) -> Vec<Value> {
    let is_mounted = |name: &str| mounted.iter().any(|one| one == name);
    let tools = toolsets.into_iter().filter(|toolset| is_mounted(&toolset.name));
    let for_models =
        tools.flat_map(|toolset| toolset.tools).filter(|tool| tool["audience"] == "model");
    let as_listed = for_models.map(|mut tool| {
        let mut shared = tool["shared_with"].as_array().into_iter().flatten();
        if shared.any(|other| other.as_str().is_some_and(is_mounted)) {
            tool["name"] = tool["qualified_name"].clone();
        }
        for field in ["qualified_name", "shared_with", "audience", "always_visible"] {
            tool.shift_remove(field);
        }
        Value::Object(tool)
    });
    as_listed.collect()
}

struct Variables<'a>(&'a Environment<'a>);

impl Variables<'_> {
    fn get(&self, name: &str) -> Option<String> {
        (self.0)(name).filter(|value| {
            let value = value.trim();
            let is_unexpanded = value.starts_with("${") && value.ends_with('}');
            !value.is_empty() && !is_unexpanded
        })
    }

    fn read<T>(
        &self,
        name: &str,
        accepted: &str,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, SettingsError> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let read = read(value.trim());
        let error = || SettingsError(format!("`{name}` is `{value}`: it has to be {accepted}"));
        read.map(Some).ok_or_else(error)
    }

    /// The settings of a toolset that are set, by name.
    fn own(&self, toolset: &Toolset) -> Result<Map<String, Value>, SettingsError> {
        let mut own = Map::new();
        for setting in &toolset.settings {
            let derived = format!("AGENT_MEMORY_{}", setting.flag.replace('-', "_").to_uppercase());
            let names = std::iter::once(&derived).chain(&setting.environment);
            let Some(name) = names.into_iter().find(|name| self.get(name).is_some()) else {
                continue;
            };
            let value = match setting.schema["type"].as_str() {
                Some("boolean") => self.read(name, BOOLEAN, boolean)?.map(Value::Bool),
                Some("integer") => self
                    .read(name, "a whole number", |text| text.parse::<u64>().ok())?
                    .map(Value::from),
                _ => self.get(name).map(Value::String),
            };
            own.extend(value.map(|value| (setting.name.clone(), value)));
        }
        Ok(own)
    }

    /// The path of a place: from its setting, or the default.
    fn path_of(
        &self,
        place: &PlaceDescription,
        own: &Map<String, Value>,
    ) -> Result<Option<PathBuf>, SettingsError> {
        let set = place.setting.as_ref().and_then(|setting| own.get(setting)?.as_str());
        let path = set.unwrap_or(&place.default);
        for (prefix, variable) in [
            ("~/", "HOME"),
            ("data:", "AGENT_MEMORY_DATA_DIR"),
            ("config:", "AGENT_MEMORY_DATA_DIR"),
        ] {
            if let Some(rest) = path.strip_prefix(prefix) {
                let directory = self.read(variable, PATH, absolute)?;
                return Ok(directory.map(|directory| directory.join(rest)));
            }
        }
        let error = || {
            SettingsError(format!("`{path}` is the path of `{}`: it has to be {PATH}", place.label))
        };
        absolute(path).map(Some).ok_or_else(error)
    }
}

fn form(
    place: &PlaceDescription,
    path: Option<PathBuf>,
    variables: &Variables<'_>,
    durability: Durability,
    taken: &Rc<Taken>,
) -> Form {
    let Some(path) = path else { return Form::Missing };
    let directory = |variable| variables.get(variable).map(PathBuf::from);
    match place.kind.as_str() {
        "directory" => Form::Directory {
            path,
            is_private: place.is_private,
            databases: place.databases.iter().map(|database| database.name.clone()).collect(),
        },
        "family" => {
            let home = directory("HOME");
            let data = directory("AGENT_MEMORY_DATA_DIR");
            let others = Directories::default();
            Form::Family(Family {
                label: place.label.clone(),
                registry: path,
                base: FamilyBase::new(home.as_deref(), data.as_deref()),
                others,
                durability,
                taken: taken.clone(),
            })
        }
        _ => Form::DatabaseFile,
    }
}

const PATH: &str = "an absolute path of the guest, without `..` and unexpanded variables";

/// Accepts only an absolute path without `..`: WASI has no working directory, and cannot resolve a `..`
/// behind a symbolic link.
fn absolute(text: &str) -> Option<PathBuf> {
    let path = Path::new(text);
    let is_plain = !path.components().any(|part| part == std::path::Component::ParentDir);
    let is_meant = value::path_mistake(text).is_none();
    (is_plain && is_meant && path.is_absolute()).then(|| path.to_owned())
}

const PATHS: &str = "absolute paths of the guest, without `..`, separated by `:`";

/// Tells each family the directories of all other places, and the registries. A place of a family must
/// not be in or around one of them.
fn keep_apart(places: &mut [NamedPlace]) {
    let mut all = Directories::default();
    for NamedPlace { label, form, .. } in places.iter() {
        match form {
            Form::Directory { path, .. } => all.add(path.clone(), label),
            Form::Family(family) => all.add(family.registry.clone(), "the registry"),
            Form::Missing | Form::DatabaseFile => {}
        }
    }
    for place in places {
        if let Form::Family(family) = &mut place.form {
            family.others = all.clone();
        }
    }
}

/// The paths of a list that is separated as `PATH` is on Unix.
fn paths(list: &str) -> Option<Vec<PathBuf>> {
    list.split(':').filter(|path| !path.is_empty()).map(absolute).collect()
}

const BOOLEAN: &str = "`true` or `false`";

fn boolean(text: &str) -> Option<bool> {
    match text {
        "true" | "1" => Some(true),
        "false" | "0" => Some(false),
        _ => None,
    }
}

fn clock(text: &str) -> Option<Clock> {
    let (start, step) = value::fixed_clock(text)?;
    let step = i64::try_from(step.as_millis()).ok()?;
    Some(Clock::Fixed { start: start.as_millisecond(), step })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_variables_nothing_is_granted() {
        let settings = Settings::from_environment(&|_| None).unwrap();
        assert!(settings.storage.repositories.is_empty());
        assert!(settings.storage.places.iter().all(|place| matches!(place.form, Form::Missing)));
    }
}
