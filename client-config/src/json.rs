//! Entries in JSON with comments.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstObject, CstObjectProp, CstRootNode};
use serde_json::{Map, Value};

/// Accepts comments and trailing commas, as editors do in their settings, and no other extensions.
fn options() -> ParseOptions {
    ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        ..ParseOptions::default()
    }
}

pub(crate) fn parse(text: &str) -> Result<CstRootNode, String> {
    CstRootNode::parse(text, &options())
        .map_err(|error| format!("it is not JSON: {error}: mend it"))
}

pub(crate) fn top_level(root: &CstRootNode) -> Result<Option<CstObject>, String> {
    match (root.value(), root.object_value()) {
        (None, _) => Ok(None),
        (Some(_), Some(object)) => Ok(Some(object)),
        (Some(_), None) => Err("it holds no object: write `{}` into it".to_owned()),
    }
}

/// The property `name`. A second one of this name is an error: programs read the last, but people see
/// the first.
pub(crate) fn only(object: &CstObject, name: &str) -> Result<Option<CstObjectProp>, String> {
    let is_it = |property: &CstObjectProp| property.decoded_name().as_deref() == Some(name);
    let mut found = object.properties().into_iter().filter(is_it);
    match (found.next(), found.next()) {
        (_, Some(_)) => Err(format!("it has `{name}` twice: remove one of them")),
        (found, None) => Ok(found),
    }
}

/// The object with the servers. `None` if the file has none yet.
fn servers(top_level: &CstObject, key: &str) -> Result<Option<CstObject>, String> {
    let Some(property) = only(top_level, key)? else { return Ok(None) };
    let servers = property.object_value();
    servers.map(Some).ok_or_else(|| format!("its `{key}` is no object: mend it"))
}

/// The entry of the server with a name.
pub(crate) fn entry(text: &str, key: &str, name: &str) -> Result<Option<Value>, String> {
    let Some(top_level) = top_level(&parse(text)?)? else { return Ok(None) };
    let Some(servers) = servers(&top_level, key)? else { return Ok(None) };
    let entry = only(&servers, name)?;
    Ok(entry.map(|entry| entry.to_serde_value().unwrap_or_default()))
}

/// The text with these fields in the entry `name`. An existing entry keeps its other fields, but a field
/// that is null here is removed.
pub(crate) fn with(
    text: &str,
    key: &str,
    name: &str,
    fields: &Map<String, Value>,
) -> Result<String, String> {
    let text = if text.trim().is_empty() { "{}\n" } else { text };
    let root = parse(text)?;
    let top_level = match top_level(&root)? {
        Some(top_level) => top_level,
        // The text has only comments.
        None => root.object_value_or_set(),
    };
    let servers = match servers(&top_level, key)? {
        Some(servers) => servers,
        None => top_level.append(key, CstInputValue::Object(Vec::new())).object_value_or_set(),
    };
    match only(&servers, name)? {
        Some(before) => match before.object_value() {
            Some(before) => merge(&before, fields)?,
            None => before.set_value(entry_of(fields)),
        },
        None => drop(servers.append(name, entry_of(fields))),
    }
    Ok(root.to_string())
}

pub(crate) fn merge(entry: &CstObject, fields: &Map<String, Value>) -> Result<(), String> {
    for (name, value) in fields {
        match (only(entry, name)?, value) {
            (Some(before), Value::Null) => before.remove(),
            (Some(before), value) if before.to_serde_value().as_ref() == Some(value) => {}
            (Some(before), value) => before.set_value(input(value)),
            (None, Value::Null) => {}
            (None, value) => drop(entry.append(name, input(value))),
        }
    }
    Ok(())
}

/// The text without an entry.
pub(crate) fn without(text: &str, key: &str, name: &str) -> Result<String, String> {
    let root = parse(text)?;
    if let Some(top_level) = top_level(&root)?
        && let Some(servers) = servers(&top_level, key)?
        && let Some(entry) = only(&servers, name)?
    {
        entry.remove();
    }
    Ok(root.to_string())
}

pub(crate) fn entry_of(fields: &Map<String, Value>) -> CstInputValue {
    let given = fields.iter().filter(|(_, value)| !value.is_null());
    CstInputValue::Object(given.map(|(name, value)| (name.clone(), input(value))).collect())
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(fields) => {
            let fields = fields.iter().map(|(name, value)| (name.clone(), input(value)));
            CstInputValue::Object(fields.collect())
        }
    }
}
