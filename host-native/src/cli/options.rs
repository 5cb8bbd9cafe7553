//! Options that several commands share: the settings of toolsets, and the options for writing.

use super::Error;
use super::program::description;
use super::setting::{Setting, Suggested};
use super::value::{self, DURABILITY, LOCK_WAIT};
use crate::description::OwnSettings;
use crate::{Builder, PlaceDescription, Toolset, ToolsetSetting};
use clap::builder::ValueParser;
use clap::error::Result as ClapResult;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, ValueHint, value_parser};
use serde_json::Value;
use std::ffi::OsString;
use std::marker::PhantomData;

/// Which settings of toolsets a command has as options.
pub(super) trait Choice: Clone {
    fn has(toolset: &Toolset, setting: &ToolsetSetting) -> bool;
}

/// The settings of all toolsets.
#[derive(Clone, Debug)]
pub(super) struct Every;

impl Choice for Every {
    fn has(_: &Toolset, _: &ToolsetSetting) -> bool {
        true
    }
}

/// The settings by which a user leaves out a toolset, for commands that only list tools.
#[derive(Clone, Debug)]
pub(super) struct LeavingOut;

impl Choice for LeavingOut {
    fn has(toolset: &Toolset, setting: &ToolsetSetting) -> bool {
        toolset.left_out_by.as_ref() == Some(&setting.name)
    }
}

