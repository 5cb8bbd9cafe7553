use super::findings::{Finding, Findings};
use crate::cli::output::{print, print_json, tell};
use crate::cli::progress::Progress;
use crate::cli::{Failure, builder, help, runtime};
use crate::starting::{repository_around, top_level};
use crate::{CallError, Memory};
use clap::{Args, ValueEnum, ValueHint};
use serde::Deserialize;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const TOOLSET: &str = "sessions";

/// The tool that checks a page of a repository's documents.
const TOOL: &str = "validate";

/// Check the memory of a repository: every log, summary and schema.
///
/// Prints what is wrong, and where, for a person, a Git hook or a CI step. It looks at the working
/// tree as it is, writes nothing, and takes no lock, so that it can run at any time and on a medium
/// that can only be read.
#[derive(Debug, Args)]
#[command(after_long_help = help::sections(&[include_str!("help/validate.txt")]))]
pub struct Validate {
    /// The repository, or a directory in it [default: that around the working directory]
    ///
    /// A directory that no Git repository holds is checked itself. The home directory and `/` have
    /// to be named.
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    directory: Option<PathBuf>,

    /// Let warnings fail, too
    #[arg(long)]
    strict: bool,

    /// How to print what was found
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    format: Format,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A line for each, as compilers print theirs, and their number on standard error
    #[default]
    Text,
    /// One document in the end; its paths are relative to its `repository`
    Json,
}

/// What one call of the tool returns.
#[derive(Deserialize)]
struct Page {
    findings: Vec<Finding>,
    done: usize,
    total: usize,
    cursor: Option<String>,
}

impl Validate {
    pub(in crate::cli) fn run(self) -> Result<ExitCode, Failure> {
        let repository = self.repository()?;
        let memory = builder().toolsets([TOOLSET]).allow(&repository);
        let memory = memory.build().map_err(Failure::usage)?;
        let runtime = runtime()?;
        let mut findings = Findings::of(&repository);
        let mut progress = Progress::new("documents");
        let mut cursor = None;
        let documents = loop {
            let page = runtime.block_on(page(&memory, &repository, cursor.as_deref()));
            // Whatever is printed next begins a line of its own.
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
                tell(&format!("nothing to check: there are no documents in `{}`", place.display()));
            }
            Format::Text => tell(&findings.summary(documents)),
            Format::Json => print_json(&findings.document(documents).to_string())?,
        }
        Ok(match findings.fail(self.strict) {
            true => Failure::TOOL.into(),
            false => ExitCode::SUCCESS,
        })
    }

    fn repository(&self) -> Result<PathBuf, Failure> {
        let Some(given) = &self.directory else {
            let around = std::env::current_dir().ok().and_then(|here| repository_around(&here));
            return around.ok_or_else(|| {
                Failure::usage(
                    "no repository is around the working directory (`/` and the home directory \
                     have to be named): `agent-memory validate DIR` checks that of `DIR`",
                )
            });
        };
        let wrong =
            |why: &str| Failure::usage(format!("cannot check `{}`: {why}", given.display()));
        let directory = given.canonicalize().map_err(|error| wrong(&error.to_string()))?;
        if !directory.is_dir() {
            return Err(wrong("it is not a directory"));
        }
        Ok(top_level(&directory).unwrap_or(&directory).to_owned())
    }
}

async fn page(memory: &Memory, repository: &Path, cursor: Option<&str>) -> Result<Page, Failure> {
    let root = repository.to_str().ok_or_else(|| {
        Failure::usage(format!("the path `{}` is not UTF-8", repository.display()))
    })?;
    let mut arguments = json!({"repo_root": root});
    if let Some(cursor) = cursor {
        arguments["cursor"] = cursor.into();
    }
    let outcome = memory.call(TOOL, &arguments.to_string()).await.map_err(|error| match error {
        CallError::Ended { .. } => Failure::storage(error),
        _ => Failure::usage(error),
    })?;
    let page = outcome.answer.map_err(|refusal| match Failure::status_of(&refusal) {
        Failure::STORAGE => Failure::refused(refusal),
        _ => Failure::usage(refusal.message),
    })?;
    let unreadable = |error| Failure::storage(format!("the component's page: {error}"));
    serde_json::from_str(&page).map_err(unreadable)
}
