use super::setting::{Setting, Suggested, is_set, path_of};
use super::value::{
    self, COUNT, DURABILITY, FIXED_CLOCK, FIXED_RANDOM, LOCK_WAIT, LOG_LEVEL, RECORDS_FORMAT,
    UTC_OFFSET,
};
use super::{Failure, logging};
use crate::starting::repository_around;
use crate::{Builder, Memory};
use clap::{Args, ValueHint};
use std::ffi::OsString;
use std::path::PathBuf;
use tracing::level_filters::LevelFilter;

// Which tools there are. (Doc comments of these two would become the help of each command.)
#[derive(Debug, Args)]
pub(super) struct Mounting {
    /// Toolset to mount [default: sessions]
    ///
    /// May be given several times, or as a comma list; `all` mounts every one. [env:
    /// AGENT_MEMORY_TOOLSET]
    #[arg(long = "toolset", value_name = "NAME", help_heading = "Memory")]
    toolsets: Vec<OsString>,
}

// What tools may reach, and how they keep it.
#[derive(Debug, Args)]
pub(super) struct Settings {
    #[command(flatten)]
    mounting: Mounting,

    /// Directory whose repositories the tools may use, besides that around the working directory
    ///
    /// May be given several times. Neither `/` nor the home directory is granted by being worked
    /// in; this grants them. [env: AGENT_MEMORY_ALLOW, separated as PATH is]
    #[arg(
        long,
        value_name = "DIR",
        value_hint = ValueHint::DirPath,
        help_heading = "Memory"
    )]
    allow: Vec<OsString>,

    /// Directory for what belongs to no repository [default: the platform's]
    ///
    /// No toolset of this version keeps anything there. [env: AGENT_MEMORY_DATA_DIR]
    #[arg(
        long,
        value_name = "DIR",
        value_hint = ValueHint::DirPath,
        help_heading = "Memory"
    )]
    data_dir: Option<OsString>,

    #[command(flatten)]
    records: RecordsSettings,

    /// Registry of stores, a YAML file
    ///
    /// No toolset of this version has stores. [env: AGENT_MEMORY_STORES_CONFIG]
    #[arg(
        long,
        value_name = "FILE",
        value_hint = ValueHint::FilePath,
        help_heading = "Memory"
    )]
    stores_config: Option<OsString>,

    /// The zone in which a day begins, as its offset from UTC [default: the machine's]
    ///
    /// [env: AGENT_MEMORY_UTC_OFFSET]
    #[arg(long, value_name = "±HH:MM", allow_hyphen_values = true, help_heading = "Writing")]
    utc_offset: Option<OsString>,

    #[command(flatten)]
    writing: Writing,

    /// What is logged on standard error [default: INFO]
    ///
    /// [env: AGENT_MEMORY_LOG_LEVEL, LOG_LEVEL]
    #[arg(
        long,
        value_name = "LEVEL",
        value_parser = Suggested(&[
            ("DEBUG", "Everything"),
            ("INFO", "What happens once"),
            ("WARNING", "What may be a mistake"),
            ("ERROR", "What failed"),
            ("CRITICAL", "The same: nothing is graver"),
        ]),
        help_heading = "Logging"
    )]
    log_level: Option<OsString>,

    #[command(flatten)]
    testing: Testing,
}

// Where records are, and how many there may be.
#[derive(Debug, Args)]
pub(super) struct RecordsSettings {
    /// Directory of the records, made for its owner alone [default: ~/.claude/agents/memories]
    ///
    /// [env: AGENT_MEMORY_MEMORY_DIR, MEMORY_DIR]
    #[arg(
        long,
        value_name = "DIR",
        value_hint = ValueHint::DirPath,
        help_heading = "Memory"
    )]
    memory_dir: Option<OsString>,

    /// How the records of an agent that has none yet are kept [default: json]
    ///
    /// [env: AGENT_MEMORY_RECORDS_FORMAT]
    #[arg(
        long,
        value_name = "FORMAT",
        value_parser = Suggested(&[
            ("json", "A file for each agent, which people and other programs read"),
            ("sqlite", "One database for all agents, for very many records"),
        ]),
        help_heading = "Memory"
    )]
    records_format: Option<OsString>,

    /// The most bytes of an agent's records [default: 16777216 in JSON, which takes no more]
    ///
    /// [env: AGENT_MEMORY_RECORDS_MAX_BYTES]
    #[arg(long, value_name = "N", help_heading = "Memory")]
    records_max_bytes: Option<OsString>,

    /// The most records of an agent [default: 100000 in JSON]
    ///
    /// [env: AGENT_MEMORY_RECORDS_MAX_MEMORIES]
    #[arg(long, value_name = "N", help_heading = "Memory")]
    records_max_memories: Option<OsString>,
}

