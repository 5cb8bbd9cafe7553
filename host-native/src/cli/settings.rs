use super::options::{Choice, Every, ToolsetOptions, Writing};
use super::program::{builder, description};
use super::project::ProjectOptions;
use super::setting::{Setting, Suggested, checked_path, is_blank, path_of};
use super::value::{self, FIXED_CLOCK, FIXED_RANDOM, LOG_LEVEL, TIME_ZONE, UTC_OFFSET};
use super::{Error, logging};
use crate::data_directory;
use crate::enclosing_repository::repository_around;
use crate::{AgentMemory, Builder, Clock};
use clap::{Args, ValueHint};
use jiff::Timestamp;
use std::ffi::OsString;
use std::path::{Path, PathBuf, absolute};
use tracing::level_filters::LevelFilter;

// The toolsets to mount. No doc comment here: clap would show it as the help of each command.
#[derive(Debug, Args)]
pub(super) struct Mounting {
    #[arg(
        long = "toolset",
        value_name = "NAME",
        help = toolset_help(),
        long_help = format!(
            "{}\n\nMay be given several times, or as a comma list; `all` mounts every one. [env: \
             AGENT_MEMORY_TOOLSET]",
            toolset_help()
        ),
        help_heading = "Memory"
    )]
    toolsets: Vec<OsString>,
}

fn toolset_help() -> String {
    let defaults: Vec<_> = description().default_toolsets().collect();
    format!("Toolset to mount [default: {}]", defaults.join(","))
}

// The toolsets to mount, the directories that they may use, and how they write.
#[derive(Debug, Args)]
pub(super) struct Settings {
    #[command(flatten)]
    mounting: Mounting,

    #[command(flatten)]
    reach: Reach,
}

// No doc comment here: clap would show it as the help of each command.
#[derive(Debug, Args)]
pub(super) struct DataDirectory {
    /// Directory for data outside of repositories [default: the platform's]
    ///
    /// Toolsets keep what belongs to no repository there, unless their own options name another
    /// path. [env: AGENT_MEMORY_DATA_DIR]
    #[arg(
        long,
        value_name = "DIR",
        value_hint = ValueHint::DirPath,
        help_heading = "Memory"
    )]
    data_dir: Option<OsString>,
}

impl DataDirectory {
    /// The directory of the option, or else that of the platform. `None` without a home directory.
    pub(super) fn path(&self) -> Result<Option<PathBuf>, Error> {
        match Setting::parse("--data-dir", self.data_dir.as_ref()) {
            Some(directory) => directory.path().map(Some),
            None => Ok(data_directory::of_platform()),
        }
    }

    pub(super) fn set(&self, builder: Builder) -> Result<Builder, Error> {
        Ok(match Setting::parse("--data-dir", self.data_dir.as_ref()) {
            // Made absolute, since the paths of stores in this directory have to be absolute.
            Some(directory) => {
                builder.data_dir(absolute(&directory.path()?).map_err(Error::usage)?)
            }
            None => builder,
        })
    }
}

// The directories that the toolsets may use, and how they write.
#[derive(Debug, Args)]
pub(super) struct Reach {
    /// Directory whose repositories the tools may use, besides the one around the working directory
    ///
    /// May be given several times. `/` and the home directory are granted only by this option. [env: AGENT_MEMORY_ALLOW, separated as PATH is]
    #[arg(
        long,
        value_name = "DIR",
        value_hint = ValueHint::DirPath,
        help_heading = "Memory"
    )]
    allow: Vec<OsString>,

    #[command(flatten)]
    project: ProjectOptions,

    #[command(flatten)]
    data_directory: DataDirectory,

    #[command(flatten)]
    toolsets: ToolsetOptions<Every>,

    #[cfg(feature = "postgres")]
    #[command(flatten)]
    database: super::database::DatabaseArgs,

    /// The time zone of dates [default: the machine's]
    ///
    /// A name of the IANA database, such as `America/New_York`. [env: AGENT_MEMORY_TIME_ZONE]
    #[arg(long, value_name = "NAME", help_heading = "Writing")]
    time_zone: Option<OsString>,

    /// The same offset from UTC on every day, instead of `--time-zone`
    ///
    /// [env: AGENT_MEMORY_UTC_OFFSET]
    #[arg(long, value_name = "±HH:MM", allow_hyphen_values = true, help_heading = "Writing")]
    utc_offset: Option<OsString>,

    #[command(flatten)]
    writing: Writing,

    /// The lowest level of the log on standard error [default: INFO]
    ///
    /// [env: AGENT_MEMORY_LOG_LEVEL, LOG_LEVEL]
    #[arg(
        long,
        value_name = "LEVEL",
        value_parser = Suggested::new([
            ("DEBUG", "Everything"),
            ("INFO", "Starts and stops, warnings and errors"),
            ("WARNING", "Possible mistakes, and errors"),
            ("ERROR", "Errors"),
            ("CRITICAL", "The same as ERROR"),
        ]),
        help_heading = "Logging"
    )]
    log_level: Option<OsString>,

    #[command(flatten)]
    testing: Testing,
}

