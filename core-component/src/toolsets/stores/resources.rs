//! The resources: a memory in the form of `get_memory`, and a category in the form of
//! `list_memories`.

use serde_json::{Value, json};

use super::error::Error;
use super::input::category;
use super::list_memories::DEFAULT_LIMIT;
use super::operations::list_memories;
use super::path::CategoryPath;
use super::store::Store;
use super::uri::SCHEME;
use super::{get_memory, input, list_memories as listing};
use crate::names::StoreName;
use crate::tool::Call;
use crate::toolset::{ReadResult, Resource, Resources};

pub(crate) const RESOURCES: Resources = Resources {
    list: &[],
    templates: &[Resource {
        uri: "stores://{store}/{+path}",
        name: "memory_of_store",
        title: "Memory or category of a store",
        description: "A memory with its metadata or, if the path is empty or ends in a slash, the list \
                      of a category, as JSON.",
    }],
    read,
};

/// Reads a resource. `None` for a URI that this toolset does not have.
fn read(call: &Call<'_>, uri: &str) -> Option<ReadResult> {
    let (store, path) = uri.strip_prefix(SCHEME)?.split_once('/')?;
    let store = StoreName::parse(store)?;
    Some(contents(call, &store, path).map_err(Into::into))
}

fn contents(call: &Call<'_>, store: &StoreName, path: &str) -> Result<Value, Error> {
    let category = match path {
        "" => Some(CategoryPath::ROOT),
        text => text.strip_suffix('/').map(|text| category(Some(text))).transpose()?,
    };
    let Some(category) = category else {
        let path = input::path(path, "path")?;
        return Ok(json!(get_memory::output(
            &Store::open(call, store)?,
            &path,
            false,
            0,
            usize::MAX
        )?));
    };
    let store = Store::open(call, store)?;
    let list = list_memories(&store, &category, false, false, DEFAULT_LIMIT as usize, None)?;
    Ok(json!(listing::output(&store, &category, list)?))
}
