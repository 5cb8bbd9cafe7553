use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};

use super::database::{Reader, Writer};
use super::error::Error;
use super::item::{Item, MAX_RESULTS, Shown};
use super::ranked::Ranking;
use super::reach::Reach;
use super::scope::Scope;
use super::search_items::shown;
use super::transaction::{change, change_existing, read_view};
use super::{delete_item, get_item, list_namespaces, put_item, search_items};
use crate::tool::{Audience, Call, Hints, Tool};

pub(super) struct BatchItems;

/// Runs operations on items, for programs. What they read is as it was before the batch, with
/// `query` perhaps a moment earlier. Its changes are made in order, all or none. A `put` takes any
/// labels, also those that LangGraph keeps for itself.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Run a batch")]
pub(super) struct Input {
    /// Each has one of `put`, `delete`, `get`, `search` and `list`.
    #[schemars(length(min = 1, max = 1000))]
    operations: Vec<Operation>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Operation {
    /// As `put_item`.
    #[schemars(transform = without_title)]
    put: Option<put_item::Input>,
    /// As `delete_item`.
    #[schemars(transform = without_title)]
    delete: Option<delete_item::Input>,
    /// As `get_item`.
    #[schemars(transform = without_title)]
    get: Option<get_item::Input>,
    /// As `search_items`.
    #[schemars(transform = without_title)]
    search: Option<search_items::Input>,
    /// As `list_namespaces`.
    #[schemars(transform = without_title)]
    list: Option<list_namespaces::Input>,
    /// Items that `get` or `search` finds begin their time to live anew.
    #[serde(default)]
    refresh_ttl: bool,
}

/// Removes the title from the schema of a tool: a field has none.
fn without_title(schema: &mut Schema) {
    schema.remove("title");
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Output {
    // One for each operation, in order.
    results: Vec<OperationResult>,
}

// All fields are absent in the result of a `put` or `delete`.
#[derive(Default, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OperationResult {
    // The result of `get`. Absent if there is no such item.
    #[serde(skip_serializing_if = "Option::is_none")]
    item: Option<Shown>,
    // The result of `search`.
    #[serde(skip_serializing_if = "Option::is_none")]
    items: Option<Vec<Shown>>,
    // The result of `list`.
    #[serde(skip_serializing_if = "Option::is_none")]
    namespaces: Option<Vec<Vec<String>>>,
}

impl Tool for BatchItems {
    const NAME: &'static str = "batch_items";
    const HINTS: Hints = Hints::OVERWRITES;
    const AUDIENCE: Audience = Audience::Person;
    type Input = Input;
    type Output = Output;
    type Error = Error;

    fn run(call: &Call<'_>, input: Input) -> Result<Output, Error> {
        let reach = Reach::new(call.context);
        let mut batch = Batch { reach: &reach, prepared: Vec::new() };
        for (at, operation) in input.operations.iter().enumerate() {
            batch.prepare(call, at, operation)?;
        }
        let changes = batch.prepared.iter().any(|one| one.kind.changes());
        let results = if changes {
            change(call, &batch.scope(), |writer| {
                let (results, refreshed) = batch.read(&writer.reader())?;
                batch.write(writer)?;
                writer.refresh(&refreshed)?;
                Ok(results)
            })?
        } else {
            let (results, refreshed) = read_view(call, |reader| batch.read(reader))?;
            if !refreshed.is_empty() {
                change_existing(call, &batch.scope(), |writer| writer.refresh(&refreshed))?;
            }
            results
        };
        Ok(Output { results })
    }
}

/// The checked operations of a batch.
struct Batch<'a> {
    reach: &'a Reach<'a>,
    prepared: Vec<Prepared<'a>>,
}

struct Prepared<'a> {
    kind: Kind<'a>,
    refreshes: bool,
}

