//! How a memory is set up.

use crate::arrival::Arrivals;
use crate::capability::toolbox;
use crate::changes::Teller;
use crate::description::{Description, OwnSettings, PlaceDescription, Toolset};
use crate::engine::{Engine, Image};
use crate::memory::{Memory, Mounted};
use crate::storage::{self, NamedPlace, Storage, StorageOptions};
use crate::{Clock, Durability, Limits, Random};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// In minutes.
const DAY: i32 = 24 * 60;

/// Sets a [`Memory`] up. Without any setting it mounts the default toolsets and is granted nothing.
#[derive(Clone, Debug)]
#[must_use]
pub struct Builder {
    /// None for the default ones.
    toolsets: Option<Vec<String>>,
    allowed: Vec<PathBuf>,
    /// Toolset, name and value.
    settings: Vec<(String, String, Value)>,
    utc_offset_minutes: Option<i32>,
    storage: StorageOptions,
    clock: Clock,
    random: Random,
    limits: Limits,
    image: Image,
}

impl Builder {
    pub(crate) fn new() -> Builder {
        Builder {
            toolsets: None,
            allowed: Vec::new(),
            settings: Vec::new(),
            utc_offset_minutes: None,
            storage: StorageOptions::default(),
            clock: Clock::default(),
            random: Random::default(),
            limits: Limits::default(),
            image: Image::embedded(),
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

    /// Sets one of a toolset's own settings. What there is, [`Image::description`] and the page of the
    /// tools say; a value is one that the setting's schema accepts. A place that a setting locates is
    /// granted with it; one that nobody locates is granted at its default where its toolset is
    /// mounted.
    pub fn setting(
        mut self,
        toolset: impl Into<String>,
        name: impl Into<String>,
        value: impl Into<Value>,
    ) -> Builder {
        self.settings.push((toolset.into(), name.into(), value.into()));
        self
    }

    /// Lets the calls' today be that of this offset from UTC, in minutes east and of less than a
    /// day, instead of the machine's own zone at the moment of each call.
    pub fn utc_offset(mut self, minutes: i32) -> Builder {
        self.utc_offset_minutes = Some(minutes);
        self
    }

    /// What an acknowledged change survives: a loss of power, unless this says otherwise.
    pub fn durability(mut self, durability: Durability) -> Builder {
        self.storage.durability = durability;
        self
    }

    /// How long a writer at the head of its queue waits for another one before its tool answers
    /// that the memory is busy. 5 s; longer than [`MAX_LOCK_WAIT`](storage::MAX_LOCK_WAIT) counts
    /// as that.
    pub fn lock_wait(mut self, patience: Duration) -> Builder {
        self.storage.lock_wait = patience;
        self
    }

    /// Where the calls' time comes from: the machine's clock, unless a test pins it.
    pub fn clock(mut self, clock: Clock) -> Builder {
        self.clock = clock;
        self
    }

    /// Where the calls' seeds come from: the operating system, unless a test pins them.
    pub fn random(mut self, random: Random) -> Builder {
        self.random = random;
        self
    }

    /// What a call may use.
    pub fn limits(mut self, limits: Limits) -> Builder {
        self.limits = limits;
        self
    }

    /// Runs another component of the same world. For tests of the host.
    #[doc(hidden)]
    pub fn image(mut self, image: Image) -> Builder {
        self.image = image;
        self
    }

    /// Loads the component.
    ///
    /// It takes some milliseconds and needs no tokio; the calls do.
    ///
    /// # Errors
    ///
    /// A toolset or a setting that is unknown, a value that a setting does not take, a granted
    /// directory that is none, an offset from UTC of a day or more, a machine on which the component's
    /// code cannot run.
    pub fn build(mut self) -> Result<Memory, BuildError> {
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
        for toolset in &description.toolsets {
            let is_mounted = mounted.iter().any(|one| one.name == toolset.name);
            grant_places(&storage, toolset, &own, is_mounted)?;
        }

        let engine = Engine::load(&self.image, self.limits)
            .map_err(|error| BuildError::Component(format!("{error:#}")))?;
        let settings = toolbox::Settings {
            toolsets: mounted.iter().map(|toolset| toolset.name.clone()).collect(),
            of_toolsets: told(&description, own),
        };
        let (clock, random) = (self.clock, self.random);
        let at_once = Limits::CALLS_AT_ONCE;
        let arrivals = Arrivals::new(clock, random, self.utc_offset_minutes, at_once);
        let of_mounted = || mounted.iter();
        Ok(Memory::new(Mounted {
            engine,
            storage,
            settings,
            tools: of_mounted().flat_map(|toolset| toolset.tools_beside(&mounted)).collect(),
            resources: of_mounted().flat_map(|toolset| toolset.resources()).cloned().collect(),
            resource_templates: of_mounted()
                .flat_map(|toolset| toolset.resource_templates())
                .cloned()
                .collect(),
            arrivals,
            teller: Teller::new(),
        }))
    }

    /// What was set of toolsets' own settings.
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

/// Grants the places of a toolset that a setting locates and, where it is mounted, the others.
fn grant_places(
    storage: &Storage,
    toolset: &Toolset,
    own: &OwnSettings,
    is_mounted: bool,
) -> Result<(), BuildError> {
    for place in &toolset.places {
        storage.know_place(&place.label, &place.missing);
        let set = own.get(&toolset.name).and_then(|own| own.get(&place.setting));
        let set = set.and_then(Value::as_str).map(below_home);
        let directory = set.or_else(|| default_directory(place).filter(|_| is_mounted));
        let Some(directory) = directory.filter(|_| place.kind == "directory") else { continue };
        let granted = storage.grant_place(NamedPlace {
            label: place.label.clone(),
            directory: directory.clone(),
            is_private: place.is_private,
            databases: place.databases.iter().map(|database| database.name.clone()).collect(),
        });
        granted.map_err(|error| BuildError::Grant { directory, error })?;
    }
    Ok(())
}

/// Where a place is that nobody locates: nowhere without a home directory.
fn default_directory(place: &PlaceDescription) -> Option<PathBuf> {
    Some(below_home(&place.default)).filter(|path| path.is_absolute())
}

/// A path, with a leading `~/` for the home directory.
pub(crate) fn below_home(path: impl AsRef<Path>) -> PathBuf {
    let path = path.as_ref();
    match (path.strip_prefix("~"), std::env::home_dir()) {
        (Ok(below), Some(home)) => home.join(below),
        _ => path.to_owned(),
    }
}

/// What the component is told of its toolsets' settings: where places are is the host's matter.
fn told(description: &Description, own: OwnSettings) -> Vec<toolbox::ToolsetSettings> {
    let told = own.into_iter().map(|(toolset, mut values)| {
        if let Ok(described) = description.toolset(&toolset) {
            values.retain(|name, _| described.located_by(name).is_none());
        }
        toolbox::ToolsetSettings { toolset, values: Value::Object(values).to_string() }
    });
    told.collect()
}

/// Why there is no [`Memory`].
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// A directory cannot be granted.
    #[error("{error}")]
    Grant {
        /// As it was given.
        directory: PathBuf,
        /// Why not, with the directory's name.
        error: storage::Error,
    },
    /// There is no such toolset or setting, or it does not take the value.
    #[error("{0}")]
    Setting(String),
    /// The offset from UTC is a day or more.
    #[error("an offset of {0} minutes from UTC is a day or more")]
    UtcOffset(i32),
    /// The component does not load.
    #[error("the component cannot be used: {0}")]
    Component(String),
}
