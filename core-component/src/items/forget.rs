//! Removing a text from the items, or an item.

use serde_json::{Map, Value};

use super::error::Error;
use super::item::Item;
use super::namespace::Below;
use super::reach::Reach;
use super::search::{id_of, owner, row_of_id};
use super::sqlite::Reader;
use super::transaction::{change_existing, read_view};
use crate::forget::{FREE_PAGES, Forgetting, Found, MAX_ROWS, Wanted, without};
use crate::tool::{Call, Checked, Forget};

pub(super) const FORGET: Forget = Forget { toolset: "items", run };

/// Looks through the items that the caller reaches. They belong to no agent.
fn run(call: &Call<'_>, forgetting: &mut Forgetting<'_>) -> Checked<()> {
    match forgetting.wanted {
        Wanted::Text(secret) => Ok(forget_text(call, secret, forgetting)?),
        Wanted::Record(id) => match row_of_id(id) {
            Some(row) => Ok(forget_item(call, row, forgetting)?),
            None => Ok(()),
        },
        Wanted::Row { .. } | Wanted::Document(_) => Ok(()),
    }
}

fn forget_item(call: &Call<'_>, row: i64, forgetting: &mut Forgetting<'_>) -> Result<(), Error> {
    let below = Reach::new(call.context).below(&[])?;
    let found = if forgetting.dry_run {
        read_view(call, |reader| reader.with_ids(&below, &[row]))?.pop()
    } else {
        let deleted = change_existing(call, |writer| {
            let item = writer.reader().with_ids(&below, &[row])?.pop();
            if let Some(Item { namespace, key, .. }) = &item {
                writer.delete(namespace, key)?;
            }
            Ok(item)
        });
        deleted?.flatten()
    };
    if found.is_none() {
        return Ok(());
    }
    forgetting.remains(FREE_PAGES);
    forgetting.add(Found::entry(owner(), id_of(row), None));
    Ok(())
}

fn forget_text(
    call: &Call<'_>,
    secret: &str,
    forgetting: &mut Forgetting<'_>,
) -> Result<(), Error> {
    let reach = Reach::new(call.context);
    let below = reach.below(&[])?;
    forgetting.remains(FREE_PAGES);
    let (found, has_more) = if forgetting.dry_run {
        read_view(call, |reader| with_text(reader, &below, secret))?
    } else {
        let changed = change_existing(call, |writer| {
            // What has expired is in no answer, but it may have the text.
            writer.remove_all_expired()?;
            let (found, has_more) = with_text(&writer.reader(), &below, secret)?;
            for item in &found {
                let (value, paths) =
                    (object_without(secret, &item.value), paths_without(secret, item));
                writer.rewrite(item.id, &value, paths.as_deref(), item.updated_at)?;
            }
            Ok((found, has_more))
        });
        changed?.unwrap_or_default()
    };
    for item in found {
        if is_addressed_by(secret, &item) {
            let delete = call.listed("items", "delete_item");
            let get = serde_json::json!(reach.seen(item.namespace.clone()));
            forgetting.leave(format!(
                "item `{}` of `{get}` has it in its namespace or key: put it elsewhere, and remove \
                 this one with `{delete}`",
                item.key
            ));
        }
        if has_text(secret, &item) {
            forgetting.add(Found::entry(owner(), id_of(item.id), None));
        }
    }
    if has_more {
        forgetting.leave("more items may have it: call again".to_owned());
    }
    Ok(())
}

/// The items that have a text, and whether there may be more.
fn with_text(reader: &Reader<'_>, below: &Below, secret: &str) -> Result<(Vec<Item>, bool), Error> {
    let texts = [secret.to_owned(), secret.replace('\n', "\r\n")];
    let ids = reader.with_texts(below, &texts, MAX_ROWS)?;
    let has_more = ids.len() == MAX_ROWS as usize;
    Ok((reader.with_ids(below, &ids)?, has_more))
}

/// Whether the value or the paths of an item have a text.
fn has_text(secret: &str, item: &Item) -> bool {
    object_without(secret, &item.value) != item.value || paths_without(secret, item) != item.paths
}

/// Whether the namespace or the key has it.
fn is_addressed_by(secret: &str, item: &Item) -> bool {
    item.namespace.iter().chain([&item.key]).any(|text| without(secret, text).is_some())
}

fn paths_without(secret: &str, item: &Item) -> Option<Vec<String>> {
    let paths = item.paths.as_ref()?;
    Some(paths.iter().map(|path| text_without(secret, path)).collect())
}

fn text_without(secret: &str, text: &str) -> String {
    without(secret, text).unwrap_or_else(|| text.to_owned())
}

/// An object with a mark in the place of a text, also in the names of fields.
fn object_without(secret: &str, object: &Map<String, Value>) -> Map<String, Value> {
    let field = |(name, value): (&String, &Value)| {
        (text_without(secret, name), value_without(secret, value))
    };
    object.iter().map(field).collect()
}

fn value_without(secret: &str, value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(text_without(secret, text)),
        Value::Array(items) => items.iter().map(|item| value_without(secret, item)).collect(),
        Value::Object(object) => Value::Object(object_without(secret, object)),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}
