use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::Error;
use super::input;
use super::store::Store;
use crate::names::StoreName;
use crate::tool::{Audience, Call, Hints, Tool};

pub(super) struct GetMemoryFile;

/// Gets the whole text of a memory's file, with its front matter, for an editor.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Get the file of a memory")]
pub(super) struct Input {
    /// Name of the store.
    store: StoreName,
    /// `category/slug`.
    #[schemars(length(max = 2100))]
    path: String,
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Output {
    path: String,
    text: String,
    /// For `put_memory_file`.
    version: String,
}

impl Tool for GetMemoryFile {
    const NAME: &'static str = "get_memory_file";
    const HINTS: Hints = Hints::READS;
    const AUDIENCE: Audience = Audience::Person;
    type Input = Input;
    type Output = Output;
    type Error = Error;

    fn run(call: &Call<'_>, input: Input) -> Result<Output, Error> {
        let path = input::path(&input.path, "path")?;
        let store = Store::open(call, &input.store)?;
        let file =
            store.memory(&path)?.ok_or_else(|| store.with_others(Error::no_memory_at(&path)))?;
        Ok(Output { path: path.to_string(), text: file.text, version: file.version })
    }
}
