use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::Error;
use super::import::plan_import;
use super::input;
use super::store::Store;
use crate::names::StoreName;
use crate::tool::{Audience, Call, Hints, Tool};

pub(super) struct PlanImport;

/// Finds the memory that each Markdown file of a folder becomes, for `import_memories`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Plan an import")]
pub(super) struct Input {
    /// Name of the store.
    store: StoreName,
    /// Where the folder goes. Left out: the root.
    #[schemars(length(min = 1, max = 2100))]
    category: Option<String>,
    /// The paths of all files of the folder, relative to it, with `/` between their segments.
    #[schemars(length(max = 100_000))]
    files: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Output {
    /// By `path`, which is the nearest valid spelling of each file.
    memories: Vec<Planned>,
    /// Files that cannot be imported.
    skipped: Vec<Skipped>,
    /// The number of files that are not Markdown.
    others: usize,
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Planned {
    file: String,
    path: String,
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Skipped {
    file: String,
    reason: String,
}

impl Tool for PlanImport {
    const NAME: &'static str = "plan_import";
    const HINTS: Hints = Hints::READS;
    const AUDIENCE: Audience = Audience::Person;
    type Input = Input;
    type Output = Output;
    type Error = Error;

    fn run(call: &Call<'_>, input: Input) -> Result<Output, Error> {
        let category = input::category(input.category.as_deref())?;
        Store::open(call, &input.store)?;
        let plan = plan_import(&category, input.files);
        let memories = plan.memories.into_iter();
        let skipped = plan.skipped.into_iter();
        Ok(Output {
            memories: memories
                .map(|(file, path)| Planned { file, path: path.to_string() })
                .collect(),
            skipped: skipped.map(|(file, reason)| Skipped { file, reason }).collect(),
            others: plan.others,
        })
    }
}
