use super::{Target, records};
use crate::cli::output::tell;
use crate::cli::progress::Progress;
use crate::cli::{Failure, help};
use clap::{Args, ValueEnum, ValueHint};
use serde::Deserialize;
use serde_json::json;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Write an agent's records to a file or standard output.
///
/// The agent may be used meanwhile. What changes during an export of very many records may be in
/// it as it was or as it is; a memory that moves to another type may be in it twice.
#[derive(Debug, Args)]
#[command(after_long_help = help::sections(&[
    include_str!("../help/records-export.txt"),
    include_str!("../help/records-status.txt"),
]))]
pub(super) struct Export {
    /// The file, replaced when all is written, and not where the records are; `-` is standard
    /// output [default: -]
    #[arg(
        value_name = "FILE|-",
        value_hint = ValueHint::FilePath,
        default_value = "-",
        hide_default_value = true
    )]
    file: PathBuf,

    /// How to write them
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    format: Format,

    #[command(flatten)]
    target: Target,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Format {
    /// JSON Lines: a record a line
    #[default]
    Jsonl,
    /// One document, as the JSON format keeps it
    Json,
}

#[derive(Deserialize)]
struct Page {
    text: String,
    count: u64,
    total: u64,
    cursor: Option<String>,
}

impl Export {
    pub(super) fn run(self) -> Result<(), Failure> {
        let target = self.target.open()?;
        check_place(&self.file, target.memory.memory_dir())?;
        let format = match self.format {
            Format::Jsonl => "jsonl",
            Format::Json => "json",
        };
        let mut output = Output::of(&self.file);
        let mut progress = Progress::new("records");
        let (mut arguments, mut done) = (json!({"format": format}), 0);
        loop {
            let page = target.page::<Page>("export_records", arguments.clone());
            progress.clear();
            let page = page?;
            if !output.write(&page.text)? {
                return Ok(());
            }
            done += page.count;
            let Some(cursor) = page.cursor else { break };
            arguments["cursor"] = json!(cursor);
            progress.show(done as usize, page.total as usize);
        }
        output.finish()?;
        tell(&format!("{} of agent `{}`", records(done), target.agent));
        Ok(())
    }
}

/// Refuses a file among those that are kept: it could replace one of them.
fn check_place(file: &Path, memory_dir: Option<PathBuf>) -> Result<(), Failure> {
    if file == Path::new("-") {
        return Ok(());
    }
    let directory = file.parent().filter(|parent| !parent.as_os_str().is_empty());
    // Where one of them is not there, nothing of it can be replaced.
    let directory = directory.unwrap_or(Path::new(".")).canonicalize();
    let memory_dir = memory_dir.map(|memory_dir| memory_dir.canonicalize());
    match (directory, memory_dir) {
        (Ok(directory), Some(Ok(kept_in))) if directory.starts_with(&kept_in) => {
            Err(Failure::usage(format!(
                "`{}` is in the directory of the records, `{}`: name a file elsewhere",
                file.display(),
                kept_in.display()
            )))
        }
        _ => Ok(()),
    }
}

/// Where the text goes. A file gets its name when it is whole.
struct Output {
    file: Option<PathBuf>,
    written: Option<File>,
}

impl Output {
    fn of(file: &Path) -> Output {
        let file = (file != Path::new("-")).then(|| file.to_owned());
        Output { file, written: None }
    }

    /// Returns whether anybody wants more.
    fn write(&mut self, text: &str) -> Result<bool, Failure> {
        let Some(file) = &self.file else {
            let mut out = io::stdout().lock();
            return match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
                Ok(()) => Ok(true),
                Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
                Err(error) => {
                    Err(Failure::storage(format!("standard output cannot be written: {error}")))
                }
            };
        };
        let partial = partial(file);
        let written = match self.written.take() {
            Some(written) => written,
            None => created(&partial).map_err(|error| failed(file, &error))?,
        };
        let written = self.written.insert(written);
        written.write_all(text.as_bytes()).map_err(|error| failed(file, &error))?;
        Ok(true)
    }

    fn finish(&mut self) -> Result<(), Failure> {
        let (Some(file), Some(written)) = (&self.file, self.written.take()) else { return Ok(()) };
        let named = written.sync_all().and_then(|()| fs::rename(partial(file), file));
        if named.is_err() {
            let _ = fs::remove_file(partial(file));
        }
        named.map_err(|error| failed(file, &error))
    }
}

impl Drop for Output {
    /// An export that failed leaves nothing.
    fn drop(&mut self) {
        if let (Some(file), Some(_)) = (&self.file, &self.written) {
            let _ = fs::remove_file(partial(file));
        }
    }
}

/// Memories are private, as their file and database are.
fn created(file: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(file)
}

fn partial(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(format!(".{}.partial", std::process::id()));
    name.into()
}

fn failed(file: &Path, error: &io::Error) -> Failure {
    Failure::storage(format!("`{}` cannot be written: {error}", file.display()))
}
