//! `doctor`: looks at everything that the memory needs, and says what to do.

mod clients;
mod finding;
mod locks;
mod places;
mod project;
mod reached;

use super::embedder::EmbedderOptions;
use super::models::Models;
use super::output::{print, print_json, print_note};
use super::program::{builder, runtime};
use super::settings::Settings;
use super::toolsets::checks;
use super::{Error, help};
use crate::AgentMemory;
use crate::enclosing_repository::repository_around;
use clap::Args;
use finding::{Finding, Findings};
use std::path::Path;
use std::process::ExitCode;

/// Look at everything that the memory needs, and say what to do.
///
/// It looks at the clients and the programs or servers that they use, the settings, the directories
/// and their modes, the locks and who holds them, the databases, the registries, the files that
/// cannot be read, and the repository around the working directory. It changes nothing, unless
/// `--repair` is given.
#[derive(Debug, Args)]
#[command(after_long_help = help::sections(&[
    include_str!("../help/doctor.txt"),
    include_str!("../help/settings.txt"),
]))]
pub struct Doctor {
    /// Make the repairs that need no decision, and name each
    #[arg(long)]
    repair: bool,

    /// Print the findings as JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    settings: Settings,

    #[command(flatten)]
    models: Models,

    #[command(flatten)]
    embedder: EmbedderOptions,
}

impl Doctor {
    pub(super) fn run(self) -> Result<ExitCode, Error> {
        let mut findings = Findings::default();
        findings.add(program());
        findings.extend(clients::findings());
        findings.extend(project::finding(self.settings.reach().project()));
        match self.server().and_then(|_| self.everything()) {
            Ok(memory) => self.look(&memory, &mut findings)?,
            Err(error) => findings.add(Finding::error("settings", error)),
        }
        if self.json {
            print_json(&findings.document().to_string())?
        } else {
            print(&findings.lines())?;
            print_note(&findings.summary());
        }
        Ok(if findings.has_errors() { Error::TOOL.into() } else { ExitCode::SUCCESS })
    }

    /// The memory of a server with these options.
    fn server(&self) -> Result<AgentMemory, Error> {
        let builder = self.models.add(&self.settings, self.settings.builder_of_all_agents()?)?;
        self.embedder.add(builder)?.build().map_err(Error::usage)
    }

    /// A memory with all toolsets. Its calls change no file.
    fn everything(&self) -> Result<AgentMemory, Error> {
        let reach = self.settings.reach();
        let builder = reach.builder_of_all_agents(builder().toolsets(checks::ALL))?;
        builder.looks_only().build().map_err(Error::usage)
    }

    fn look(&self, memory: &AgentMemory, findings: &mut Findings) -> Result<(), Error> {
        let repository = std::env::current_dir().ok().and_then(|here| repository_around(&here));
        // Look at the lock files first: this would drop locks that the process has already.
        findings.extend(locks::findings(memory, repository.as_deref()));
        let orphans: Vec<Finding> = places::orphans(memory).collect();
        if !orphans.is_empty() {
            // Stop here: opening the databases would make SQLite delete the changes in these logs.
            findings.extend(orphans);
            return Ok(());
        }
        let runtime = runtime()?;
        findings.extend(places::findings(memory, &runtime, self.repair));
        match checks::unreadable(memory, &runtime, repository.is_some()) {
            Ok(warnings) => {
                let warnings = warnings.into_iter();
                findings.extend(warnings.map(|warning| Finding::error("reading", warning)));
            }
            Err(error) => findings.add(Finding::error("reading", error)),
        }
        findings.add(repository.map_or_else(
            || Finding::good("repository", "there is none around the working directory"),
            |repository| of_repository(&repository),
        ));
        Ok(())
    }
}

fn of_repository(repository: &Path) -> Finding {
    let shown = repository.display();
    match checks::of_repository(repository) {
        Ok((summary, true)) => Finding::error("repository", format!("`{shown}`: {summary}"))
            .advise("see them with `agent-memory validate`"),
        Ok((summary, false)) => Finding::good("repository", format!("`{shown}`: {summary}")),
        Err(error) => Finding::error("repository", error),
    }
}

/// The finding about the program itself.
fn program() -> Finding {
    let path = std::env::current_exe().map(|path| format!(": {}", path.display()));
    let version = env!("CARGO_PKG_VERSION");
    let path = path.unwrap_or_default();
    Finding::good("program", format!("agent-memory {version}{path}"))
}
