use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::Error;
use super::operations::{Pruned, prune_memories};
use super::store::Store;
use crate::names::StoreName;
use crate::time::Timestamp;
use crate::tool::{Call, Hints, Tool};

pub(super) struct PruneMemories;

/// Deletes expired memories, looking at 500 files a call.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Prune expired memories")]
pub(super) struct Input {
    /// Name of the store.
    store: StoreName,
    /// Only say what would be deleted.
    #[serde(default)]
    dry_run: bool,
    /// From the last call, while it gives one.
    #[schemars(length(min = 1, max = 2100))]
    cursor: Option<String>,
}

#[derive(Default, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Output {
    #[serde(skip_serializing_if = "Option::is_none")]
    pruned_count: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pruned: Option<Vec<Expired>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dry_run: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    would_prune_count: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    would_prune: Option<Vec<Expired>>,
    /// Files that were not looked at yet.
    remaining: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<String>,
    warnings: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Expired {
    path: String,
    expires_at: Timestamp,
}

impl Tool for PruneMemories {
    const NAME: &'static str = "prune_memories";
    const HINTS: Hints = Hints::OVERWRITES;
    type Input = Input;
    type Output = Output;
    type Error = Error;

    fn run(call: &Call<'_>, input: Input) -> Result<Output, Error> {
        let store = Store::open(call, &input.store)?;
        let page = prune_memories(&store, input.cursor.as_deref(), input.dry_run)?;
        let expired =
            |Pruned { path, expires_at, .. }| Expired { path: path.to_string(), expires_at };
        let expired: Vec<_> = page.done.into_iter().map(expired).collect();
        let remaining = page.remaining;
        let cursor = page.cursor;
        let warnings = page.warnings;
        let output = Output { remaining, cursor, warnings, ..Output::default() };
        let count = Some(expired.len());
        Ok(if input.dry_run {
            Output {
                dry_run: Some(true),
                would_prune_count: count,
                would_prune: Some(expired),
                ..output
            }
        } else {
            Output { pruned_count: count, pruned: Some(expired), ..output }
        })
    }
}
