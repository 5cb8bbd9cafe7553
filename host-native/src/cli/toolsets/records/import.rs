use super::{Open, Target, records};
use crate::cli::output::tell;
use crate::cli::progress::Progress;
use crate::cli::{Failure, help};
use clap::{Args, ValueEnum, ValueHint};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::json;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// The most of JSON Lines that one page has, and of a document or one line.
const PAGE_BYTES: usize = 2 << 20;
const PAGE_LINES: usize = 5_000;
const MOST_BYTES: usize = 16 << 20;

/// Read records from a file or standard input.
///
/// They keep their ids, their timestamps and what other programs keep in them. Each page of some
/// thousand lines is imported whole or not at all, in the order of the lines.
#[derive(Debug, Args)]
#[command(after_long_help = help::sections(&[
    include_str!("help/import.txt"),
    include_str!("help/status.txt"),
]))]
pub(super) struct Import {
    /// JSON Lines, or a document of the JSON format; `-` is standard input [default: -]
    #[arg(
        value_name = "FILE|-",
        value_hint = ValueHint::FilePath,
        default_value = "-",
        hide_default_value = true
    )]
    file: PathBuf,

    /// What becomes of a record whose id the agent has
    #[arg(long, value_name = "CHOICE", value_enum, default_value_t)]
    on_conflict: OnConflict,

    #[command(flatten)]
    target: Target,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum OnConflict {
    /// Nothing of its page is imported, and the import ends
    #[default]
    Refuse,
    /// The agent's own stays
    Skip,
    /// It replaces the agent's own
    Replace,
}

#[derive(Deserialize)]
struct Page {
    added: u64,
    replaced: u64,
    skipped: u64,
    cursor: Option<String>,
}

/// What was imported so far.
#[derive(Default)]
struct Sum {
    added: u64,
    replaced: u64,
    skipped: u64,
}

impl Import {
    pub(super) fn run(self) -> Result<(), Failure> {
        let mut text = Text::open(&self.file)?;
        let target = self.target.open()?;
        let on_conflict = match self.on_conflict {
            OnConflict::Refuse => "refuse",
            OnConflict::Skip => "skip",
            OnConflict::Replace => "replace",
        };
        let mut sum = Sum::default();
        let mut progress = Progress::new("records");
        while let Some((first_line, chunk)) = text.chunk()? {
            let mut arguments =
                json!({"records": chunk, "first_line": first_line, "on_conflict": on_conflict});
            loop {
                let cursor = page(&target, &arguments, &mut sum);
                progress.clear();
                let Some(cursor) = cursor? else { break };
                arguments["cursor"] = json!(cursor);
                progress.show_count(sum.all());
            }
            progress.show_count(sum.all());
        }
        progress.clear();
        tell(&sum.in_words());
        Ok(())
    }
}

fn page(
    target: &Open,
    arguments: &serde_json::Value,
    sum: &mut Sum,
) -> Result<Option<String>, Failure> {
    let page = target.page::<Page>("import_records", arguments.clone()).map_err(|failure| {
        if sum.all() == 0 {
            return failure;
        }
        failure.adding(&format!("; before that: {}", sum.in_words()))
    })?;
    sum.added += page.added;
    sum.replaced += page.replaced;
    sum.skipped += page.skipped;
    Ok(page.cursor)
}

impl Sum {
    fn all(&self) -> usize {
        (self.added + self.replaced + self.skipped) as usize
    }

    fn in_words(&self) -> String {
        let mut words = format!("{} imported", records(self.added + self.replaced));
        if self.replaced > 0 {
            words += &format!(", {} of them replaced others", self.replaced);
        }
        if self.skipped > 0 {
            words += &format!(", {} skipped", self.skipped);
        }
        words
    }
}

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// A text, in parts of whole lines.
struct Text {
    name: String,
    reader: Box<dyn BufRead>,
    /// How many lines were read.
    lines: usize,
}

impl Text {
    fn open(file: &Path) -> Result<Text, Failure> {
        if file == Path::new("-") {
            let reader = Box::new(BufReader::new(std::io::stdin()));
            return Ok(Text { name: "standard input".to_owned(), reader, lines: 0 });
        }
        let name = format!("`{}`", file.display());
        let opened = File::open(file)
            .map_err(|error| Failure::usage(format!("{name} cannot be read: {error}")))?;
        Ok(Text { name, reader: Box::new(BufReader::new(opened)), lines: 0 })
    }

    /// The next part, with the number of its first line; none after the end.
    fn chunk(&mut self) -> Result<Option<(usize, String)>, Failure> {
        let first_line = self.lines + 1;
        let mut chunk = String::new();
        while chunk.len() < PAGE_BYTES && self.lines + 1 - first_line < PAGE_LINES {
            let Some(line) = self.line()? else { break };
            chunk += &line;
            // Where the first line is no whole value these are no JSON Lines, but one document.
            let is_first = first_line == 1 && chunk.trim_start().len() == line.trim_start().len();
            let is_value = |text: &str| serde_json::from_str::<IgnoredAny>(text).is_ok();
            if is_first && !line.trim().is_empty() && !is_value(&line) {
                while let Some(line) = self.line()? {
                    chunk += &line;
                    if chunk.len() > MOST_BYTES {
                        return Err(self.too_long("a document"));
                    }
                }
            }
        }
        Ok((!chunk.is_empty()).then_some((first_line, chunk)))
    }

    /// The next line, with its end.
    fn line(&mut self) -> Result<Option<String>, Failure> {
        let mut line = Vec::new();
        let mut reader = (&mut self.reader).take(MOST_BYTES as u64 + 1);
        let read = reader.read_until(b'\n', &mut line);
        read.map_err(|error| Failure::storage(format!("{} cannot be read: {error}", self.name)))?;
        if line.len() > MOST_BYTES {
            return Err(self.too_long("a line"));
        }
        if line.is_empty() {
            return Ok(None);
        }
        // As the tool does, which sees no line of a text that does not begin with a value.
        if self.lines == 0 && line.starts_with(BYTE_ORDER_MARK) {
            line.drain(..BYTE_ORDER_MARK.len());
        }
        self.lines += 1;
        let not_utf_8 =
            |_| Failure::tool(format!("{} line {} is not UTF-8", self.name, self.lines));
        String::from_utf8(line).map(Some).map_err(not_utf_8)
    }

    fn too_long(&self, what: &str) -> Failure {
        let most = MOST_BYTES >> 20;
        Failure::tool(format!("{} has {what} of more than {most} MiB: split it", self.name))
    }
}
