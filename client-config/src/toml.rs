//! Entries in TOML.

use serde_json::Value;
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TableLike};

fn parse(text: &str) -> Result<DocumentMut, String> {
    text.parse().map_err(|error| format!("it is not TOML: {error}: mend it"))
}

/// The servers, or none if there are none yet.
fn servers<'a>(
    document: &'a mut DocumentMut,
    key: &str,
) -> Result<Option<&'a mut dyn TableLike>, String> {
    match document.get_mut(key) {
        None => Ok(None),
        Some(item) => {
            let servers = item.as_table_like_mut().map(Some);
            servers.ok_or_else(|| format!("its `{key}` is no table: mend it"))
        }
    }
}

/// The entry of a name.
pub(crate) fn entry(text: &str, key: &str, name: &str) -> Result<Option<Value>, String> {
    let mut document = parse(text)?;
    let Some(servers) = servers(&mut document, key)? else { return Ok(None) };
    Ok(servers.get(name).map(value_of))
}

/// The text with an entry, which replaces one of the same name.
pub(crate) fn with(text: &str, key: &str, name: &str, entry: &Value) -> Result<String, String> {
    let mut document = parse(text)?;
    if servers(&mut document, key)?.is_none() {
        let mut table = Table::new();
        table.set_implicit(true);
        document.insert(key, Item::Table(table));
    }
    let is_inline = document.get(key).is_some_and(Item::is_inline_table);
    let servers = servers(&mut document, key)?.ok_or("its servers are missing")?;
    let fields = entry.as_object().into_iter().flatten();
    let fields = fields.map(|(name, value)| (name, item(value)));
    let item = if is_inline {
        let fields = fields.filter_map(|(name, item)| Some((name, item.into_value().ok()?)));
        toml_edit::value(InlineTable::from_iter(fields))
    } else {
        Item::Table(fields.collect())
    };
    servers.insert(name, item);
    Ok(with_line_ends_of(text, document.to_string()))
}

/// The text without an entry.
pub(crate) fn without(text: &str, key: &str, name: &str) -> Result<String, String> {
    let mut document = parse(text)?;
    if let Some(servers) = servers(&mut document, key)? {
        servers.remove(name);
    }
    Ok(with_line_ends_of(text, document.to_string()))
}

/// New lines end as those before, if these all end with a carriage return.
fn with_line_ends_of(before: &str, after: String) -> String {
    let ends = before.matches('\n').count();
    if ends == 0 || before.matches("\r\n").count() != ends {
        return after;
    }
    after.replace("\r\n", "\n").replace('\n', "\r\n")
}

fn item(value: &Value) -> Item {
    match value {
        Value::Bool(value) => toml_edit::value(*value),
        Value::Number(number) => toml_edit::value(number.as_i64().unwrap_or_default()),
        Value::String(text) => toml_edit::value(text),
        Value::Array(items) => {
            let items = items.iter().filter_map(Value::as_str);
            toml_edit::value(Array::from_iter(items))
        }
        Value::Null | Value::Object(_) => Item::None,
    }
}

/// A value as JSON, to compare it.
fn value_of(item: &Item) -> Value {
    match item {
        Item::Value(toml_edit::Value::String(text)) => text.value().as_str().into(),
        Item::Value(toml_edit::Value::Boolean(value)) => (*value.value()).into(),
        Item::Value(toml_edit::Value::Integer(value)) => (*value.value()).into(),
        Item::Value(toml_edit::Value::Array(items)) => {
            items.iter().map(|item| value_of(&Item::Value(item.clone()))).collect()
        }
        _ => match item.as_table_like() {
            Some(table) => {
                let fields = table.iter().map(|(name, item)| (name.to_owned(), value_of(item)));
                Value::Object(fields.collect())
            }
            None => Value::Null,
        },
    }
}
