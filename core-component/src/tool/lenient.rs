//! Repairs arguments as some clients send them: every optional argument as null, lists as JSON
//! text, or numbers as text. A value with only one possible meaning is rewritten before the check.

use serde_json::{Map, Value};

use super::check::{kind, properties, required, text_is_accepted};
use super::schema::{CLEARED_BY_NULL, TAKES_INTEGER};

/// Rewrites values that the schema does not accept and whose meaning is certain:
/// - null for a field that null clears becomes the empty text, and for another optional field it is
///   left out;
/// - the empty text for an optional field that does not accept it is left out;
/// - the JSON text of an array or object becomes that array or object;
/// - the text of an integer, and a number without a fraction (JSON Schema 2020-12, validation, 6.1.1),
///   become the integer;
/// - the text of a boolean, in any case, becomes the boolean;
/// - an integer becomes its text in a field that takes ids of all toolsets: ids of layers are integers;
/// - a date loses the space around it.
///
/// A text field keeps every text, even a text that looks like a number or a list.
pub(super) fn rewrite(schema: &Map<String, Value>, object: &mut Map<String, Value>) {
    let required: Vec<_> = required(schema).collect();
    for (name, property) in properties(schema) {
        let Some(property) = property.as_object() else { continue };
        let Some(value) = object.get_mut(name) else { continue };
        if value.is_null() && property.get(CLEARED_BY_NULL).is_some() {
            *value = Value::String(String::new());
        }
        if !required.contains(&name.as_str()) && is_left_out(property, value) {
            object.remove(name);
            continue;
        }
        rewrite_value(property, value);
    }
}

/// Whether this value of an optional field means that the field is left out.
fn is_left_out(schema: &Map<String, Value>, value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) if text.is_empty() => {
            kind(schema) != "string" || !text_is_accepted(schema, text)
        }
        _ => false,
    }
}

fn rewrite_value(schema: &Map<String, Value>, value: &mut Value) {
    let meant = match (kind(schema), &*value) {
        ("array", Value::String(text)) => serde_json::from_str(text).ok().filter(Value::is_array),
        ("object", Value::String(text)) => serde_json::from_str(text).ok().filter(Value::is_object),
        ("integer", Value::String(text)) => {
            serde_json::from_str(text.trim()).ok().and_then(|number| integer(&number))
        }
        ("integer", number) => integer(number),
        ("boolean", Value::String(text)) => boolean(text.trim()),
        ("string", Value::Number(_)) if schema.contains_key(TAKES_INTEGER) => {
            integer(value).map(|integer| integer.to_string().into())
        }
        // The only format in the schemas is `date`.
        ("string", Value::String(text)) if schema.contains_key("format") => {
            Some(text.trim().into())
        }
        _ => None,
    };
    if let Some(meant) = meant {
        *value = meant;
    }
    match value {
        Value::Array(items) => {
            let Some(item) = schema.get("items").and_then(Value::as_object) else { return };
            items.iter_mut().for_each(|value| rewrite_value(item, value));
        }
        Value::Object(object) => rewrite(schema, object),
        _ => {}
    }
}

/// 2^53 - 1: up to here a 64-bit float represents every integer exactly.
const LARGEST_EXACT: f64 = 9_007_199_254_740_991.0;

/// Returns a number as an integer. `None` if it has a fraction, is no number, or is too large for a
/// 64-bit float to be exact.
fn integer(number: &Value) -> Option<Value> {
    if number.is_i64() || number.is_u64() {
        return Some(number.clone());
    }
    let whole = number.as_f64().filter(|number| number.fract() == 0.0)?;
    (whole.abs() <= LARGEST_EXACT).then(|| (whole as i64).into())
}

