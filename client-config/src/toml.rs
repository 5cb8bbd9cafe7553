//! Entries in TOML. A new entry is added as a table at the end of the file, and removed as whole lines,
//! so that no other byte changes. Other changes, as in an inline table, are made by `toml_edit`. In both
//! cases the result is parsed again, to check that everything else is as before.

use crate::entry::has_only_our_fields;
use serde_json::{Map, Value};
use toml_edit::{Array, DocumentMut, Item, TableLike};

fn parse(text: &str) -> Result<DocumentMut, String> {
    text.parse::<DocumentMut>().map_err(|error| {
        let before = error.span().map(|span| &text[..span.start.min(text.len())]);
        let line = before.map(|before| format!(" in line {}", before.matches('\n').count() + 1));
        let message = error.message().lines().collect::<Vec<_>>().join(", ");
        format!("it is not TOML{}: {message}: mend it", line.unwrap_or_default())
    })
}

/// The table with the servers. `None` if the file has none yet.
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

/// The entry of the server with a name.
pub(crate) fn entry(text: &str, key: &str, name: &str) -> Result<Option<Value>, String> {
    let mut document = parse(text)?;
    let Some(servers) = servers(&mut document, key)? else { return Ok(None) };
    Ok(servers.get(name).map(value_of))
}

/// The text with these fields in the entry `name`. An existing entry keeps its other fields, but a field
/// that is null here is removed.
pub(crate) fn with(
    text: &str,
    key: &str,
    name: &str,
    fields: &Map<String, Value>,
) -> Result<String, String> {
    let mut document = parse(text)?;
    let before = servers(&mut document, key)?.and_then(|servers| servers.get(name).map(value_of));
    let is_there = before.is_some();
    // A missing entry, or one with only fields of this program, is written anew at the end of the file.
    if before.as_ref().is_none_or(has_only_our_fields) {
        let others = if is_there { cut(text, key, name) } else { text.to_owned() };
        let appended = appended(&others, key, name, fields);
        if is_but_for(&appended, text, key, name) && is_entry(&appended, key, name, fields) {
            return Ok(appended);
        }
    }
    let servers = servers(&mut document, key)?.ok_or("its servers are missing")?;
    if !is_there {
        servers.insert(name, Item::Value(toml_edit::InlineTable::new().into()));
    }
    let entry = servers.get_mut(name).and_then(Item::as_table_like_mut);
    let entry = entry.ok_or_else(|| format!("its `{name}` is no table: mend it"))?;
    for (name, value) in fields {
        match value {
            Value::Null => drop(entry.remove(name)),
            value if entry.get(name).map(value_of).as_ref() == Some(value) => {}
            value => match entry.get_mut(name) {
                Some(before) => replace(before, item(value)),
                None => drop(entry.insert(name, item(value))),
            },
        }
    }
    checked(document.to_string(), text, key, name)
}

/// Whether an entry has exactly these fields. Fields that are null are missing.
fn is_entry(text: &str, key: &str, name: &str, fields: &Map<String, Value>) -> bool {
    let given = fields.iter().filter(|(_, value)| !value.is_null());
    let given: Map<String, Value> =
        given.map(|(name, value)| (name.clone(), value.clone())).collect();
    entry(text, key, name) == Ok(Some(Value::Object(given)))
}

/// Replaces a value. The comment after it stays.
fn replace(before: &mut Item, mut after: Item) {
    if let (Some(before), Some(after)) = (before.as_value(), after.as_value_mut()) {
        *after.decor_mut() = before.decor().clone();
    }
    *before = after;
}

/// The text without an entry.
pub(crate) fn without(text: &str, key: &str, name: &str) -> Result<String, String> {
    let cut = cut(text, key, name);
    if is_but_for(&cut, text, key, name) && entry(&cut, key, name) == Ok(None) {
        return Ok(cut);
    }
    let mut document = parse(text)?;
    if let Some(servers) = servers(&mut document, key)? {
        servers.remove(name);
    }
    checked(document.to_string(), text, key, name)
}

