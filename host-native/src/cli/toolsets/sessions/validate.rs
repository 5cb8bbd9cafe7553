use super::findings::{Finding, Findings};
use crate::cli::output::{print, print_json, print_note};
use crate::cli::program::{builder, runtime};
use crate::cli::progress::Progress;
use crate::cli::{Error, help};
use crate::enclosing_repository::{repository_around, top_level};
use crate::{AgentMemory, CallError};
use agent_memory_storage_files::canonical;
use clap::{Args, ValueEnum, ValueHint};
use serde::Deserialize;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const TOOLSET: &str = "sessions";

/// The tool that checks a repository's documents, page by page.
const TOOL: &str = "validate";

/// Check the memory of a repository: every log, summary and schema.
///
/// Prints each finding with its place, for a person, a Git hook or a CI step. It checks the working
/// tree, writes nothing and takes no lock. So it can run at any time, also on a read-only medium.
#[derive(Debug, Args)]
#[command(after_long_help = help::sections(&[include_str!("help/validate.txt")]))]
pub struct Validate {
    /// The repository, or a directory in it [default: the one around the working directory]
    ///
    /// A directory outside of a Git repository is checked itself. The home directory and `/` are
    /// checked only if they are named.
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    directory: Option<PathBuf>,

    /// Fail on warnings too
    #[arg(long)]
    strict: bool,

    /// The format of the findings
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    format: Format,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A line for each, as compilers print them, and their number on standard error
    #[default]
    Text,
    /// One document at the end; its paths are relative to its `repository`
    Json,
}

/// The result of one call of the tool.
#[derive(Deserialize)]
struct Page {
    findings: Vec<Finding>,
    done: usize,
    total: usize,
    cursor: Option<String>,
}

/// The findings in a repository in one line, and whether there are errors among them.
pub(in crate::cli) fn summary_of(repository: &Path) -> Result<(String, bool), Error> {
    let memory = builder().toolsets([TOOLSET]).allow(repository).build().map_err(Error::usage)?;
    let runtime = runtime()?;
    let mut findings = Findings::new(repository);
    let mut cursor = None;
    loop {
        let page = runtime.block_on(page(&memory, repository, cursor.as_deref()))?;
        findings.add(page.findings);
        cursor = page.cursor;
        if cursor.is_none() {
            return Ok((findings.summary(page.total), findings.fail(false)));
        }
    }
}

impl Validate {
    pub(in crate::cli) fn run(self) -> Result<ExitCode, Error> {
        let repository = self.repository()?;
        let memory = builder().toolsets([TOOLSET]).allow(&repository);
        let memory = memory.build().map_err(Error::usage)?;
        let runtime = runtime()?;
        let mut findings = Findings::new(&repository);
        let mut progress = Progress::new("documents");
        let mut cursor = None;
        let documents = loop {
            let page = runtime.block_on(page(&memory, &repository, cursor.as_deref()));
            // The progress line is cleared before anything else is printed.
            progress.clear();
            let page = page?;
            if self.format == Format::Text && !page.findings.is_empty() {
                print(&findings.lines(&page.findings))?;
            }
            findings.add(page.findings);
            cursor = page.cursor;
            if cursor.is_none() {
                break page.total;
            }
            progress.show(page.done, page.total);
        };
        match self.format {
            Format::Text if documents == 0 => {
                let place = repository.join(".github/agent-memory");
                print_note(&format!(
                    "nothing to check: there are no documents in `{}`",
                    place.display()
                ));
            }
            Format::Text => print_note(&findings.summary(documents)),
            Format::Json => print_json(&findings.document(documents).to_string())?,
        }
        Ok(if findings.fail(self.strict) { Error::TOOL.into() } else { ExitCode::SUCCESS })
    }

    fn repository(&self) -> Result<PathBuf, Error> {
        let Some(given) = &self.directory else {
            let around = std::env::current_dir().ok().and_then(|here| repository_around(&here));
            return around.ok_or_else(|| {
                Error::usage(
                    "the working directory is not in a repository (`/` and the home directory have \
                     to be named): name one, as in `agent-memory validate DIR`",
                )
            });
        };
        let wrong = |why: &str| Error::usage(format!("cannot check `{}`: {why}", given.display()));
        let directory = canonical(given).map_err(|error| wrong(&error.to_string()))?;
        if !directory.is_dir() {
            return Err(wrong("it is not a directory"));
        }
        Ok(top_level(&directory).unwrap_or(&directory).to_owned())
    }
}

async fn page(
    memory: &AgentMemory,
    repository: &Path,
    cursor: Option<&str>,
) -> Result<Page, Error> {
    let root = repository
        .to_str()
        .ok_or_else(|| Error::usage(format!("the path `{}` is not UTF-8", repository.display())))?;
    let mut arguments = json!({"repo_root": root});
    if let Some(cursor) = cursor {
        arguments["cursor"] = cursor.into();
    }
    let outcome = memory.call(TOOL, &arguments.to_string()).await.map_err(|error| match error {
        CallError::Ended { .. } => Error::storage(error),
        _ => Error::usage(error),
    })?;
    let page = outcome.answer.map_err(|error| match Error::status_of(&error) {
        Error::STORAGE => Error::from_tool(error),
        _ => Error::usage(error.message),
    })?;
    let unreadable =
        |error| Error::storage(format!("the component's page cannot be read: {error}"));
    serde_json::from_str(&page).map_err(unreadable)
}
