use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::Error;
use super::operations::reindex;
use super::store::Store;
use crate::names::StoreName;
use crate::tool::{Call, Hints, Tool};

pub(super) struct ReindexStore;

/// Rebuilds the category indexes from the files, 500 a call. Use it after files were changed by hand.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Reindex a store")]
pub(super) struct Input {
    /// Name of the store.
    store: StoreName,
    /// From the last call, while it gives one.
    #[schemars(length(min = 1, max = 2100))]
    cursor: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Output {
    store: String,
    /// The directory of the store.
    path: String,
    /// Files that were not looked at yet.
    remaining: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<String>,
    warnings: Vec<String>,
}

impl Tool for ReindexStore {
    const NAME: &'static str = "reindex_store";
    const HINTS: Hints = Hints::CREATES;
    type Input = Input;
    type Output = Output;
    type Error = Error;

    fn run(call: &Call<'_>, input: Input) -> Result<Output, Error> {
        let store = Store::open(call, &input.store)?;
        let page = reindex(&store, input.cursor.as_deref())?;
        Ok(Output {
            store: store.name.to_owned(),
            path: store.location(),
            remaining: page.remaining,
            cursor: page.cursor,
            warnings: page.warnings,
        })
    }
}
