//! The builder of an [`AgentMemory`].

mod error;
mod granting;

use crate::agent_memory::{AgentMemory, Mounted, Tenants};
use crate::arrival::Arrivals;
use crate::capability::toolbox;
use crate::cooldown::Cooldown;
use crate::description::{Description, OwnSettings};
use crate::engine::{Engine, Image};
use crate::model::{Embedder, MAX_TIMEOUT};
use crate::registry_format::ComponentFormat;
use crate::repeats::Repeats;
use crate::storage::{Storage, StorageOptions};
use crate::{Clock, Durability, Limits, Model, Random};
use agent_memory_setting_values::{hide_urls, path_mistake, time_zone};
use jiff::tz::{Offset, TimeZone};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

pub use error::BuildError;
pub(crate) use granting::below_home;
use granting::{Directories, Granting};

/// A day in minutes.
const DAY: i32 = 24 * 60;

/// Builds an [`AgentMemory`]. By default it mounts the default toolsets and is granted nothing.
#[derive(Clone)]
#[must_use]
pub struct Builder {
    /// The names of the toolsets to mount. `None`: the default toolsets.
    toolsets: Option<Vec<String>>,
    allowed: Vec<PathBuf>,
    /// The directory for data. `None`: the platform's directory for the data of programs.
    data_directory: Option<PathBuf>,
    /// The settings of toolsets: the toolset, the name and the value.
    settings: Vec<(String, String, Value)>,
    /// The agents to which calls are bound. `None`: all agents.
    agents: Option<Vec<String>>,
    /// The places of families, by label and name.
    members: BTreeMap<String, BTreeMap<String, PathBuf>>,
    utc_offset_minutes: Option<i32>,
    time_zone: Option<String>,
    storage: StorageOptions,
    clock: Clock,
    random: Random,
    limits: Limits,
    image: Image,
    models: Vec<Arc<dyn Model>>,
    external_models: Vec<String>,
    embedder: Option<Arc<dyn Embedder>>,
    external_embedder: Option<String>,
    model_timeout: Duration,
    #[cfg(feature = "postgres")]
    database: Option<crate::database::DatabaseOptions>,
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
            agents: None,
            members: BTreeMap::new(),
            utc_offset_minutes: None,
            time_zone: None,
            storage: StorageOptions::default(),
            clock: Clock::default(),
            random: Random::default(),
            limits: Limits::default(),
            image: Image::embedded(),
            models: Vec::new(),
            external_models: Vec::new(),
            embedder: None,
            external_embedder: None,
            model_timeout: MAX_TIMEOUT,
            #[cfg(feature = "postgres")]
            database: None,
        }
    }

    /// Keeps the places of toolsets on a database server, which other hosts share. Repositories, and
    /// places whose path a setting gives, stay on this machine.
    #[cfg(feature = "postgres")]
    pub fn database(mut self, options: crate::database::DatabaseOptions) -> Builder {
        self.database = Some(options);
        self
    }

    /// Mounts these toolsets instead of the default ones; `all` mounts every toolset. Toolsets that have
    /// a setting to leave them out are mounted, too, unless that setting is `true`.
    pub fn toolsets<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Builder {
        self.toolsets = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// Grants a directory: the repository at this path and all repositories below it. A leading `~/` is
    /// the home directory. May be called again for further directories.
    pub fn allow(mut self, directory: impl Into<PathBuf>) -> Builder {
        self.allowed.push(below_home(directory.into()));
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

    /// Binds every call to these agents: a caller [reaches](crate::Reach) no others. With exactly one
    /// agent, a request that names no agent is for that agent. By default calls are not bound.
    pub fn agents<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Builder {
        self.agents = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// Grants one place of a family, by the family's label and a name. [`Image::description`] lists the
    /// families. The path is absolute or begins with `~/`, and has no symbolic links. May be called again
    /// for further places.
    ///
    /// The family then has only these places: it has no registry, and calls create no further places.
    pub fn place(
        mut self,
        label: impl Into<String>,
        name: impl Into<String>,
        path: impl Into<PathBuf>,
    ) -> Builder {
        self.members.entry(label.into()).or_default().insert(name.into(), path.into());
        self
    }

    /// Sets the time zone of dates, and of timestamps without an offset, by its name in the IANA
    /// database, such as `America/New_York`. By default it is the machine's zone at the time of each
    /// call.
    pub fn time_zone(mut self, name: impl Into<String>) -> Builder {
        self.time_zone = Some(name.into());
        self
    }

    /// Sets a time zone with a fixed offset, in minutes east of UTC, less than a day. Excludes
    /// [`time_zone`](Self::time_zone).
    pub fn utc_offset(mut self, minutes: i32) -> Builder {
        self.utc_offset_minutes = Some(minutes);
        self
    }

    /// Sets what an acknowledged change survives. By default it survives a loss of power.
    pub fn durability(mut self, durability: Durability) -> Builder {
        self.storage.durability = durability;
        self
    }

    /// Lets read-only calls leave the files of databases as they are. They read the write-ahead log
    /// that a killed program left, but do not write it back into the database. They do not use the
    /// search index, a derived database, so searches are slower.
    pub fn looks_only(mut self) -> Builder {
        self.storage.looks_only = true;
        self
    }

    /// Sets how long the first writer in the wait queue waits for the lock before its tool answers
    /// that the memory is busy. 5 s by default, at most [`MAX_LOCK_WAIT`](crate::storage::MAX_LOCK_WAIT).
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

    /// Sets the limits of each call, such as its memory and its run time.
    pub fn limits(mut self, limits: Limits) -> Builder {
        self.limits = limits;
        self
    }

    /// Adds a model for summaries. A setting of the toolset names the models and their order. Of two
    /// models with the same name, the one that was added first is asked. A model is asked in a task in
    /// the background, once the call that needs a summary has been answered.
    pub fn model(mut self, model: Arc<dyn Model>) -> Builder {
        self.models.push(model);
        self
    }

    /// Sets how long all models together may take for one summary: 30 s by default, which is also the
    /// maximum.
    pub fn model_timeout(mut self, timeout: Duration) -> Builder {
        self.model_timeout = timeout;
        self
    }

    /// Names models that the program asks by itself. The program [claims](AgentMemory::claim) the
    /// follow-ups of outcomes and [answers](AgentMemory::answer) them.
    pub fn external_models<S: Into<String>>(
        mut self,
        names: impl IntoIterator<Item = S>,
    ) -> Builder {
        self.external_models = names.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the model that is asked for the vectors of memories, in a task of its own after the call was
    /// answered, and for the vectors of queries, during the search.
    pub fn embedder(mut self, embedder: Arc<dyn Embedder>) -> Builder {
        self.embedder = Some(embedder);
        self
    }

    /// Names an embedder that the program asks by itself. The program [claims](AgentMemory::claim) the
    /// follow-ups of outcomes and [answers](AgentMemory::answer) them. If the outcome of a search wants
    /// a vector, the program repeats the search with the vector in the [caller](crate::Caller::vector).
    pub fn external_embedder(mut self, name: impl Into<String>) -> Builder {
        self.external_embedder = Some(name.into());
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
    /// On Linux, one memory of a process at a time runs the machine code in place, where the system has
    /// mapped the program's file. Each further memory copies the code, which takes 14 MB.
    ///
    /// # Errors
    ///
    /// [`BuildError`]: an unknown toolset or setting, a value that a setting does not accept, a
    /// repository to grant that is not a directory, an unknown time zone, an offset from UTC of a day
    /// or more, an offset together with a time zone, a database server that cannot be used, or a
    /// machine that cannot run the component's code. If the path of a place leads to the wrong kind of
    /// file, building succeeds, and only the calls that need the place fail.
    pub fn build(mut self) -> Result<AgentMemory, BuildError> {
        let zone = self.zone()?;
        if let Some(directory) = &self.data_directory {
            check_path("the data directory", &directory.to_string_lossy())?;
        }
        let description = self.image.description();
        let description = description.map_err(|error| BuildError::Component(error.to_string()))?;
        let names = self
            .toolsets
            .take()
            .unwrap_or_else(|| description.default_toolsets().map(str::to_owned).collect());
        let own = self.own_settings(description)?;
        let mounted = description.mounted(&names, &own)?;

        self.storage.statement_time = self.limits.statement_time;
        let storage = Storage::new(self.storage.clone());
        for directory in &self.allowed {
            let granted = storage.grant(directory);
            granted.map_err(|error| BuildError::Grant { directory: directory.clone(), error })?;
        }
        let engine = Engine::load(&self.image, self.limits)
            .map_err(|error| BuildError::Component(format!("{error:#}")))?;
        let engine = Arc::new(engine);
        let granting = Granting {
            storage: &storage,
            own: &own,
            format: Arc::new(ComponentFormat::new(engine.clone())),
            directories: Directories::new(self.data_directory),
            members: self.members,
            #[cfg(feature = "postgres")]
            has_server: self.database.is_some(),
        };
        #[cfg(feature = "postgres")]
        if let Some(options) = self.database {
            granting.set_server(options, description, self.limits.statement_time)?;
        }
        for toolset in &description.toolsets {
            granting.grant_places(toolset, mounted.iter().any(|one| one.name == toolset.name))?;
        }
        granting.check_labels(description)?;

        let settings = toolbox::Settings {
            toolsets: mounted.iter().map(|toolset| toolset.name.clone()).collect(),
            of_toolsets: settings_for_component(description, own),
        };
        let clock = self.clock;
        let random = self.random;
        let at_once = Limits::CALLS_AT_ONCE;
        let arrivals = Arrivals::new(clock, random, zone, at_once);
        let of_mounted = || mounted.iter();
        let mounted = Mounted {
            engine,
            settings,
            agents: self.agents,
            toolsets: of_mounted().map(|toolset| toolset.mounted_beside(&mounted)).collect(),
            tools: of_mounted().flat_map(|toolset| toolset.tools_beside(&mounted)).collect(),
            resources: of_mounted().flat_map(|toolset| toolset.resources()).cloned().collect(),
            resource_templates: of_mounted()
                .flat_map(|of| of.resource_templates())
                .cloned()
                .collect(),
            prompts: of_mounted().flat_map(|toolset| toolset.prompts()).cloned().collect(),
            models: self.models,
            external_models: self.external_models,
            embedder: self.embedder,
            cooldown: Cooldown::default(),
            external_embedder: self.external_embedder,
            model_timeout: self.model_timeout.min(MAX_TIMEOUT),
            arrivals,
            tenants: Tenants::default(),
            repeats: Repeats::default(),
        };
        Ok(AgentMemory::new(mounted, storage))
    }

    /// The time zone of calls. `None`: the machine's zone at the time of each call.
    fn zone(&self) -> Result<Option<TimeZone>, BuildError> {
        match (&self.time_zone, self.utc_offset_minutes) {
            (Some(_), Some(_)) => Err(BuildError::TwoZones),
            (Some(name), None) => {
                time_zone(name).map(Some).ok_or_else(|| BuildError::TimeZone(name.clone()))
            }
            (None, Some(minutes)) if minutes.abs() >= DAY => Err(BuildError::UtcOffset(minutes)),
            (None, Some(minutes)) => {
                let offset = Offset::from_seconds(minutes * 60);
                Ok(Some(TimeZone::fixed(offset.expect("it is less than a day"))))
            }
            (None, None) => {
                if let Err(error) = TimeZone::try_system() {
                    tracing::warn!(
                        "the time zone of this machine is not known ({error}), so days are those of \
                         UTC: correct `TZ`, or give `--time-zone`"
                    );
                }
                Ok(None)
            }
        }
    }

    /// The settings of toolsets, after their check against the schemas.
    fn own_settings(&self, description: &Description) -> Result<OwnSettings, BuildError> {
        let mut own = OwnSettings::new();
        for (toolset, name, value) in &self.settings {
            let described = description.toolset(toolset)?;
            let setting = described.setting(name)?;
            if !setting.takes(value) {
                let shown =
                    if setting.is_secret { "its value".to_owned() } else { format!("`{value}`") };
                let shown = hide_urls(&shown);
                let takes = setting.accepts();
                let message =
                    format!("the setting `{name}` of `{toolset}` takes {takes}, not {shown}");
                return Err(BuildError::Setting(message));
            }
            if setting.is_path {
                let path = value.as_str().unwrap_or_default();
                check_path(&format!("the setting `{name}` of `{toolset}`"), path)?;
            }
            own.entry(toolset.clone()).or_default().insert(name.clone(), value.clone());
        }
        Ok(own)
    }
}

/// Refuses a path that is probably a mistake, such as one with an unexpanded variable.
fn check_path(what: &str, path: &str) -> Result<(), BuildError> {
    path_mistake(path).map_or(Ok(()), |mistake| {
        let path = hide_urls(path);
        Err(BuildError::Setting(format!("{what} is `{path}`, which {mistake}")))
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_granted_directory_may_begin_with_a_tilde() {
        let home = std::env::home_dir().expect("a home directory");
        let builder = AgentMemory::builder().allow("~/project").allow("/srv/project");
        assert_eq!(builder.allowed, [home.join("project"), "/srv/project".into()]);
    }
}
