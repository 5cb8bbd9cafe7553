use super::destination::Destination;
use super::target::{PLACE, Target, records};
use crate::cli::output::print_note;
use crate::cli::progress::Progress;
use crate::cli::{Error, help};
use agent_memory_storage_files::canonical;
use clap::{Args, ValueEnum, ValueHint};
use serde::Deserialize;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Write an agent's records to a file or standard output.
///
/// The agent may be used meanwhile. A record that changes during a long export may be in it before
/// or after the change; a memory whose type changes may be in it twice.
#[derive(Debug, Args)]
#[command(after_long_help = help::sections(&[
    include_str!("help/export.txt"),
    include_str!("help/status.txt"),
]))]
pub(super) struct Export {
    /// The file, which is replaced when the export is complete and keeps its permissions; a pipe or
    /// a device; `-` for standard output [default: -]
    #[arg(
        value_name = "FILE|-",
        value_hint = ValueHint::FilePath,
        default_value = "-",
        hide_default_value = true
    )]
    file: PathBuf,

    /// The format of the export
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    format: Format,

    #[command(flatten)]
    target: Target,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Format {
    /// JSON Lines: a record on each line
    #[default]
    Jsonl,
    /// One document, as in the JSON format
    Json,
}

#[derive(Deserialize)]
struct Page {
    text: String,
    count: u64,
    total: u64,
    cursor: Option<String>,
    #[serde(default)]
    warnings: Vec<String>,
}

impl Export {
    pub(super) fn run(self) -> Result<(), Error> {
        let target = self.target.open()?;
        let mut destination = Destination::new(&self.file)?;
        if let Some(file) = destination.file() {
            check_place(file, target.memory.place_directory(PLACE))?;
        }
        let format = match self.format {
            Format::Jsonl => "jsonl",
            Format::Json => "json",
        };
        let mut progress = Progress::new("records");
        let mut arguments = json!({"format": format});
        let mut done = 0;
        loop {
            let page = target.page::<Page>("export_records", arguments.clone());
            progress.clear();
            let page = page?;
            if !destination.write(&page.text)? {
                return Ok(());
            }
            done += page.count;
            page.warnings.iter().for_each(|warning| print_note(warning));
            let Some(cursor) = page.cursor else { break };
            arguments["cursor"] = json!(cursor);
            progress.show(done as usize, page.total as usize);
        }
        destination.finish()?;
        print_note(&format!("{} of agent `{}`", records(done), target.agent));
        Ok(())
    }
}

/// Checks that the file is not in the directory of the records, where it could replace one of its
/// files.
fn check_place(file: &Path, memory_dir: Option<PathBuf>) -> Result<(), Error> {
    let directory = file.parent().filter(|parent| !parent.as_os_str().is_empty());
    // If one of the directories does not exist, no file in it can be replaced.
    let directory = canonical(directory.unwrap_or(Path::new(".")));
    let memory_dir = memory_dir.map(|memory_dir| canonical(&memory_dir));
    match (directory, memory_dir) {
        (Ok(directory), Some(Ok(kept_in))) if directory.starts_with(&kept_in) => {
            Err(Error::usage(format!(
                "`{}` is in the directory of the records, `{}`: name a file elsewhere",
                file.display(),
                kept_in.display()
            )))
        }
        _ => Ok(()),
    }
}