/// An operation, with the values that are computed before the transaction begins: the stored
/// namespace, or the ranking of a search.
enum Kind<'a> {
    Put(&'a put_item::Input, Vec<String>),
    Delete(&'a delete_item::Input, Vec<String>),
    Get(&'a get_item::Input, Vec<String>),
    Search(&'a search_items::Input, Option<Ranking>),
    List(&'a list_namespaces::Input),
}

impl Kind<'_> {
    fn changes(&self) -> bool {
        matches!(self, Self::Put(..) | Self::Delete(..))
    }

    /// The stored form of the only namespace that the operation uses. `None` if it may use several.
    fn namespace(&self) -> Option<&[String]> {
        match self {
            Self::Put(_, namespace) | Self::Delete(_, namespace) | Self::Get(_, namespace) => {
                Some(namespace)
            }
            Self::Search(..) | Self::List(_) => None,
        }
    }
}

impl<'a> Batch<'a> {
    /// Checks an operation, and ranks the items if it is a search with a query.
    fn prepare(
        &mut self,
        call: &Call<'_>,
        at: usize,
        operation: &'a Operation,
    ) -> Result<(), Error> {
        let Operation { put, delete, get, search, list, refresh_ttl } = operation;
        let reach = self.reach;
        let in_this = |kind: &'static str| move |error: Error| error.in_operation(at, kind);
        let kind = match (put, delete, get, search, list) {
            (Some(put), None, None, None, None) => {
                Kind::Put(put, put.checked(reach).map_err(in_this("put"))?)
            }
            (None, Some(delete), None, None, None) => {
                Kind::Delete(delete, delete.checked(reach).map_err(in_this("delete"))?)
            }
            (None, None, Some(get), None, None) => {
                Kind::Get(get, get.checked(reach).map_err(in_this("get"))?)
            }
            (None, None, None, Some(search), None) => {
                Kind::Search(search, search.ranking(call, reach).map_err(in_this("search"))?)
            }
            (None, None, None, None, Some(list)) => Kind::List(list),
            _ => return Err(Error::not_one_operation(at)),
        };
        self.prepared.push(Prepared { kind, refreshes: *refresh_ttl });
        Ok(())
    }

    /// The scope that the batch locks: one namespace, or everything.
    fn scope(&self) -> Scope {
        let namespaces = self.prepared.iter().map(|one| one.kind.namespace());
        namespaces.collect::<Option<Vec<_>>>().map_or(Scope::Everything, Scope::from_namespaces)
    }

    /// Returns the results of the operations. Also returns the ids of the items whose time to live
    /// begins anew.
    fn read(&self, reader: &Reader<'_>) -> Result<(Vec<OperationResult>, Vec<i64>), Error> {
        let mut results = Vec::new();
        let mut refreshed = Vec::new();
        let mut bytes = 0;
        for Prepared { kind, refreshes } in &self.prepared {
            let mut note = |item: &Item| {
                if *refreshes && item.expires_at.is_some() {
                    refreshed.push(item.id);
                }
            };
            let result = match kind {
                Kind::Put(..) | Kind::Delete(..) => OperationResult::default(),
                Kind::Get(get, namespace) => {
                    let item = get.get(namespace, reader)?;
                    item.iter().for_each(&mut note);
                    let item = item.map(|item| item.shown(self.reach));
                    OperationResult { item, ..OperationResult::default() }
                }
                Kind::Search(search, ranking) => {
                    let found = search.search(reader, self.reach, ranking.as_ref())?;
                    found.iter().for_each(|(item, _)| note(item));
                    let items = found.into_iter().map(|one| shown(one, self.reach)).collect();
                    OperationResult { items: Some(items), ..OperationResult::default() }
                }
                Kind::List(list) => {
                    let namespaces = Some(list.list(reader, self.reach)?.0);
                    OperationResult { namespaces, ..OperationResult::default() }
                }
            };
            bytes += serde_json::to_string(&result).map_or(0, |json| json.len());
            if bytes > MAX_RESULTS {
                return Err(Error::results_too_long(MAX_RESULTS));
            }
            results.push(result);
        }
        Ok((results, refreshed))
    }

    /// Makes the changes of the batch, in order.
    fn write(&self, writer: &mut Writer<'_>) -> Result<(), Error> {
        for Prepared { kind, .. } in &self.prepared {
            match kind {
                Kind::Put(put, namespace) => {
                    put.put(namespace, writer)?;
                }
                Kind::Delete(delete, namespace) => drop(delete.delete(namespace, writer)?),
                Kind::Get(..) | Kind::Search(..) | Kind::List(_) => {}
            }
        }
        Ok(())
    }
}