/// The settings of toolsets that were given as flags.
#[derive(Clone, Debug)]
pub(super) struct ToolsetOptions<C> {
    given: Vec<(&'static str, OsString)>,
    choice: PhantomData<C>,
}

fn chosen<C: Choice>() -> impl Iterator<Item = (&'static Toolset, &'static ToolsetSetting)> {
    let all = description().toolsets.iter();
    let all =
        all.flat_map(|toolset| toolset.settings.iter().map(move |setting| (toolset, setting)));
    all.filter(|(toolset, setting)| C::has(toolset, setting))
}

impl<C: Choice> Args for ToolsetOptions<C> {
    fn augment_args(command: Command) -> Command {
        command.args(chosen::<C>().map(|(toolset, setting)| option(toolset, setting)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<C: Choice> FromArgMatches for ToolsetOptions<C> {
    fn from_arg_matches(matches: &ArgMatches) -> ClapResult<Self> {
        let given = chosen::<C>().filter_map(|(_, setting)| {
            let value = if setting.is_switch() {
                matches.get_flag(&setting.flag).then(|| "true".into())?
            } else {
                matches.get_one::<OsString>(&setting.flag)?.clone()
            };
            Some((setting.flag.as_str(), value))
        });
        Ok(Self { given: given.collect(), choice: PhantomData })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> ClapResult<()> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl<C: Choice> ToolsetOptions<C> {
    /// Passes the values from options and environment variables to a builder.
    pub(super) fn set(&self, mut builder: Builder) -> Result<Builder, Error> {
        for (toolset, values) in self.values()? {
            for (name, value) in values {
                builder = builder.setting(&toolset, name, value);
            }
        }
        Ok(builder)
    }

    /// The values from options and environment variables.
    pub(super) fn values(&self) -> Result<OwnSettings, Error> {
        let mut own = OwnSettings::new();
        for (toolset, setting) in chosen::<C>() {
            if let Some(found) = self.find(setting) {
                let value = read(setting, &found)?;
                own.entry(toolset.name.clone()).or_default().insert(setting.name.clone(), value);
            }
        }
        Ok(own)
    }

    /// The value of a setting from an option or a variable.
    pub(super) fn find(&self, setting: &ToolsetSetting) -> Option<Setting> {
        let given = self.given.iter().find(|(flag, _)| *flag == setting.flag);
        let found = Setting::parse(&format!("--{}", setting.flag), given.map(|(_, value)| value));
        let shared = || setting.environment.iter().cloned().find_map(Setting::variable);
        found.or_else(shared)
    }
}

fn read(setting: &ToolsetSetting, found: &Setting) -> Result<Value, Error> {
    if setting.is_path {
        found.path()?;
    }
    let accepts = setting.accepts();
    found.read(&accepts, |text| setting.parse(text)).map_err(|error| {
        if setting.is_secret {
            Error::usage(format!("`{}` is not {accepts}", found.source()))
        } else {
            error
        }
    })
}

/// The option of a toolset's setting.
fn option(toolset: &Toolset, setting: &'static ToolsetSetting) -> Arg {
    let is_of_file = toolset.located_by(&setting.name).is_some_and(PlaceDescription::is_file);
    let help = match setting.default_text.as_str() {
        "" => setting.help.clone(),
        default => format!("{} [default: {default}]", setting.help),
    };
    let variable = format!("AGENT_MEMORY_{}", setting.flag.to_uppercase().replace('-', "_"));
    let variables: Vec<_> = std::iter::once(&variable).chain(&setting.environment).collect();
    let variables: Vec<_> = variables.into_iter().map(String::as_str).collect();
    let more = if setting.more.is_empty() { "" } else { " " };
    let long = format!("{help}\n\n{}{more}[env: {}]", setting.more, variables.join(", "));
    let option = Arg::new(setting.flag.as_str())
        .long(setting.flag.as_str())
        .help(help)
        .long_help(long)
        .help_heading("Memory");
    if setting.is_switch() {
        return option.action(ArgAction::SetTrue);
    }
    let option = option.value_name(value_name(setting, is_of_file)).value_parser(parser(setting));
    match (setting.is_path, is_of_file) {
        (false, _) => option,
        (true, true) => option.value_hint(ValueHint::FilePath),
        (true, false) => option.value_hint(ValueHint::DirPath),
    }
}

fn parser(setting: &'static ToolsetSetting) -> ValueParser {
    if setting.values.is_empty() {
        return value_parser!(OsString);
    }
    let lines = setting.values.iter();
    let lines = lines.map(|(value, help)| (value.as_str(), help.as_str().unwrap_or_default()));
    ValueParser::new(Suggested::new(lines))
}

fn value_name(setting: &ToolsetSetting, is_of_file: bool) -> String {
    match setting.schema.get("type").and_then(Value::as_str) {
        _ if setting.is_path => if is_of_file { "FILE" } else { "DIR" }.to_owned(),
        Some("integer") => "N".to_owned(),
        _ => setting.flag.rsplit('-').next().unwrap_or_default().to_uppercase(),
    }
}

// The options of writing.
#[derive(Debug, Args)]
pub(super) struct Writing {
    /// What an acknowledged write survives [default: full]
    ///
    /// [env: AGENT_MEMORY_DURABILITY]
    #[arg(
        long,
        value_name = "MODE",
        value_parser = Suggested::new([
            ("full", "A loss of power: files and directories are synced first"),
            ("relaxed", "The end of the program; faster, but a loss of power may take the last \
              changes"),
        ]),
        help_heading = "Writing"
    )]
    durability: Option<OsString>,

    /// How long the first writer in the queue waits for the lock [default: 5s]
    ///
    /// At most 1h. Waiting in the queue included, a writer waits for 30s, or for this if it is longer.
    /// Then its tool answers that the memory is busy. [env: AGENT_MEMORY_LOCK_WAIT]
    #[arg(long, value_name = "DURATION", help_heading = "Writing")]
    lock_wait: Option<OsString>,
}

impl Writing {
    pub(super) fn set(&self, mut builder: Builder) -> Result<Builder, Error> {
        if let Some(durability) = Setting::parse("--durability", self.durability.as_ref()) {
            builder = builder.durability(durability.read(DURABILITY, value::durability)?);
        }
        if let Some(timeout) = Setting::parse("--lock-wait", self.lock_wait.as_ref()) {
            builder = builder.lock_wait(timeout.read(LOCK_WAIT, value::lock_wait)?);
        }
        Ok(builder)
    }
}