// Options that make results reproducible.
#[derive(Debug, Default, Args)]
struct Testing {
    /// Call number k, from 0, gets the time T + k * STEP
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
    /// The names of the toolsets to mount. `None` if none are given.
    fn names(&self) -> Result<Option<Vec<String>>, Error> {
        let given: Vec<_> = self.toolsets.iter().filter(|name| !is_blank(name)).collect();
        let flag = (!given.is_empty()).then(|| given.into_iter().fold(OsString::new(), joined));
        let setting = Setting::parse("--toolset", flag.as_ref());
        let names = setting.map(|setting| {
            setting.read("a list of toolset names", |list| {
                let names = list.split(',').map(str::trim).filter(|name| !name.is_empty());
                let names: Vec<_> = names.map(str::to_owned).collect();
                (!names.is_empty()).then_some(names)
            })
        });
        names.transpose()
    }

    /// The names of the toolsets to mount, or else those of the default ones.
    pub(super) fn names_or_default(&self) -> Result<Vec<String>, Error> {
        let defaults = || description().default_toolsets().map(str::to_owned).collect();
        Ok(self.names()?.unwrap_or_else(defaults))
    }

    /// A builder that mounts these toolsets and grants nothing yet.
    pub(super) fn builder(&self) -> Result<Builder, Error> {
        Ok(match self.names()? {
            Some(names) => builder().toolsets(names),
            None => builder(),
        })
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
    /// The settings without the toolsets to mount.
    pub(super) fn reach(&self) -> &Reach {
        &self.reach
    }

    /// The directory for data outside of repositories.
    pub(super) fn data_directory(&self) -> &DataDirectory {
        &self.reach.data_directory
    }

    /// Starts logging, and builds the memory that the settings describe.
    pub(super) fn memory(&self) -> Result<AgentMemory, Error> {
        self.reach.memory(self.mounting.builder()?)
    }

    /// Starts logging, and returns a builder with all settings.
    pub(super) fn builder(&self) -> Result<Builder, Error> {
        self.reach.builder(self.mounting.builder()?)
    }

    /// Like [`builder`](Self::builder), but calls are not limited to the agent of the project. For
    /// commands that do not work in the project.
    pub(super) fn builder_of_all_agents(&self) -> Result<Builder, Error> {
        self.reach.builder_of_all_agents(self.mounting.builder()?)
    }

    /// For each mounted toolset that asks models, the value of the setting that selects one model.
    /// `None` if it is not set.
    pub(super) fn model_choices(&self) -> Result<Vec<Option<Setting>>, Error> {
        let names = self.mounting.names_or_default()?;
        let own = self.reach.toolsets.values()?;
        let mounted = description().mounted(&names, &own).map_err(Error::usage)?;
        let choices = mounted.into_iter().filter_map(|toolset| {
            let setting = toolset.setting(toolset.model_setting.as_ref()?).ok()?;
            Some(self.reach.toolsets.find(setting))
        });
        Ok(choices.collect())
    }
}

impl Reach {
    /// Starts logging, and builds a memory with all settings.
    pub(super) fn memory(&self, builder: Builder) -> Result<AgentMemory, Error> {
        self.builder(builder)?.build().map_err(Error::usage)
    }

    /// Starts logging, and adds all settings to a builder.
    pub(super) fn builder(&self, builder: Builder) -> Result<Builder, Error> {
        self.project.bind(self.builder_of_all_agents(builder)?)
    }

    /// Like [`builder`](Self::builder), but calls are not limited to the agent of the project.
    pub(super) fn builder_of_all_agents(&self, builder: Builder) -> Result<Builder, Error> {
        self.project.check()?;
        self.granting(builder, starting_repositories().chain(self.allowed()?))
    }

    /// Like [`builder`](Self::builder), but grants only the repository `root`.
    pub(super) fn builder_of(&self, builder: Builder, root: &Path) -> Result<Builder, Error> {
        self.project.bind(self.granting(builder, [root.to_owned()])?)
    }

    /// The options that bind calls to the agent of the project.
    pub(super) fn project(&self) -> &ProjectOptions {
        &self.project
    }

    /// The current time, by the clock that the settings may fix.
    pub(super) fn now(&self) -> Result<Timestamp, Error> {
        let clock = self.testing.clock();
        let clock = clock.map(|clock| clock.read(FIXED_CLOCK, value::fixed_clock)).transpose()?;
        Ok(match clock {
            Some(Clock::Fixed { start, .. }) => start,
            Some(Clock::System) | None => Timestamp::now(),
        })
    }

    fn granting(
        &self,
        mut builder: Builder,
        directories: impl IntoIterator<Item = PathBuf>,
    ) -> Result<Builder, Error> {
        start_logging(self.log_level.as_ref())?;
        for directory in directories {
            tracing::debug!(directory = %directory.display(), "granted");
            builder = builder.allow(directory);
        }
        builder = self.toolsets.set(self.data_directory.set(builder)?)?;
        #[cfg(feature = "postgres")]
        {
            builder = self.database.set(builder)?;
        }
        builder = self.set_zone(builder)?;
        self.testing.set(self.writing.set(builder)?)
    }

