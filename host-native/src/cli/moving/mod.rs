//! Moving the memory of this machine into a database that servers share, and back.

mod documents;
mod place;
mod rows;
mod table;
mod work;

use super::database::DatabaseArgs;
use super::options::{Choice, ToolsetOptions, Writing};
use super::output::{print, print_note};
use super::program::{builder, description, runtime};
use super::setting::checked_name;
use super::settings::{DataDirectory, start_logging};
use super::{Error, help};
use crate::builder::BuildError;
use crate::database::DatabaseOptions;
use crate::storage::{self, ErrorCode, Storage};
use crate::{Builder, Toolset, ToolsetSetting};
use clap::{ArgGroup, Args};
use place::Place;
use std::ffi::OsString;
use std::process::ExitCode;
use work::{Counts, Pass, Work};

/// Move the memory of this machine into a database, or back.
///
/// Documents and rows are copied as they are, and each copy is read and compared in the end. The source
/// stays as it was. Nothing is overwritten: the target is empty, or it holds a part of the same memory.
/// So a move that was interrupted goes on when it is started again.
#[derive(Debug, Args)]
#[command(
    group = ArgGroup::new("direction").required(true),
    after_long_help = help::sections(&[include_str!("../help/move.txt")]),
)]
pub struct Move {
    /// Move into the database, at this URL or that of the options below
    ///
    /// Other programs see the arguments of a command: give a password in the variable or in a file.
    #[arg(long, value_name = "URL", num_args = 0..=1, default_missing_value = "", group = "direction")]
    to: Option<OsString>,

    /// Move out of the database, into files of this machine
    #[arg(long, value_name = "URL", num_args = 0..=1, default_missing_value = "", group = "direction")]
    from: Option<OsString>,

    /// Only these toolsets, as a comma list [default: all that have a memory outside of repositories]
    #[arg(long = "toolset", value_name = "NAMES", value_delimiter = ',')]
    toolsets: Vec<String>,

    /// The tenant whose memory it is in the database [default: what belongs to no tenant]
    #[arg(long, value_name = "NAME")]
    tenant: Option<String>,

    /// Only show what would be moved, and what prevents it
    #[arg(long = "dry-run")]
    only_shows: bool,

    #[command(flatten)]
    database: DatabaseArgs,

    #[command(flatten)]
    data_directory: DataDirectory,

    #[command(flatten)]
    places: ToolsetOptions<Located>,

    #[command(flatten)]
    writing: Writing,
}

/// The settings that are paths of places.
#[derive(Clone, Debug)]
struct Located;

impl Choice for Located {
    fn has(toolset: &Toolset, setting: &ToolsetSetting) -> bool {
        toolset.located_by(&setting.name).is_some()
    }
}

impl Move {
    pub(super) fn run(self) -> Result<ExitCode, Error> {
        start_logging(None)?;
        let toolsets = self.chosen()?;
        let given = self.to.as_ref().map(|url| ("--to", url));
        let given = given.or(self.from.as_ref().map(|url| ("--from", url)));
        let (option, url) = given.expect("one of both is required");
        let server = self.server(self.database.at(option, url)?)?;
        let files = self.files()?;
        let (from, to) = if self.to.is_some() { (files, server) } else { (server, files) };
        let runtime = runtime()?;
        let mut work = Work::new(&runtime, from.options().lock_wait);
        let mut places = Vec::new();
        for toolset in &toolsets {
            places.extend(Place::all(&mut work, toolset, &from, &to).map_err(failed)?);
        }
        for place in &mut places {
            place.pass(&mut work, Pass::Check).map_err(failed)?;
        }
        work.tell_notes();
        if work.has_problems() {
            return Err(Error::tool(
                "nothing was moved: mend what is named above, then move again",
            ));
        }
        if !self.only_shows {
            for (pass, name) in [(Pass::Copy, "copying"), (Pass::Verify, "verifying")] {
                work.begin(counts(&places, None).all());
                for place in &mut places {
                    print_note(&format!("{name} {}", place.shown()));
                    place.pass(&mut work, pass).map_err(failed)?;
                }
                work.end();
                if work.has_problems() {
                    return Err(Error::storage(CHANGED));
                }
            }
        }
        self.tell(&toolsets, &places)?;
        Ok(ExitCode::SUCCESS)
    }