// How writes are made.
#[derive(Debug, Args)]
pub(super) struct Writing {
    /// What an acknowledged write survives [default: full]
    ///
    /// [env: AGENT_MEMORY_DURABILITY]
    #[arg(
        long,
        value_name = "MODE",
        value_parser = Suggested(&[
            ("full", "The loss of power: files and directories are synced first"),
            ("relaxed", "The end of the program; faster, and a loss of power may take the last \
              moments"),
        ]),
        help_heading = "Writing"
    )]
    durability: Option<OsString>,

    /// How long a writer at the head of the queue waits for another [default: 5s]
    ///
    /// At most 1h. In all a writer waits 30s, or this if it is longer, before its tool answers that
    /// the memory is busy. [env: AGENT_MEMORY_LOCK_WAIT]
    #[arg(long, value_name = "DURATION", help_heading = "Writing")]
    lock_wait: Option<OsString>,
}

// What makes results the same each time.
#[derive(Debug, Default, Args)]
struct Testing {
    /// Call number k, from 0, sees the time T + k * STEP
    ///
    /// [env: AGENT_MEMORY_FIXED_CLOCK]
    #[arg(long, value_name = "T[+STEP]", help_heading = "Testing")]
    fixed_clock: Option<OsString>,

    /// Call number k, from 0, gets the random seed N + k
    ///
    /// [env: AGENT_MEMORY_FIXED_RANDOM]
    #[arg(long, value_name = "N", help_heading = "Testing")]
    fixed_random: Option<OsString>,
}

impl Mounting {
    fn names(&self) -> Result<Vec<String>, Failure> {
        let given: Vec<_> = self.toolsets.iter().filter(|name| is_set(name)).collect();
        let flag = (!given.is_empty()).then(|| given.into_iter().fold(OsString::new(), joined));
        match Setting::of("--toolset", flag.as_ref()) {
            Some(setting) => setting.read("a list of toolset names", |list| {
                let names = list.split(',').map(str::trim).filter(|name| !name.is_empty());
                let names: Vec<_> = names.map(str::to_owned).collect();
                (!names.is_empty()).then_some(names)
            }),
            None => Ok(vec!["sessions".to_owned()]),
        }
    }

    /// A memory that may reach nothing yet.
    pub(super) fn builder(&self) -> Result<Builder, Failure> {
        Ok(Memory::builder().toolsets(self.names()?))
    }
}

fn joined(mut list: OsString, name: &OsString) -> OsString {
    if !list.is_empty() {
        list.push(",");
    }
    list.push(name);
    list
}

impl Settings {
    /// Starts logging, and builds the memory that the settings describe.
    pub(super) fn memory(&self) -> Result<Memory, Failure> {
        start_logging(self.log_level.as_ref())?;
        let mut builder = self.mounting.builder()?;
        for directory in starting_repositories().chain(self.allowed()) {
            tracing::debug!(directory = %directory.display(), "granted");
            builder = builder.allow(directory);
        }
        builder = self.records.set(builder)?;
        if let Some(offset) = Setting::of("--utc-offset", self.utc_offset.as_ref()) {
            builder = builder.utc_offset(offset.read(UTC_OFFSET, value::utc_offset)?);
        }
        builder = self.testing.set(self.writing.set(builder)?)?;
        builder.build().map_err(Failure::usage)
    }

