use schemars::JsonSchema;
use serde::Deserialize;

use super::change::change;
use super::error::Error;
use super::output::Output;
use super::path::{FilePath, MAX_PATH};
use super::text::{MAX_TEXT, check_lines, line_of, snippet, with_line_ends_of};
use super::tree::Files;
use crate::passage::passages;
use crate::storage::{Area, Change, Splice};
use crate::text::normalise_line_ends;
use crate::tool::{Call, Hints, Tool};

/// The maximum number of occurrences that are searched for, and listed in the error.
const MAX_OCCURRENCES: usize = 100;

pub(super) struct StrReplaceMemoryFile;

/// Replaces a text in a memory file, which has to occur once. Shows the lines around the change.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Replace text in a memory file")]
pub(super) struct Input {
    /// The file.
    #[schemars(length(max = MAX_PATH))]
    path: String,
    /// Exactly as in the file, with its spaces and line breaks, without line numbers.
    #[schemars(length(min = 1, max = MAX_TEXT))]
    old_str: String,
    /// Leave it out to delete the text.
    #[serde(default)]
    #[schemars(length(max = MAX_TEXT))]
    new_str: String,
}

impl Tool for StrReplaceMemoryFile {
    const NAME: &'static str = "str_replace_memory_file";
    const HINTS: Hints = Hints::OVERWRITES;
    type Input = Input;
    type Output = Output;
    type Error = Error;

    fn run(call: &Call<'_>, input: Input) -> Result<Output, Error> {
        let path = FilePath::parse(&input.path, "path")?;
        let old = normalise_line_ends(&input.old_str);
        let files = Files::open(call)?;
        change(&files, || {
            let before = files.text_to_edit(&path, Error::no_file_to_edit)?;
            let found = passages(&before.text, &old, MAX_OCCURRENCES);
            let range = match &found[..] {
                [] => return Err(Error::not_verbatim(&input.old_str, &path)),
                [only] => only.clone(),
                several => {
                    let lines = several.iter().map(|range| line_of(&before.text, range.start));
                    let mut lines: Vec<usize> = lines.collect();
                    lines.dedup();
                    return Err(Error::ambiguous(&input.old_str, &lines));
                }
            };
            let line = line_of(&before.text, range.start);
            let inserts = with_line_ends_of(&before.text, &input.new_str).into_bytes();
            let splices = vec![Splice { range, inserts }];
            let after = Splice::all_of_text(&splices, &before.text);
            check_lines(&path, &after)?;
            let change = Change::Edit {
                area: Area::Documents,
                path: files.at(&path)?,
                splices,
                expects: before.version,
            };
            let text = format!(
                "The memory file has been edited. Here is the snippet showing the change (with line \
                 numbers):\n{}",
                snippet(&after, line)
            );
            Ok((Output { text }, vec![change]))
        })
    }
}
