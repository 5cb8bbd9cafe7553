//! The part of `resume_memory` that comes from the items: the items that were changed last.

use serde_json::Map;

use super::error::Error;
use super::filter::Filter;
use super::reach::Reach;
use super::search::owner;
use super::transaction::read_view;
use crate::resume::{Item, Part, Parts};
use crate::text::{excerpt, lines};
use crate::tool::{Call, Checked, Resume};

/// The maximum number of items that are read.
const MOST: usize = 20;

pub(super) const RESUME: Resume = Resume { toolset: "items", first_tool: "put_item", collect };

fn collect(call: &Call<'_>, parts: &mut Parts<'_>) -> Checked<()> {
    Ok(add(call, parts)?)
}

fn add(call: &Call<'_>, parts: &mut Parts<'_>) -> Result<(), Error> {
    let reach = Reach::new(call.context);
    let below = reach.below(&[])?;
    let conditions = Map::new();
    let filter = Filter::new(&conditions)?;
    let (items, count) = read_view(call, |reader| {
        Ok((reader.newest(&below, &filter, 0, MOST)?, reader.count(&below)?))
    })?;
    let line = |item: super::item::Item| {
        let namespace = reach.seen(item.namespace.clone()).join("/");
        let text = item.text();
        let text: Vec<&str> = lines(&text).map(|(_, line)| line.trim()).collect();
        format!("`{namespace}` `{}`: {}", item.key, excerpt(&text.join("; ")))
    };
    parts.add(Part {
        title: "Items".to_owned(),
        owner: owner(),
        items: items.into_iter().map(line).map(Item::from).collect(),
        total: count,
        read: call.listed("items", "search_items"),
        ..Part::default()
    });
    Ok(())
}
