//! The settings of an [`AgentMemory`], and how they become one.

use crate::agent_memory::{AgentMemory, Mounted};
use crate::arrival::Arrivals;
use crate::background::InProgress;
use crate::capability::toolbox;
use crate::changes::Notifier;
use crate::data_directory;
use crate::description::{Description, OwnSettings, PlaceDescription, Toolset};
use crate::engine::{Engine, Image};
use crate::storage::{self, NamedPlace, NamedPlaceKind, Storage, StorageOptions};
use crate::{Clock, Durability, Limits, Model, Random};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// In minutes.
const DAY: i32 = 24 * 60;

/// Builds an [`AgentMemory`]. By default it mounts the default toolsets and is granted nothing.
#[derive(Clone)]
#[must_use]
pub struct Builder {
    /// None: the default toolsets.
    toolsets: Option<Vec<String>>,
    allowed: Vec<PathBuf>,
    /// None: the platform's.
    data_directory: Option<PathBuf>,
    /// Toolset, name and value.
    settings: Vec<(String, String, Value)>,
    utc_offset_minutes: Option<i32>,
    storage: StorageOptions,
    clock: Clock,
    random: Random,
    limits: Limits,
    image: Image,
    models: Vec<Arc<dyn Model>>,
    models_by_hand: Vec<String>,
}

impl AgentMemory {
    /// A builder with the default settings.
    pub fn builder() -> Builder {
        Builder::new()
    }
}

impl Builder {
    fn new() -> Builder {
        Builder {
            toolsets: None,
            allowed: Vec::new(),
            data_directory: None,
            settings: Vec::new(),
            utc_offset_minutes: None,
            storage: StorageOptions::default(),
            clock: Clock::default(),
            random: Random::default(),
            limits: Limits::default(),
            image: Image::embedded(),
            models: Vec::new(),
            models_by_hand: Vec::new(),
        }
    }