    fn allowed(&self) -> Vec<PathBuf> {
        let flags: Vec<_> = self.allow.iter().filter_map(|dir| path_of(dir)).collect();
        if !flags.is_empty() {
            return flags;
        }
        let variable = Setting::of("--allow", None);
        variable.map_or_else(Vec::new, |paths| paths.paths())
    }
}

impl RecordsSettings {
    fn set(&self, mut builder: Builder) -> Result<Builder, Failure> {
        let memory_dir = Setting::of("--memory-dir", self.memory_dir.as_ref())
            .or_else(|| Setting::variable("MEMORY_DIR".to_owned()));
        if let Some(directory) = memory_dir.and_then(|setting| setting.path()) {
            builder = builder.memory_dir(directory);
        }
        if let Some(format) = Setting::of("--records-format", self.records_format.as_ref()) {
            builder = builder.records_format(format.read(RECORDS_FORMAT, value::records_format)?);
        }
        if let Some(most) = Setting::of("--records-max-bytes", self.records_max_bytes.as_ref()) {
            builder = builder.records_max_bytes(most.read(COUNT, value::count)?);
        }
        let most = Setting::of("--records-max-memories", self.records_max_memories.as_ref());
        if let Some(most) = most {
            builder = builder.records_max_memories(most.read(COUNT, value::count)?);
        }
        Ok(builder)
    }

    /// A memory of the records alone, for commands about them.
    pub(super) fn memory(&self, writing: &Writing) -> Result<Memory, Failure> {
        start_logging(None)?;
        let builder = self.set(Memory::builder().toolsets(["records"]))?;
        let builder = Testing::default().set(writing.set(builder)?)?;
        builder.build().map_err(Failure::usage)
    }
}

impl Writing {
    fn set(&self, mut builder: Builder) -> Result<Builder, Failure> {
        if let Some(durability) = Setting::of("--durability", self.durability.as_ref()) {
            builder = builder.durability(durability.read(DURABILITY, value::durability)?);
        }
        if let Some(patience) = Setting::of("--lock-wait", self.lock_wait.as_ref()) {
            builder = builder.lock_wait(patience.read(LOCK_WAIT, value::lock_wait)?);
        }
        Ok(builder)
    }
}

impl Testing {
    fn set(&self, mut builder: Builder) -> Result<Builder, Failure> {
        if let Some(clock) = Setting::of("--fixed-clock", self.fixed_clock.as_ref()) {
            builder = builder.clock(clock.read(FIXED_CLOCK, value::fixed_clock)?);
            warn_of_test(&clock);
        }
        if let Some(seed) = Setting::of("--fixed-random", self.fixed_random.as_ref()) {
            builder = builder.random(seed.read(FIXED_RANDOM, value::fixed_random)?);
            warn_of_test(&seed);
        }
        Ok(builder)
    }
}

fn start_logging(level: Option<&OsString>) -> Result<(), Failure> {
    if let Some(level) = Setting::of("--log-level", level) {
        logging::start(level.read(LOG_LEVEL, value::log_level)?);
        return Ok(());
    }
    let shared = Setting::variable("LOG_LEVEL".to_owned());
    match shared.map(|level| level.read(LOG_LEVEL, value::log_level)) {
        Some(Ok(level)) => logging::start(level),
        None => logging::start(LevelFilter::INFO),
        Some(Err(failure)) => {
            // Other programs read this variable too, and have levels of their own.
            logging::start(LevelFilter::INFO);
            tracing::warn!("{failure}: taking INFO");
        }
    }
    Ok(())
}

/// The repositories around the working directory and the project that a client names.
fn starting_repositories() -> impl Iterator<Item = PathBuf> {
    let project = std::env::var_os("CLAUDE_PROJECT_DIR").and_then(|dir| path_of(&dir));
    let starts = std::env::current_dir().ok().into_iter().chain(project);
    starts.filter_map(|start| repository_around(&start))
}

fn warn_of_test(setting: &Setting) {
    tracing::warn!("`{}` is for tests: results depend on it", setting.source());
}
