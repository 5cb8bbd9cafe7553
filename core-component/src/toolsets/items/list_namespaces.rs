use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::database::Reader;
use super::error::Error;
use super::namespace::{MAX_LABEL, MAX_LABELS, has_prefix, has_suffix};
use super::reach::Reach;
use super::transaction::read_view;
use crate::answer::cut_list;
use crate::tool::{Call, Hints, Tool};

pub(super) struct ListNamespaces;

/// Lists the namespaces that have items.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "List namespaces")]
pub(super) struct Input {
    /// Only namespaces that begin with these labels; `*` is any label.
    #[serde(default)]
    #[schemars(length(max = MAX_LABELS), inner(length(min = 1, max = MAX_LABEL)))]
    prefix: Vec<String>,
    /// Only namespaces that end with these labels; `*` is any label.
    #[serde(default)]
    #[schemars(length(max = MAX_LABELS), inner(length(min = 1, max = MAX_LABEL)))]
    suffix: Vec<String>,
    /// The most labels of a namespace; longer ones are cut.
    #[schemars(range(min = 1, max = 100))]
    max_depth: Option<u32>,
    /// How many at most.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 10_000))]
    limit: u32,
    /// How many to skip.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1_000_000))]
    offset: u32,
}

fn default_limit() -> u32 {
    100
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Output {
    namespaces: Vec<Vec<String>>,
    // How to get the next page, if there are more namespaces.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

impl Input {
    /// Returns all namespaces that match the input, in the order of their labels.
    fn all(&self, reader: &Reader<'_>, reach: &Reach<'_>) -> Result<BTreeSet<Vec<String>>, Error> {
        let mut found = BTreeSet::new();
        for stored in reader.namespaces(&reach.below(&[])?)? {
            let mut labels = reach.seen(stored);
            if has_prefix(&labels, &self.prefix) && has_suffix(&labels, &self.suffix) {
                labels.truncate(self.max_depth.map_or(usize::MAX, |most| most as usize));
                found.insert(labels);
            }
        }
        Ok(found)
    }

    /// Returns the namespaces of the page, and how many namespaces follow the page.
    pub fn list(
        &self,
        reader: &Reader<'_>,
        reach: &Reach<'_>,
    ) -> Result<(Vec<Vec<String>>, usize), Error> {
        let all = self.all(reader, reach)?;
        let [offset, limit] = [self.offset as usize, self.limit as usize];
        let follow = all.len().saturating_sub(offset.saturating_add(limit));
        Ok((all.into_iter().skip(offset).take(limit).collect(), follow))
    }
}

impl Tool for ListNamespaces {
    const NAME: &'static str = "list_namespaces";
    const HINTS: Hints = Hints::READS;
    type Input = Input;
    type Output = Output;
    type Error = Error;

    fn run(call: &Call<'_>, input: Input) -> Result<Output, Error> {
        let reach = Reach::new(call.context);
        let (mut namespaces, follow) = read_view(call, |reader| input.list(reader, &reach))?;
        let more = follow + cut_list(&mut namespaces);
        let next = input.offset as usize + namespaces.len();
        let note = (more > 0).then(|| format!("{more} more follow: go on with `offset` {next}"));
        Ok(Output { namespaces, note })
    }
}
