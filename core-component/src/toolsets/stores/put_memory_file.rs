use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::Error;
use super::input;
use super::operations::{create_file, replace_file};
use super::store::Store;
use crate::names::StoreName;
use crate::tool::{Audience, Call, Hints, Tool};

pub(super) struct PutMemoryFile;

/// Writes the whole text of a memory's file: a new one, or one that was edited. A text without front
/// matter gets some, with the source `user`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Put the file of a memory")]
pub(super) struct Input {
    /// Name of the store. A missing one is created for a new memory.
    store: StoreName,
    /// `category/slug`.
    #[schemars(length(max = 2100))]
    path: String,
    /// Front matter and Markdown.
    #[schemars(regex(pattern = r"\S"))]
    text: String,
    /// What `get_memory_file` gave. Left out: there must be no memory.
    #[schemars(length(min = 1, max = 100))]
    version: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Output {
    store: String,
    path: String,
    warnings: Vec<String>,
}

impl Tool for PutMemoryFile {
    const NAME: &'static str = "put_memory_file";
    const HINTS: Hints = Hints::OVERWRITES;
    const AUDIENCE: Audience = Audience::Person;
    type Input = Input;
    type Output = Output;
    type Error = Error;

    fn run(call: &Call<'_>, input: Input) -> Result<Output, Error> {
        let path = input::path(&input.path, "path")?;
        let (store, warnings) = match &input.version {
            None => {
                let (store, mut warnings) = Store::open_or_create(call, &input.store)?;
                warnings.extend(create_file(&store, &path, &input.text)?);
                (store, warnings)
            }
            Some(version) => {
                let store = Store::open(call, &input.store)?;
                let warnings = replace_file(&store, &path, &input.text, version)?;
                (store, warnings)
            }
        };
        Ok(Output { store: store.name.to_owned(), path: path.to_string(), warnings })
    }
}
