//! Removes a text from all items, or removes one item, for `forget_memory`.

use serde_json::{Map, Value};

use super::database::Reader;
use super::error::Error;
use super::item::Item;
use super::reach::Reach;
use super::scope::Scope;
use super::search::{id_of, owner, row_of_id};
use super::transaction::{change_existing, read_view};
use crate::forget::{FREE_PAGES, Forgetting, Found, MAX_ROWS, Wanted, without};
use crate::tool::{Call, Checked, Forget};

/// The maximum number of items that are read at once.
const PAGE: u32 = 100;

pub(super) const FORGET: Forget = Forget { toolset: "items", run };

/// Removes the wanted text or item from the items that the caller may use. Items belong to no
/// agent.
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
    let Some(found) = read_view(call, |reader| reader.with_ids(&below, &[row]))?.pop() else {
        return Ok(());
    };
    if !forgetting.dry_run {
        let deleted = change_existing(call, &Scope::from_namespace(&found.namespace), |writer| {
            // Reads the item again, because another call may have deleted it. An id always keeps
            // its namespace and key.
            let Some(item) = writer.reader().with_ids(&below, &[row])?.pop() else {
                return Ok(false);
            };
            writer.delete(&item.namespace, &item.key)
        })?;
        if deleted != Some(true) {
            return Ok(());
        }
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
    let search = Search { reach: &Reach::new(call.context), secret };
    forgetting.remains(FREE_PAGES);
    let having = if forgetting.dry_run {
        read_view(call, |reader| search.each(reader, |_, _, _| Ok(())))?
    } else {
        let changed = change_existing(call, &Scope::Everything, |writer| {
            // Expired rows may have the text, too. They are in no answer, so all are removed.
            writer.remove_all_expired()?;
            search.each(&writer.reader(), |item, value, paths| {
                writer.rewrite(item.id, value, paths, item.updated_at)
            })
        });
        changed?.unwrap_or_default()
    };
    if having.has_more {
        forgetting.leave("more items may have it: call again".to_owned());
    }
    if let Some(message) = search.left_at(call, &having) {
        forgetting.leave(message);
    }
    for id in having.changed {
        forgetting.add(Found::entry(owner(), id_of(id), None));
    }
    Ok(())
}

/// The result of a search for a text in the items.
#[derive(Default)]
struct Having {
    /// The ids of the items that have the text in their value or paths, at most [`MAX_ROWS`].
    changed: Vec<i64>,
    /// Whether further items have the text in their value or paths.
    has_more: bool,
    /// How many items have the text in their namespace or key, and the first such item.
    addressed: u64,
    first_addressed: Option<Item>,
}

/// A search for a text in the items that the caller may use.
struct Search<'a> {
    reach: &'a Reach<'a>,
    secret: &'a str,
}

impl Search<'_> {
    /// Calls `change` with each item that has the text in its value or paths. The other arguments
    /// are the value and the paths after the text was removed.
    fn each(
        &self,
        reader: &Reader<'_>,
        mut change: impl FnMut(&Item, &Map<String, Value>, Option<&[String]>) -> Result<(), Error>,
    ) -> Result<Having, Error> {
        let Self { reach, secret } = self;
        let below = reach.below(&[])?;
        let texts = [(*secret).to_owned(), secret.replace('\n', "\r\n")];
        let mut having = Having::default();
        let mut last = i64::MIN;
        loop {
            let ids = reader.with_texts(&below, &texts, last, PAGE)?;
            for item in reader.with_ids(&below, &ids)? {
                let value = object_without(secret, &item.value);
                let paths = paths_without(secret, &item);
                if value != item.value || paths != item.paths {
                    if having.changed.len() == MAX_ROWS as usize {
                        having.has_more = true;
                        return Ok(having);
                    }
                    change(&item, &value, paths.as_deref())?;
                    having.changed.push(item.id);
                }
                if self.is_in_address_of(&item) {
                    having.addressed += 1;
                    having.first_addressed.get_or_insert(item);
                }
            }
            match ids.last() {
                Some(id) if ids.len() == PAGE as usize => last = *id,
                _ => return Ok(having),
            }
        }
    }

    /// Whether the text is in the namespace, as the caller sees it, or in the key.
    fn is_in_address_of(&self, item: &Item) -> bool {
        let namespace = self.reach.seen(item.namespace.clone());
        namespace.iter().chain([&item.key]).any(|text| without(self.secret, text).is_some())
    }

    /// Returns the message about items that still have the text in their namespace or key. `None`
    /// if no item has.
    fn left_at(&self, call: &Call<'_>, having: &Having) -> Option<String> {
        let item = having.first_addressed.as_ref()?;
        let namespace = serde_json::json!(self.reach.seen(item.namespace.clone()));
        let delete = call.listed("items", "delete_item");
        let key = &item.key;
        Some(match having.addressed {
            1 => format!(
                "item `{key}` of `{namespace}` has it in its namespace or key: put it elsewhere, and \
                 remove this one with `{delete}`"
            ),
            number => format!(
                "{number} items have it in their namespace or key, such as `{key}` of `{namespace}`: \
                 put them elsewhere, and remove these with `{delete}`"
            ),
        })
    }
}

fn paths_without(secret: &str, item: &Item) -> Option<Vec<String>> {
    let paths = item.paths.as_ref()?;
    Some(paths.iter().map(|path| text_without(secret, path)).collect())
}

fn text_without(secret: &str, text: &str) -> String {
    without(secret, text).unwrap_or_else(|| text.to_owned())
}

/// Returns an object with a mark in place of the text, in field names, too. If two fields would get
/// the same name, they are numbered, so that no field is lost.
fn object_without(secret: &str, object: &Map<String, Value>) -> Map<String, Value> {
    let mut without_it = Map::new();
    for (name, value) in object {
        let mut field = text_without(secret, name);
        if field != *name {
            let is_taken =
                |field: &String| without_it.contains_key(field) || object.contains_key(field);
            let numbered = (2..).map(|number| format!("{field} {number}"));
            let mut names = [field.clone()].into_iter().chain(numbered);
            field = names.find(|name| !is_taken(name)).expect("there are more names than fields");
        }
        without_it.insert(field, value_without(secret, value));
    }
    without_it
}

/// Returns a value with a mark in place of the text. A number whose JSON has the text becomes a
/// text.
fn value_without(secret: &str, value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(text_without(secret, text)),
        Value::Number(number) => {
            without(secret, &number.to_string()).map_or_else(|| value.clone(), Value::String)
        }
        Value::Array(items) => items.iter().map(|item| value_without(secret, item)).collect(),
        Value::Object(object) => Value::Object(object_without(secret, object)),
        Value::Null | Value::Bool(_) => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn no_field_without_a_text_takes_the_place_of_another() {
        let value = json!({
            "key x": 1, "(removed) 2": 2, "key y": 3, "x": 4, "y": 5, "(removed)": 6,
        });
        let value = value.as_object().expect("an object");
        let once = object_without("x", value);
        let expected = json!({
            "key (removed)": 1, "(removed) 2": 2, "key y": 3, "(removed) 3": 4, "y": 5,
            "(removed)": 6,
        });
        assert_eq!(Value::Object(once), expected);
    }

    #[test]
    fn a_number_that_has_a_text_becomes_a_text() {
        let of = |value: Value| value_without("123456789", &value);
        assert_eq!(of(json!({"ssn": 123_456_789})), json!({"ssn": "(removed)"}));
        assert_eq!(of(json!([1_234_567_890, 12_345.5])), json!(["(removed)0", 12_345.5]));
    }
}