    fn tell(&self, toolsets: &[&Toolset], places: &[Place]) -> Result<(), Error> {
        let moved = if self.only_shows { "to move" } else { "moved" };
        for toolset in toolsets {
            let counts = counts(places, Some(&toolset.name));
            if counts.places > 0 {
                print(&format!("{}: {moved} {}", toolset.name, counts.shown()))?;
            }
        }
        if places.is_empty() {
            print_note("there is nothing to move");
        } else if !self.only_shows {
            print_note(if self.to.is_some() { INTO_DATABASE } else { INTO_FILES });
        }
        Ok(())
    }

    /// The toolsets that are moved.
    fn chosen(&self) -> Result<Vec<&'static Toolset>, Error> {
        let all = description().toolsets.iter().filter(|toolset| !toolset.places.is_empty());
        if self.toolsets.is_empty() {
            return Ok(all.collect());
        }
        for name in &self.toolsets {
            if description().toolset(name).map_err(Error::usage)?.places.is_empty() {
                let message = format!("`{name}` has no memory that a database holds: leave it out");
                return Err(Error::usage(message));
            }
        }
        Ok(all.filter(|toolset| self.toolsets.contains(&toolset.name)).collect())
    }

    fn files(&self) -> Result<Storage, Error> {
        built(self.places.set(self.data_directory.set(self.builder()?)?)?)
    }

    fn server(&self, database: DatabaseOptions) -> Result<Storage, Error> {
        let storage = built(self.builder()?.database(database))?;
        let Some(tenant) = &self.tenant else { return Ok(storage) };
        let tenant = checked_name("--tenant", tenant)?;
        let found = storage.find_tenant(&tenant).and_then(|number| storage.for_tenant(number));
        found.map_err(|error| match error.code {
            ErrorCode::NotFound => Error::usage(error.message),
            _ => failed(error),
        })
    }

    fn builder(&self) -> Result<Builder, Error> {
        let names = description().toolsets.iter().map(|toolset| toolset.name.as_str());
        self.writing.set(builder().toolsets(names))
    }
}

const CHANGED: &str = "the copy differs: somebody wrote to the source or to the target meanwhile. Stop what \
                       writes there, and start again; what differs for good has to be removed from the \
                       target before";

const INTO_DATABASE: &str = "each document and row was read in the database, and is the same. The files \
    are as they were: keep them as a backup\n\
    next: start the servers with the same URL, as `agent-memory serve --database-url-file FILE`, and \
    without options that name a directory or a file for a toolset\n\
    the logs in repositories stay there; indexes for searches are made anew";

const INTO_FILES: &str = "each document and row was read in the files, and is the same. The database still \
    has its copy\n\
    next: start `agent-memory serve` without the URL of the database, and with the same options for \
    directories and files\n\
    indexes for searches are made anew";

fn built(builder: Builder) -> Result<Storage, Error> {
    let memory = builder.build().map_err(|error| match error {
        BuildError::Database(error) => failed(error),
        error => Error::usage(error),
    })?;
    Ok(memory.storage().clone())
}

/// The sums of the counts of all places, or of the places of one toolset.
fn counts(places: &[Place], toolset: Option<&str>) -> Counts {
    let of = places.iter().filter(|place| toolset.is_none_or(|name| place.toolset == name));
    of.fold(Counts::default(), |sum, place| sum.with(place.counts))
}

fn failed(error: storage::Error) -> Error {
    Error::storage(error.message)
}
