use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::Error;
use super::input::path;
use super::operations::move_memory;
use super::store::Store;
use crate::names::StoreName;
use crate::tool::{Call, Hints, Tool};

pub(super) struct MoveMemory;

/// Moves or renames a memory within its store. It keeps its dates and metadata.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Move a memory")]
pub(super) struct Input {
    /// Name of the store.
    store: StoreName,
    /// `category/slug`.
    #[schemars(length(max = 2100))]
    from_path: String,
    /// A path where no memory is.
    #[schemars(length(max = 2100))]
    to_path: String,
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Output {
    store: String,
    /// The new path.
    path: String,
    warnings: Vec<String>,
}

impl Tool for MoveMemory {
    const NAME: &'static str = "move_memory";
    const HINTS: Hints = Hints::OVERWRITES;
    type Input = Input;
    type Output = Output;
    type Error = Error;

    fn run(call: &Call<'_>, input: Input) -> Result<Output, Error> {
        let from = path(&input.from_path, "from_path")?;
        let to = path(&input.to_path, "to_path")?;
        let store = Store::open(call, &input.store)?;
        let warnings = move_memory(&store, &from, &to)?;
        Ok(Output { store: store.name.to_owned(), path: to.to_string(), warnings })
    }
}
