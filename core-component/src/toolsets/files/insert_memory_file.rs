use schemars::JsonSchema;
use serde::Deserialize;

use super::change::change;
use super::error::Error;
use super::output::Output;
use super::path::{FilePath, MAX_PATH};
use super::text::{MAX_TEXT, check_lines, insertion};
use super::tree::Files;
use crate::storage::{Area, Change, Splice};
use crate::tool::{Call, Hints, Tool};

pub(super) struct InsertMemoryFile;

/// Inserts lines into a memory file.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Insert into a memory file")]
pub(super) struct Input {
    /// The file.
    #[schemars(length(max = MAX_PATH))]
    path: String,
    /// The number of the line after which the text goes; 0 is before the first line.
    insert_line: i64,
    /// One line or several.
    #[schemars(length(max = MAX_TEXT))]
    insert_text: String,
}

impl Tool for InsertMemoryFile {
    const NAME: &'static str = "insert_memory_file";
    const HINTS: Hints = Hints::ADDS;
    type Input = Input;
    type Output = Output;
    type Error = Error;

    fn run(call: &Call<'_>, input: Input) -> Result<Output, Error> {
        let path = FilePath::parse(&input.path, "path")?;
        let files = Files::open(call)?;
        change(&files, || {
            let before = files.text_to_edit(&path, Error::nothing_at)?;
            let splice = insertion(&before.text, input.insert_line, &input.insert_text)
                .map_err(|last| Error::invalid_line(input.insert_line, last))?;
            let splices = vec![splice];
            check_lines(&path, &Splice::all_of_text(&splices, &before.text))?;
            let change = Change::Edit {
                area: Area::Documents,
                path: files.at(&path)?,
                splices,
                expects: before.version,
            };
            Ok((Output { text: format!("The file {path} has been edited.") }, vec![change]))
        })
    }
}
