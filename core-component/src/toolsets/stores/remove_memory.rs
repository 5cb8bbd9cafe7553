use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::Error;
use super::input;
use super::operations::remove_memory;
use super::store::Store;
use crate::names::StoreName;
use crate::tool::{Call, Hints, Tool};

pub(super) struct RemoveMemory;

/// Deletes a memory for good.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Remove a memory")]
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
    store: String,
    path: String,
    warnings: Vec<String>,
}

impl Tool for RemoveMemory {
    const NAME: &'static str = "remove_memory";
    const HINTS: Hints = Hints::OVERWRITES;
    type Input = Input;
    type Output = Output;
    type Error = Error;

    fn run(call: &Call<'_>, input: Input) -> Result<Output, Error> {
        let path = input::path(&input.path, "path")?;
        let store = Store::open(call, &input.store)?;
        let warnings = remove_memory(&store, &path)?;
        Ok(Output { store: store.name.to_owned(), path: path.to_string(), warnings })
    }
}