    /// Mounts these toolsets, instead of the default ones; `all` mounts every one.
    pub fn toolsets<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Builder {
        self.toolsets = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// Grants a directory: the repository at it, and those below it. May be called again for
    /// another.
    pub fn allow(mut self, directory: impl Into<PathBuf>) -> Builder {
        self.allowed.push(directory.into());
        self
    }

    /// Sets the directory for data that belongs to no repository. By default it is `agent-memory` in
    /// the platform's directory for the data of programs. A place of a toolset may be below it.
    pub fn data_dir(mut self, directory: impl Into<PathBuf>) -> Builder {
        self.data_directory = Some(below_home(directory.into()));
        self
    }

    /// Sets one of a toolset's own settings, as [`Image::description`] and `docs/tools.md` list them.
    /// The setting's schema has to accept the value.
    ///
    /// A setting with the path of a place also grants that place. Without it, the place is granted
    /// at its default path if its toolset is mounted.
    pub fn setting(
        mut self,
        toolset: impl Into<String>,
        name: impl Into<String>,
        value: impl Into<Value>,
    ) -> Builder {
        self.settings.push((toolset.into(), name.into(), value.into()));
        self
    }

    /// Sets the time zone in which calls see today's date, as minutes east of UTC, less than a day.
    /// By default it is the machine's zone at the time of each call.
    pub fn utc_offset(mut self, minutes: i32) -> Builder {
        self.utc_offset_minutes = Some(minutes);
        self
    }

    /// Sets what an acknowledged change survives. By default it survives a loss of power.
    pub fn durability(mut self, durability: Durability) -> Builder {
        self.storage.durability = durability;
        self
    }

    /// Sets how long the first writer in the wait queue waits for the lock before its tool answers
    /// that the memory is busy. 5 s by default, at most [`MAX_LOCK_WAIT`](storage::MAX_LOCK_WAIT).
    pub fn lock_wait(mut self, timeout: Duration) -> Builder {
        self.storage.lock_wait = timeout;
        self
    }

    /// Sets the clock of calls. By default it is the machine's; tests may fix it.
    pub fn clock(mut self, clock: Clock) -> Builder {
        self.clock = clock;
        self
    }

    /// Sets the source of the calls' random seeds. By default it is the operating system.
    pub fn random(mut self, random: Random) -> Builder {
        self.random = random;
        self
    }

    /// Sets what a call may use.
    pub fn limits(mut self, limits: Limits) -> Builder {
        self.limits = limits;
        self
    }

    /// Adds a model that is asked for summaries, after those that were added before. It is asked in
    /// a task of its own, after the call was answered.
    pub fn model(mut self, model: Arc<dyn Model>) -> Builder {
        self.models.push(model);
        self
    }

    /// Names models that the program asks by itself. It [claims](AgentMemory::claim) the follow-ups
    /// of outcomes and [answers](AgentMemory::answer) them.
    pub fn models_by_hand<S: Into<String>>(
        mut self,
        names: impl IntoIterator<Item = S>,
    ) -> Builder {
        self.models_by_hand = names.into_iter().map(Into::into).collect();
        self
    }

    /// Runs another component of the same world, for tests of the host.
    #[doc(hidden)]
    pub fn image(mut self, image: Image) -> Builder {
        self.image = image;
        self
    }

    /// Loads the component.
    ///
    /// It takes some milliseconds. It needs no tokio runtime: only calls do.
    ///
    /// # Errors
    ///
    /// [`BuildError`]: an unknown toolset or setting, a value that a setting does not accept, a path
    /// to grant that is not a directory, an offset from UTC of a day or more, or a machine that cannot
    /// run the component's code.
    pub fn build(mut self) -> Result<AgentMemory, BuildError> {
        if let Some(minutes) = self.utc_offset_minutes.filter(|minutes| minutes.abs() >= DAY) {
            return Err(BuildError::UtcOffset(minutes));
        }
        let description = self.image.description();
        let description = description.map_err(|error| BuildError::Component(error.to_string()))?;
        let names = self
            .toolsets
            .take()
            .unwrap_or_else(|| description.default_toolsets().map(str::to_owned).collect());
        let mounted = description.mounted(&names).map_err(BuildError::Setting)?;
        let own = self.own_settings(&description)?;

        self.storage.statement_time = self.limits.statement_time;
        let storage = Storage::new(self.storage.clone());
        for directory in &self.allowed {
            let granted = storage.grant(directory);
            granted.map_err(|error| BuildError::Grant { directory: directory.clone(), error })?;
        }
        let data_directory = self.data_directory.or_else(data_directory::of_platform);
        for toolset in &description.toolsets {
            let is_mounted = mounted.iter().any(|one| one.name == toolset.name);
            let defaults = is_mounted.then_some(data_directory.as_deref());
            grant_places(&storage, toolset, &own, defaults)?;
        }

        let engine = Engine::load(&self.image, self.limits)
            .map_err(|error| BuildError::Component(format!("{error:#}")))?;
        let settings = toolbox::Settings {
            toolsets: mounted.iter().map(|toolset| toolset.name.clone()).collect(),
            of_toolsets: settings_for_component(&description, own),
        };
        let (clock, random) = (self.clock, self.random);
        let at_once = Limits::CALLS_AT_ONCE;
        let arrivals = Arrivals::new(clock, random, self.utc_offset_minutes, at_once);
        let of_mounted = || mounted.iter();
        Ok(AgentMemory::new(Mounted {
            engine,
            storage,
            settings,
            tools: of_mounted().flat_map(|toolset| toolset.tools_beside(&mounted)).collect(),
            resources: of_mounted().flat_map(|toolset| toolset.resources()).cloned().collect(),
            resource_templates: of_mounted()
                .flat_map(|toolset| toolset.resource_templates())
                .cloned()
                .collect(),
            prompts: of_mounted().flat_map(|toolset| toolset.prompts()).cloned().collect(),
            models: self.models,
            models_by_hand: self.models_by_hand,
            in_progress: InProgress::default(),
            arrivals,
            notifier: Notifier::new(),
        }))
    }

    /// The settings of toolsets, after their check against the schemas.
    fn own_settings(&self, description: &Description) -> Result<OwnSettings, BuildError> {
        let mut own = OwnSettings::new();
        for (toolset, name, value) in &self.settings {
            let described = description.toolset(toolset).map_err(BuildError::Setting)?;
            let setting = described.setting(name).map_err(BuildError::Setting)?;
            if !setting.takes(value) {
                let shown =
                    if setting.is_secret { "its value".to_owned() } else { format!("`{value}`") };
                let takes = setting.accepts();
                let message =
                    format!("the setting `{name}` of `{toolset}` takes {takes}, not {shown}");
                return Err(BuildError::Setting(message));
            }
            own.entry(toolset.clone()).or_default().insert(name.clone(), value.clone());
        }
        Ok(own)
    }
}

/// Grants the places of a toolset that have a path in the settings and, if the toolset is mounted,
/// the others at their defaults. `defaults` has the data directory if the toolset is mounted.
fn grant_places(
    storage: &Storage,
    toolset: &Toolset,
    own: &OwnSettings,
    defaults: Option<Option<&Path>>,
) -> Result<(), BuildError> {
    for place in &toolset.places {
        storage.know_place(&place.label, &place.missing);
        let set = own.get(&toolset.name).and_then(|own| own.get(&place.setting));
        let set = set.and_then(Value::as_str).map(below_home);
        let path = set.or_else(|| default_path(place, defaults?));
        let (Some(path), Some(kind)) = (path, kind(place)) else { continue };
        let granted = storage.grant_place(NamedPlace {
            label: place.label.clone(),
            kind,
            path: path.clone(),
            is_private: place.is_private,
            databases: place.databases.iter().map(|database| database.name.clone()).collect(),
        });
        granted.map_err(|error| BuildError::Grant { directory: path, error })?;
    }
    Ok(())
}

/// None for a kind of place that this host does not have.
fn kind(place: &PlaceDescription) -> Option<NamedPlaceKind> {
    match place.kind.as_str() {
        "directory" => Some(NamedPlaceKind::Directory),
        "file" => Some(NamedPlaceKind::File),
        _ => None,
    }
}

/// The default path of a place; none without the directory that it is below.
fn default_path(place: &PlaceDescription, data_directory: Option<&Path>) -> Option<PathBuf> {
    match place.default.strip_prefix("data:") {
        Some(name) => data_directory.map(|directory| directory.join(name)),
        None => Some(below_home(&place.default)).filter(|path| path.is_absolute()),
    }
}

/// A path, with a leading `~/` for the home directory.
pub(crate) fn below_home(path: impl AsRef<Path>) -> PathBuf {
    let path = path.as_ref();
    match (path.strip_prefix("~"), std::env::home_dir()) {
        (Ok(below), Some(home)) => home.join(below),
        _ => path.to_owned(),
    }
}

/// The settings that the component gets: all but the paths of places, which only the host needs.
fn settings_for_component(
    description: &Description,
    own: OwnSettings,
) -> Vec<toolbox::ToolsetSettings> {
    let settings = own.into_iter().map(|(toolset, mut values)| {
        if let Ok(described) = description.toolset(&toolset) {
            values.retain(|name, _| described.located_by(name).is_none());
        }
        toolbox::ToolsetSettings { toolset, values: Value::Object(values).to_string() }
    });
    settings.collect()
}

/// Why an [`AgentMemory`] cannot be built.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// A directory, or a place of a toolset such as a database file, cannot be granted.
    #[error("{error}")]
    Grant {
        /// The path as it was given.
        directory: PathBuf,
        /// The reason, with the path.
        error: storage::Error,
    },
    /// There is no such toolset or setting, or the setting does not accept the value.
    #[error("{0}")]
    Setting(String),
    /// The offset from UTC is a day or more.
    #[error("the offset from UTC is {0} minutes, but has to be less than a day")]
    UtcOffset(i32),
    /// The component does not load.
    #[error("the component cannot be used: {0}")]
    Component(String),
}
