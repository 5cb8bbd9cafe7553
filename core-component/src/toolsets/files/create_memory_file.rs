use schemars::JsonSchema;
use serde::Deserialize;

use super::change::change;
use super::error::Error;
use super::output::Output;
use super::path::{FilePath, MAX_PATH};
use super::text::{MAX_TEXT, check_lines};
use super::tree::{Files, Found};
use crate::storage::{Area, Change};
use crate::tool::{Call, Hints, Tool};

pub(super) struct CreateMemoryFile;

/// Creates a memory file, with the directories on the way to it. Overwrites nothing.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Create a memory file")]
pub(super) struct Input {
    /// Its path below `/memories`.
    #[schemars(length(max = MAX_PATH))]
    path: String,
    /// The whole text, kept byte for byte.
    #[schemars(length(max = MAX_TEXT))]
    file_text: String,
}

impl Tool for CreateMemoryFile {
    const NAME: &'static str = "create_memory_file";
    const HINTS: Hints = Hints::ADDS;
    const IS_ALWAYS_VISIBLE: bool = true;
    type Input = Input;
    type Output = Output;
    type Error = Error;

    fn run(call: &Call<'_>, input: Input) -> Result<Output, Error> {
        let path = FilePath::parse(&input.path, "path")?;
        check_lines(&path, &input.file_text)?;
        let files = Files::open(call)?;
        change(&files, || {
            match files.find(&path)? {
                Found::Nothing => files.check_new_file(&path, "path")?,
                Found::BelowFile(file) => return Err(Error::below_a_file(&path, &file, "path")),
                _ => return Err(Error::path_taken(&path)),
            }
            let change = Change::Put {
                area: Area::Documents,
                path: files.at(&path)?,
                contents: input.file_text.clone().into_bytes(),
                expects: None,
            };
            let text = format!("File created successfully at: {path}");
            Ok((Output { text }, vec![change]))
        })
    }
}