/// The text with the entry as a table at its end.
fn appended(text: &str, key: &str, name: &str, fields: &Map<String, Value>) -> String {
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let mut appended = text.to_owned();
    if !text.is_empty() && !text.ends_with('\n') {
        appended += end;
    }
    if !text.trim().is_empty() {
        appended += end;
    }
    appended += &format!("[{key}.{name}]{end}");
    for (name, value) in fields.iter().filter(|(_, value)| !value.is_null()) {
        appended += &format!("{name} = {}{end}", item(value).to_string().trim());
    }
    appended
}

/// The text without the lines of the entry's table and its subtables, and without the blank line before
/// them. Comments after the last value stay: they belong to the next table.
fn cut(text: &str, key: &str, name: &str) -> String {
    let own = [key.to_owned(), name.to_owned()];
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut kept: Vec<&str> = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        if !header(lines[at]).is_some_and(|path| path.starts_with(&own)) {
            kept.push(lines[at]);
            at += 1;
            continue;
        }
        let after = lines[at + 1..].iter().position(|line| header(line).is_some());
        let next = after.map_or(lines.len(), |after| at + 1 + after);
        let is_value = |line: &&str| !matches!(line.trim().chars().next(), None | Some('#'));
        let values = lines[at..next].iter().rposition(is_value).unwrap_or(0);
        if kept.last().is_some_and(|line| line.trim().is_empty()) {
            kept.pop();
        }
        at += values + 1;
    }
    kept.concat()
}

/// The path in a line that is the header of a table. `None` if the line is no such header.
fn header(line: &str) -> Option<Vec<String>> {
    let line = line.trim();
    if !line.starts_with('[') || line.starts_with("[[") {
        // An element of an array of tables is never this program's entry.
        return line.starts_with("[[").then(Vec::new);
    }
    let inner = line.strip_prefix('[')?.split_once(']')?.0;
    let path = toml_edit::Key::parse(inner).ok()?;
    Some(path.iter().map(|key| key.get().to_owned()).collect())
}

/// Whether two texts have the same contents, except for one entry.
fn is_but_for(after: &str, before: &str, key: &str, name: &str) -> bool {
    let others = |text: &str| -> Result<Value, String> {
        let mut whole = value_of(parse(text)?.as_item());
        let empty = match whole.get_mut(key).and_then(Value::as_object_mut) {
            Some(servers) => {
                servers.remove(name);
                servers.is_empty()
            }
            None => false,
        };
        if empty && let Some(whole) = whole.as_object_mut() {
            whole.remove(key);
        }
        Ok(whole)
    };
    matches!((others(after), others(before)), (Ok(after), Ok(before)) if after == before)
}

fn checked(after: String, before: &str, key: &str, name: &str) -> Result<String, String> {
    // `toml_edit` ends each line with a line feed alone, and moves the parts of a scattered table
    // together. Its result is used only if it would print the unchanged file as it is.
    let ends = before.matches('\n').count();
    let returns = before.matches("\r\n").count();
    let has_returns = returns > 0 && returns == ends;
    let plain = if has_returns { before.replace("\r\n", "\n") } else { before.to_owned() };
    if parse(before)?.to_string() == plain && is_but_for(&after, before, key, name) {
        return Ok(if has_returns { after.replace('\n', "\r\n") } else { after });
    }
    Err(format!("`{key}` cannot be changed without a change of the rest: edit it by hand"))
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

/// A value as JSON, to compare it. A value of a type that JSON lacks, such as a date, becomes a string.
fn value_of(item: &Item) -> Value {
    if let Some(table) = item.as_table_like() {
        let fields = table.iter().map(|(name, item)| (name.to_owned(), value_of(item)));
        return Value::Object(fields.collect());
    }
    match item {
        Item::ArrayOfTables(tables) => {
            tables.iter().map(|table| value_of(&Item::Table(table.clone()))).collect()
        }
        Item::Value(toml_edit::Value::String(text)) => text.value().as_str().into(),
        Item::Value(toml_edit::Value::Boolean(value)) => (*value.value()).into(),
        Item::Value(toml_edit::Value::Integer(value)) => (*value.value()).into(),
        Item::Value(toml_edit::Value::Array(items)) => {
            items.iter().map(|item| value_of(&Item::Value(item.clone()))).collect()
        }
        other => other.to_string().trim().into(),
    }
}
