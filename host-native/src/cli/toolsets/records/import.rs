use super::target::{Open, Target, records};
use crate::cli::output::print_note;
use crate::cli::progress::Progress;
use crate::cli::{Error, help};
use crate::storage::MAX_DOCUMENT_BYTES;
use clap::{Args, ValueEnum, ValueHint};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::json;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// The limits of a page of JSON Lines, and of a document or one line.
const PAGE_BYTES: usize = 2 << 20;
const PAGE_LINES: usize = 5_000;
const MAX_BYTES: usize = MAX_DOCUMENT_BYTES as usize;

/// Read records from a file or standard input.
///
/// Records keep their ids, their timestamps and the fields of other programs. Some thousand lines
/// form a page. Pages are imported in order, each completely or not at all.
#[derive(Debug, Args)]
#[command(after_long_help = help::sections(&[
    include_str!("help/import.txt"),
    include_str!("help/status.txt"),
]))]
pub(super) struct Import {
    /// JSON Lines, or a document of the JSON format; `-` for standard input [default: -]
    #[arg(
        value_name = "FILE|-",
        value_hint = ValueHint::FilePath,
        default_value = "-",
        hide_default_value = true
    )]
    file: PathBuf,

    /// What to do with a record whose id the agent already has
    #[arg(long, value_name = "CHOICE", value_enum, default_value_t)]
    on_conflict: OnConflict,

    #[command(flatten)]
    target: Target,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum OnConflict {
    /// Import nothing of its page, and end
    #[default]
    Refuse,
    /// Keep the agent's record
    Skip,
    /// Replace the agent's record
    Replace,
}

#[derive(Deserialize)]
struct Page {
    added: u64,
    replaced: u64,
    skipped: u64,
    cursor: Option<String>,
}

/// The totals of all pages so far.
#[derive(Default)]
struct Totals {
    added: u64,
    replaced: u64,
    skipped: u64,
}

impl Import {
    pub(super) fn run(self) -> Result<(), Error> {
        let mut text = Text::open(&self.file)?;
        let target = self.target.open()?;
        let on_conflict = match self.on_conflict {
            OnConflict::Refuse => "refuse",
            OnConflict::Skip => "skip",
            OnConflict::Replace => "replace",
        };
        let mut totals = Totals::default();
        let mut progress = Progress::new("records");
        while let Some((first_line, chunk)) = text.chunk()? {
            let mut arguments =
                json!({"records": chunk, "first_line": first_line, "on_conflict": on_conflict});
            loop {
                let cursor = page(&target, &arguments, &mut totals);
                progress.clear();
                let Some(cursor) = cursor? else { break };
                arguments["cursor"] = json!(cursor);
                progress.show_count(totals.all());
            }
            progress.show_count(totals.all());
        }
        progress.clear();
        print_note(&totals.in_words());
        Ok(())
    }
}

fn page(
    target: &Open,
    arguments: &serde_json::Value,
    totals: &mut Totals,
) -> Result<Option<String>, Error> {
    let page = target.page::<Page>("import_records", arguments.clone()).map_err(|error| {
        if totals.all() == 0 {
            return error;
        }
        error.adding(&format!("; before that: {}", totals.in_words()))
    })?;
    totals.added += page.added;
    totals.replaced += page.replaced;
    totals.skipped += page.skipped;
    Ok(page.cursor)
}

impl Totals {
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

/// A text, read in pages of whole lines.
struct Text {
    name: String,
    reader: Box<dyn BufRead>,
    /// How many lines were read.
    lines: usize,
}

impl Text {
    fn open(file: &Path) -> Result<Text, Error> {
        if file == Path::new("-") {
            let reader = Box::new(BufReader::new(std::io::stdin()));
            return Ok(Text { name: "standard input".to_owned(), reader, lines: 0 });
        }
        let name = format!("`{}`", file.display());
        let opened = File::open(file)
            .map_err(|error| Error::usage(format!("{name} cannot be read: {error}")))?;
        Ok(Text { name, reader: Box::new(BufReader::new(opened)), lines: 0 })
    }

    /// The next lines, up to a page, or the whole text if it is one document. Also the number of
    /// the first line. `None` after the end.
    fn chunk(&mut self) -> Result<Option<(usize, String)>, Error> {
        let first_line = self.lines + 1;
        let mut chunk = String::new();
        while chunk.len() < PAGE_BYTES && self.lines + 1 - first_line < PAGE_LINES {
            let Some(line) = self.line()? else { break };
            chunk += &line;
            // If the first line that is not blank is no complete value, the text is one document.
            let is_first = first_line == 1 && chunk.trim_start().len() == line.trim_start().len();
            let is_value = |text: &str| serde_json::from_str::<IgnoredAny>(text).is_ok();
            if is_first && !line.trim().is_empty() && !is_value(&line) {
                while let Some(line) = self.line()? {
                    chunk += &line;
                    if chunk.len() > MAX_BYTES {
                        return Err(self.too_long("a document"));
                    }
                }
            }
        }
        Ok((!chunk.is_empty()).then_some((first_line, chunk)))
    }

    /// The next line, with its end.
    fn line(&mut self) -> Result<Option<String>, Error> {
        let mut line = Vec::new();
        let mut reader = (&mut self.reader).take(MAX_BYTES as u64 + 1);
        let read = reader.read_until(b'\n', &mut line);
        read.map_err(|error| Error::storage(format!("{} cannot be read: {error}", self.name)))?;
        if line.len() > MAX_BYTES {
            return Err(self.too_long("a line"));
        }
        if line.is_empty() {
            return Ok(None);
        }
        // The byte order mark is removed here: with it, the check for a complete first line would fail.
        if self.lines == 0 && line.starts_with(BYTE_ORDER_MARK) {
            line.drain(..BYTE_ORDER_MARK.len());
        }
        self.lines += 1;
        let not_utf_8 = |_| Error::tool(format!("{} line {} is not UTF-8", self.name, self.lines));
        String::from_utf8(line).map(Some).map_err(not_utf_8)
    }

    fn too_long(&self, what: &str) -> Error {
        let most = MAX_BYTES >> 20;
        Error::tool(format!("{} has {what} of more than {most} MiB: split it", self.name))
    }
}
