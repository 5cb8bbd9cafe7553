//! Completes the arguments of the resource template: names of stores, and the paths in a store, one
//! level at a time.

use super::error::Error;
use super::path::CategoryPath;
use super::store::{Store, names};
use super::walk::contents;
use crate::names::StoreName;
use crate::prompt::Partial;
use crate::tool::{Call, Checked};

pub(super) fn complete(call: &Call<'_>, partial: &Partial<'_>) -> Checked<Vec<String>> {
    let values = match partial.argument {
        "store" => names(call),
        _ => paths(call, partial),
    };
    values.map_err(Into::into)
}

/// Returns the memories and subcategories of the category that the partial value names. Categories
/// end with a slash.
fn paths(call: &Call<'_>, partial: &Partial<'_>) -> Result<Vec<String>, Error> {
    let store = partial.others.get("store").and_then(|name| StoreName::parse(name));
    let Some(store) = store else { return Ok(Vec::new()) };
    let category = match partial.value.rsplit_once('/') {
        Some((category, _)) => CategoryPath::parse(category).ok(),
        None => Some(CategoryPath::ROOT),
    };
    let Some(category) = category else { return Ok(Vec::new()) };
    let contents = contents(&Store::open(call, &store)?, &category)?;
    let memories = contents.memories.iter().map(|found| found.path.to_string());
    let categories = contents.subcategories.iter().map(|found| format!("{}/", found.path));
    let mut paths: Vec<String> = memories.chain(categories).collect();
    paths.sort();
    Ok(paths)
}
