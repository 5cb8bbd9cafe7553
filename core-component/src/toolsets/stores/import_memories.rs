use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::{Code, Error};
use super::import::{ImportFile, OnConflict, Outcome, import_dry_run, import_memories};
use super::input;
use super::store::Store;
use crate::names::StoreName;
use crate::tool::{Audience, Call, Hints, Tool};

/// The maximum total length in bytes of the texts of several files. A call first writes them to one
/// intent document, where JSON can need six bytes for one.
const MAX_BYTES: usize = 2 << 20;

pub(super) struct ImportMemories;

/// Imports one page of files: all of them, or none if the call fails. A text without front matter gets
/// some, with the source `user`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Import memories")]
pub(super) struct Input {
    /// Name of the store.
    store: StoreName,
    /// The files. Their texts have at most 2 MiB together, unless there is only one.
    #[schemars(length(min = 1, max = 500))]
    files: Vec<File>,
    /// If the memory at a path has another text: `skip` keeps it, `replace` writes the file's text, and
    /// `refuse` fails the whole call.
    #[serde(default)]
    on_conflict: OnConflict,
    /// Only say what would be done.
    #[serde(default)]
    dry_run: bool,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
struct File {
    /// `category/slug`, as `plan_import` gives it.
    #[schemars(length(max = 2100))]
    path: String,
    /// Front matter and Markdown.
    text: String,
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Output {
    /// In the order of the input.
    files: Vec<Imported>,
    warnings: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Imported {
    path: String,
    /// `added`, `replaced`, `unchanged` (it has this text) or `skipped`.
    outcome: &'static str,
    /// Why it was skipped.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

impl Tool for ImportMemories {
    const NAME: &'static str = "import_memories";
    const HINTS: Hints = Hints::OVERWRITES;
    const AUDIENCE: Audience = Audience::Person;
    type Input = Input;
    type Output = Output;
    type Error = Error;

    fn run(call: &Call<'_>, input: Input) -> Result<Output, Error> {
        let files = checked(input.files)?;
        let store = Store::open(call, &input.store)?;
        let (outcomes, warnings) = if input.dry_run {
            import_dry_run(&store, &files, input.on_conflict)?
        } else {
            import_memories(&store, &files, input.on_conflict)?
        };
        let imported = |(file, outcome): (&ImportFile, Outcome)| {
            let (outcome, reason) = match outcome {
                Outcome::Added => ("added", None),
                Outcome::Replaced => ("replaced", None),
                Outcome::Unchanged => ("unchanged", None),
                Outcome::Skipped(reason) => ("skipped", Some(reason)),
            };
            Imported { path: file.path.to_string(), outcome, reason }
        };
        Ok(Output { files: files.iter().zip(outcomes).map(imported).collect(), warnings })
    }
}

/// Returns the files of a page. Checks their paths and their total length. No two files may have
/// the same path.
fn checked(files: Vec<File>) -> Result<Vec<ImportFile>, Error> {
    let bytes: usize = files.iter().map(|file| file.text.len()).sum();
    if bytes > MAX_BYTES && files.len() > 1 {
        let message = "the files have more than 2 MiB of text: import fewer of them in one call";
        let accepted = "files of at most 2 MiB in all, or one file".to_owned();
        return Err(Error::at(Code::InvalidInput, message, "files", accepted));
    }
    let mut paths = BTreeSet::new();
    let checked = files.into_iter().enumerate().map(|(number, File { path, text })| {
        let field = format!("files/{number}/path");
        let path = input::path(&path, &field)?;
        if !paths.insert(path.clone()) {
            let message = format!("the path `{path}` is there twice: each file needs its own");
            return Err(Error::at(Code::InvalidInput, message, &field, "another path".into()));
        }
        Ok(ImportFile { path, text })
    });
    checked.collect()
}
