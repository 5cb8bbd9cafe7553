//! How a memory is set up.

use crate::arrival::Arrivals;
use crate::changes::Teller;
use crate::engine::{Call, Engine, Image};
use crate::memory::{Memory, Mounted, context};
use crate::storage::{self, Storage, StorageOptions};
use crate::{CallError, Clock, Durability, Limits, Random};
use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use std::path::PathBuf;
use std::time::Duration;

/// In minutes.
const DAY: i32 = 24 * 60;

/// How the records of an agent that has none yet are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordsFormat {
    /// One readable JSON file an agent.
    Json,
    /// One SQLite database for all agents, for many records.
    Sqlite,
}

impl RecordsFormat {
    /// Its name in settings.
    pub fn name(self) -> &'static str {
        match self {
            RecordsFormat::Json => "json",
            RecordsFormat::Sqlite => "sqlite",
        }
    }
}

/// Sets a [`Memory`] up. Without any setting it mounts the toolset `sessions` and is granted
/// nothing.
#[derive(Clone, Debug)]
#[must_use]
pub struct Builder {
    toolsets: Vec<String>,
    allowed: Vec<PathBuf>,
    memory_dir: Option<PathBuf>,
    records: Map<String, Value>,
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
            toolsets: vec!["sessions".to_owned()],
            allowed: Vec::new(),
            memory_dir: None,
            records: Map::new(),
            utc_offset_minutes: None,
            storage: StorageOptions::default(),
            clock: Clock::default(),
            random: Random::default(),
            limits: Limits::default(),
            image: Image::embedded(),
        }
    }

    /// Mounts these toolsets, instead of `sessions`.
    pub fn toolsets<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Builder {
        self.toolsets = names.into_iter().map(Into::into).collect();
        self
    }

    /// Grants a directory: the repository at it, and those below it. May be called again for
    /// another.
    pub fn allow(mut self, directory: impl Into<PathBuf>) -> Builder {
        self.allowed.push(directory.into());
        self
    }

    /// Keeps the records in this directory, for its owner alone, instead of in
    /// `~/.claude/agents/memories`. It need not exist.
    ///
    /// Without it, the records are granted only where the toolset `records` is mounted.
    pub fn memory_dir(mut self, directory: impl Into<PathBuf>) -> Builder {
        self.memory_dir = Some(directory.into());
        self
    }

    /// How the records of an agent that has none yet are kept: as JSON, unless this says otherwise.
    pub fn records_format(mut self, format: RecordsFormat) -> Builder {
        self.records.insert("format".to_owned(), format.name().into());
        self
    }

    /// The most bytes of an agent's records: in JSON of its file, 16 MiB unless this says less; in
    /// SQLite of all memories as compact JSON, without a bound unless this sets one.
    pub fn records_max_bytes(mut self, bytes: u64) -> Builder {
        self.records.insert("max_bytes".to_owned(), bytes.into());
        self
    }

    /// The most records of an agent: 100,000 in JSON and without a bound in SQLite, unless this says
    /// otherwise.
    pub fn records_max_memories(mut self, memories: u64) -> Builder {
        self.records.insert("max_memories".to_owned(), memories.into());
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

    /// Loads the component and asks it for its tools.
    ///
    /// It takes some milliseconds and needs no tokio; the calls do.
    ///
    /// # Errors
    ///
    /// A toolset that is unknown, a granted directory that is none, an offset from UTC of a day or
    /// more, a machine on which the component's code cannot run.
    pub fn build(mut self) -> Result<Memory, BuildError> {
        if let Some(minutes) = self.utc_offset_minutes.filter(|minutes| minutes.abs() >= DAY) {
            return Err(BuildError::UtcOffset(minutes));
        }
        self.storage.statement_time = self.limits.statement_time;
        let storage = Storage::new(self.storage);
        if let Some(directory) = self.memory_dir.or_else(|| default_memory_dir(&self.toolsets)) {
            let granted = storage.grant_records(&directory);
            granted.map_err(|error| BuildError::Grant { directory, error })?;
        }
        for directory in &self.allowed {
            let granted = storage.grant(directory);
            granted.map_err(|error| BuildError::Grant { directory: directory.clone(), error })?;
        }
        let engine = Engine::load(&self.image, self.limits)
            .map_err(|error| BuildError::Component(format!("{error:#}")))?;
        let mut settings = json!({ "toolsets": self.toolsets });
        if !self.records.is_empty() {
            settings["records"] = self.records.into();
        }
        let settings = settings.to_string();
        let call = || Call::new(storage.clone(), engine.limits(), None, None, None);
        let tools = engine.list_tools(call(), &settings)?;
        // What is listed depends on no call.
        let context = context(&settings, Timestamp::UNIX_EPOCH, 0, 0);
        let resources = engine.list_resources(call(), &context)?;
        let templates = engine.list_resource_templates(call(), &context)?;
        let (tools, resources, resource_templates) =
            (listed(&tools)?, listed(&resources)?, listed(&templates)?);
        let (clock, random) = (self.clock, self.random);
        let at_once = Limits::CALLS_AT_ONCE;
        let arrivals = Arrivals::new(clock, random, self.utc_offset_minutes, at_once);
        Ok(Memory::new(Mounted {
            engine,
            storage,
            settings,
            tools,
            resources,
            resource_templates,
            arrivals,
            teller: Teller::new(),
        }))
    }
}

fn listed<T: DeserializeOwned>(list: &str) -> Result<Vec<T>, BuildError> {
    serde_json::from_str(list)
        .map_err(|error| BuildError::Component(format!("what it lists: {error}")))
}

/// Where records are where nobody says it: none where nobody has a use for them, or where there is
/// no home directory.
fn default_memory_dir(toolsets: &[String]) -> Option<PathBuf> {
    let is_mounted = toolsets.iter().any(|name| name == "records" || name == "all");
    let home = std::env::home_dir().filter(|home| is_mounted && home.is_absolute())?;
    Some(home.join(".claude/agents/memories"))
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
    /// The component refuses the settings: a toolset that it does not have.
    #[error(transparent)]
    Settings(CallError),
    /// The offset from UTC is a day or more.
    #[error("an offset of {0} minutes from UTC is a day or more")]
    UtcOffset(i32),
    /// The component does not load or does not answer.
    #[error("the component cannot be used: {0}")]
    Component(String),
}

impl From<CallError> for BuildError {
    fn from(error: CallError) -> BuildError {
        match error {
            CallError::Ended { message, .. } => BuildError::Component(message),
            refused => BuildError::Settings(refused),
        }
    }
}