fn boolean(text: &str) -> Option<Value> {
    let is = |word: &str| text.eq_ignore_ascii_case(word);
    (is("true") || is("false")).then(|| is("true").into())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::toolbox::describe;

    fn object(value: &Value) -> Map<String, Value> {
        value.as_object().expect("an object").clone()
    }

    fn rewritten(schema: &Value, arguments: Value) -> Value {
        let mut arguments = object(&arguments);
        rewrite(&object(schema), &mut arguments);
        Value::Object(arguments)
    }

    fn schema() -> Value {
        json!({"type": "object", "required": ["name"], "properties": {
            "name": {"type": "string", "minLength": 1},
            "text": {"type": "string", "maxLength": 9},
            "kind": {"type": "string", "enum": ["a", "b"]},
            "day": {"type": "string", "format": "date"},
            "cleared": {"type": "string", "pattern": r"^$|\S", "clearedByNull": true},
            "count": {"type": "integer", "minimum": 1},
            "id": {"type": "string", "takesInteger": true},
            "all": {"type": "boolean"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "files": {"type": "array", "items": {"type": "object", "required": ["size"],
                "properties": {"size": {"type": "integer"}, "path": {"type": "string"}}}},
        }})
    }

    #[test]
    fn null_and_an_empty_text_leave_an_optional_value_out() {
        let nothing = json!({"text": null, "kind": "", "day": "", "count": "", "all": null,
            "tags": "", "files": null});
        assert_eq!(rewritten(&schema(), nothing), json!({}));
        let kept = json!({"name": null, "text": "", "cleared": null, "unknown": null});
        let expected = json!({"name": null, "text": "", "cleared": "", "unknown": null});
        assert_eq!(rewritten(&schema(), kept), expected);
    }

    #[test]
    fn the_text_of_a_value_is_the_value_but_a_text_stays_a_text() {
        let texts = json!({"name": "5", "text": "[1]", "count": " 5.0", "all": "True",
            "day": " 2025-01-20\n",
            "tags": "[\"a\"]", "files": "[{\"size\": \"7\", \"path\": null}]"});
        let expected = json!({"name": "5", "text": "[1]", "count": 5, "all": true, "tags": ["a"],
            "day": "2025-01-20",
            "files": [{"size": 7}]});
        assert_eq!(rewritten(&schema(), texts), expected);
        let unclear = json!({"count": "5 or 6", "all": "yes", "tags": "a, b", "files": "{}"});
        assert_eq!(rewritten(&schema(), unclear.clone()), unclear);
    }

    #[test]
    fn a_number_without_a_fraction_is_an_integer_however_it_is_written() {
        let number = |text: &str| {
            let number = serde_json::from_str(text).expect("JSON");
            rewritten(&schema(), json!({ "count": Value::clone(&number) }))["count"].clone()
        };
        let id = |value: Value| rewritten(&schema(), json!({ "id": value }))["id"].clone();
        assert_eq!([json!(7), json!(7.0), json!("07")].map(id), ["7", "7", "07"].map(Value::from));
        assert_eq!([json!(1.5), json!(true)].map(id), [json!(1.5), json!(true)]);
        assert_eq!(["10.0", "1e1", "-0.0", "7"].map(number), [10, 10, 0, 7].map(Value::from));
        assert_eq!(["1.5", "1e300", "[]"].map(number), [json!(1.5), json!(1e300), json!([])]);
    }

    #[test]
    fn every_tool_takes_null_for_what_it_does_not_need_and_texts_for_values() {
        let described: Value = serde_json::from_str(&describe()).expect("JSON");
        let toolsets = described["toolsets"].as_array().expect("a list");
        for tool in toolsets.iter().flat_map(|of| of["tools"].as_array().expect("a list")) {
            let schema = object(&tool["inputSchema"]);
            let needed: Vec<_> = required(&schema).collect();
            for (name, property) in properties(&schema) {
                let of = |value: Value| rewritten(&tool["inputSchema"], json!({ name: value }));
                if !needed.contains(&name.as_str()) {
                    assert_eq!(of(Value::Null), json!({}), "{}: {name}", tool["name"]);
                }
                let (value, text) = match property["type"].as_str() {
                    Some("integer") => (json!(7), "7"),
                    Some("boolean") => (json!(true), "true"),
                    Some("array") => (json!([]), "[]"),
                    _ => continue,
                };
                assert_eq!(of(text.into()), json!({ name: value }), "{}: {name}", tool["name"]);
            }
        }
    }
}
