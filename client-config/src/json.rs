//! Entries in JSON with comments.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstObject, CstRootNode};
use serde_json::Value;

/// Comments and trailing commas, which editors take in their settings; nothing looser.
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

fn parse(text: &str) -> Result<CstRootNode, String> {
    CstRootNode::parse(text, &options())
        .map_err(|error| format!("it is not JSON: {error}: mend it"))
}

fn top_level(root: &CstRootNode) -> Result<Option<CstObject>, String> {
    match (root.value(), root.object_value()) {
        (None, _) => Ok(None),
        (Some(_), Some(object)) => Ok(Some(object)),
        (Some(_), None) => Err("it holds no object: write `{}` into it".to_owned()),
    }
}

/// The servers, or none if there are none yet.
fn servers(top_level: &CstObject, key: &str) -> Result<Option<CstObject>, String> {
    let Some(property) = top_level.get(key) else { return Ok(None) };
    let servers = property.object_value();
    servers.map(Some).ok_or_else(|| format!("its `{key}` is no object: mend it"))
}

/// The entry of a name.
pub(crate) fn entry(text: &str, key: &str, name: &str) -> Result<Option<Value>, String> {
    let Some(top_level) = top_level(&parse(text)?)? else { return Ok(None) };
    let Some(servers) = servers(&top_level, key)? else { return Ok(None) };
    Ok(servers.get(name).map(|entry| entry.to_serde_value().unwrap_or_default()))
}

/// The text with an entry, which replaces one of the same name.
pub(crate) fn with(text: &str, key: &str, name: &str, entry: &Value) -> Result<String, String> {
    let text = if text.trim().is_empty() { "{}\n" } else { text };
    let root = parse(text)?;
    let top_level = match top_level(&root)? {
        Some(top_level) => top_level,
        // Comments alone.
        None => root.object_value_or_set(),
    };
    let servers = match servers(&top_level, key)? {
        Some(servers) => servers,
        None => top_level.append(key, CstInputValue::Object(Vec::new())).object_value_or_set(),
    };
    let entry = input(entry);
    match servers.get(name) {
        Some(before) => before.set_value(entry),
        None => drop(servers.append(name, entry)),
    }
    Ok(root.to_string())
}

/// The text without an entry.
pub(crate) fn without(text: &str, key: &str, name: &str) -> Result<String, String> {
    let root = parse(text)?;
    if let Some(top_level) = top_level(&root)?
        && let Some(servers) = servers(&top_level, key)?
        && let Some(entry) = servers.get(name)
    {
        entry.remove();
    }
    Ok(root.to_string())
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