    fn set_zone(&self, mut builder: Builder) -> Result<Builder, Error> {
        let is_given =
            |flag: &Option<OsString>| flag.as_deref().is_some_and(|flag| !is_blank(flag));
        let zone_flag = is_given(&self.time_zone);
        let offset_flag = is_given(&self.utc_offset);
        // Each of the two options has precedence over the variable of the other.
        let zone = Setting::parse("--time-zone", self.time_zone.as_ref())
            .filter(|_| zone_flag || !offset_flag);
        let offset = Setting::parse("--utc-offset", self.utc_offset.as_ref())
            .filter(|_| offset_flag || !zone_flag);
        if let (Some(zone), Some(offset)) = (&zone, &offset) {
            return Err(Error::usage(format!(
                "`{}` and `{}` are both given: leave one of them out",
                zone.source(),
                offset.source()
            )));
        }
        if let Some(zone) = zone {
            let known = |name: &str| value::time_zone(name).map(|_| name.to_owned());
            builder = builder.time_zone(zone.read(TIME_ZONE, known)?);
        }
        if let Some(offset) = offset {
            builder = builder.utc_offset(offset.read(UTC_OFFSET, value::utc_offset)?);
        }
        Ok(builder)
    }

    fn allowed(&self) -> Result<Vec<PathBuf>, Error> {
        let given = self.allow.iter().filter(|directory| !is_blank(directory));
        let flags: Vec<_> =
            given.map(|directory| checked_path("--allow", directory)).collect::<Result<_, _>>()?;
        if !flags.is_empty() {
            return Ok(flags);
        }
        let variable = Setting::parse("--allow", None);
        variable.map_or_else(|| Ok(Vec::new()), |paths| paths.paths())
    }
}

/// A memory with one toolset and its settings, for commands that belong to the toolset.
pub(super) fn memory_of<C: Choice>(
    toolset: &str,
    options: &ToolsetOptions<C>,
    writing: &Writing,
    data_directory: Option<&DataDirectory>,
) -> Result<AgentMemory, Error> {
    start_logging(None)?;
    let database = ["--database-url", "--database-url-file"];
    let database = database.iter().find_map(|flag| Setting::parse(flag, None));
    if let Some(database) = database {
        return Err(Error::usage(format!(
            "this command works on files of this machine, and `{}` names a database: use \
             `agent-memory call`, or unset it",
            database.source()
        )));
    }
    let mut builder = builder().toolsets([toolset]);
    if let Some(data_directory) = data_directory {
        builder = data_directory.set(builder)?;
    }
    let builder = options.set(builder)?;
    let builder = Testing::default().set(writing.set(builder)?)?;
    builder.build().map_err(Error::usage)
}

impl Testing {
    fn clock(&self) -> Option<Setting> {
        Setting::parse("--fixed-clock", self.fixed_clock.as_ref())
    }

    fn set(&self, mut builder: Builder) -> Result<Builder, Error> {
        if let Some(clock) = self.clock() {
            builder = builder.clock(clock.read(FIXED_CLOCK, value::fixed_clock)?);
            warn_of_test(&clock);
        }
        if let Some(seed) = Setting::parse("--fixed-random", self.fixed_random.as_ref()) {
            builder = builder.random(seed.read(FIXED_RANDOM, value::fixed_random)?);
            warn_of_test(&seed);
        }
        Ok(builder)
    }
}

/// Starts logging at the level of the option, or else of its environment variables.
pub(super) fn start_logging(level: Option<&OsString>) -> Result<(), Error> {
    if let Some(level) = Setting::parse("--log-level", level) {
        logging::start(level.read(LOG_LEVEL, value::log_level)?);
        return Ok(());
    }
    let shared = Setting::variable("LOG_LEVEL".to_owned());
    match shared.map(|level| level.read(LOG_LEVEL, value::log_level)) {
        Some(Ok(level)) => logging::start(level),
        None => logging::start(LevelFilter::INFO),
        Some(Err(error)) => {
            // Not an error: other programs read this variable, too, and know other levels.
            logging::start(LevelFilter::INFO);
            tracing::warn!("{error}: using INFO");
        }
    }
    Ok(())
}

/// The repositories around the working directory and around `CLAUDE_PROJECT_DIR`.
fn starting_repositories() -> impl Iterator<Item = PathBuf> {
    let project = std::env::var_os("CLAUDE_PROJECT_DIR").and_then(|dir| path_of(&dir));
    let starts = std::env::current_dir().ok().into_iter().chain(project);
    starts.filter_map(|start| repository_around(&start))
}

fn warn_of_test(setting: &Setting) {
    tracing::warn!("`{}` is for tests: it makes results differ from real ones", setting.source());
}
