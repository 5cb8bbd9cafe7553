//! A checker for the part of JSON Schema 2020-12 that this repository's own schemas use. It refuses
//! a schema with a keyword that it does not know, so that nothing passes unchecked.

use serde_json::{Map, Value};

use crate::places::is_uuid_4;

/// The pattern of a UUID of version 4.
const UUID_4: &str = "^[a-f0-9]{8}-[a-f0-9]{4}-4[a-f0-9]{3}-[89ab][a-f0-9]{3}-[a-f0-9]{12}$";

/// What is wrong with a value, each as `pointer: what`. `root` is where `$ref`s begin.
///
/// # Panics
///
/// Where the schema uses a keyword that is not known here.
pub fn violations(root: &Value, schema: &Value, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    check(root, schema, value, "", &mut found);
    found
}

fn check(root: &Value, schema: &Value, value: &Value, at: &str, found: &mut Vec<String>) {
    let Value::Object(keywords) = schema else {
        assert_eq!(schema, &Value::Bool(true), "a schema is an object or true");
        return;
    };
    for (keyword, argument) in keywords {
        let wrong = check_keyword(root, keywords, keyword, argument, value, at, found);
        found.extend(wrong.map(|wrong| format!("{at}: {wrong}")));
    }
}

fn check_keyword(
    root: &Value,
    schema: &Map<String, Value>,
    keyword: &str,
    argument: &Value,
    value: &Value,
    at: &str,
    found: &mut Vec<String>,
) -> Option<String> {
    let not = |sound: bool| (!sound).then(|| format!("not `{keyword}` {argument}: {value}"));
    let length = value.as_str().map(|text| text.chars().count() as u64);
    let least = argument.as_u64();
    match keyword {
        "$schema" | "$defs" | "title" | "description" | "examples" | "default" => None,
        "type" => not(is_of(value, argument.as_str()?)),
        "enum" => not(argument.as_array()?.contains(value)),
        "const" => not(argument == value),
        "minLength" => not(length? >= least?),
        "maxLength" => not(length? <= least?),
        "minimum" => not(value.as_f64()? >= argument.as_f64()?),
        "maximum" => not(value.as_f64()? <= argument.as_f64()?),
        "minItems" => not(value.as_array()?.len() as u64 >= least?),
        "maxItems" => not(value.as_array()?.len() as u64 <= least?),
        // Decided by the core in a function of its own; here it only must be one of these.
        "pattern" => match argument.as_str()? {
            r"\S" => not(!value.as_str()?.trim().is_empty()),
            r"^$|\S" => not(value == "" || !value.as_str()?.trim().is_empty()),
            r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$" => not(is_name(value.as_str()?)),
            UUID_4 => not(is_uuid_4(value.as_str()?)),
            unknown => panic!("a pattern that is not known here: `{unknown}`"),
        },
        "format" => {
            assert_eq!(argument, "date", "a format that is not known here");
            not(value.as_str()?.len() == 10)
        }
        "$ref" => {
            let pointer = argument.as_str()?.strip_prefix('#').expect("references are local");
            check(root, root.pointer(pointer).expect("it refers to something"), value, at, found);
            None
        }
        "oneOf" | "anyOf" => {
            let fits = |schema: &&Value| violations(root, schema, value).is_empty();
            let count = argument.as_array()?.iter().filter(fits).count();
            not(if keyword == "oneOf" { count == 1 } else { count > 0 })
        }
        "allOf" => {
            for schema in argument.as_array()? {
                check(root, schema, value, at, found);
            }
            None
        }
        "required" => {
            let object = value.as_object()?;
            let absent = |name: &&Value| !object.contains_key(name.as_str().unwrap_or_default());
            argument.as_array()?.iter().find(absent).map(|name| format!("{name} is missing"))
        }
        "items" => {
            for (index, item) in value.as_array()?.iter().enumerate() {
                check(root, argument, item, &format!("{at}/{index}"), found);
            }
            None
        }
        "properties" => {
            for (name, property) in argument.as_object()? {
                if let Some(value) = value.get(name) {
                    check(root, property, value, &format!("{at}/{name}"), found);
                }
            }
            None
        }
        "additionalProperties" => {
            let named = schema.get("properties").and_then(Value::as_object);
            for (name, value) in value.as_object()? {
                let at = format!("{at}/{name}");
                if named.is_some_and(|named| named.contains_key(name)) {
                    continue;
                } else if argument == false {
                    found.push(format!("{at}: is not a known field"));
                } else {
                    check(root, argument, value, &at, found);
                }
            }
            None
        }
        _ => panic!("`{keyword}` is not known to this checker"),
    }
}

fn is_of(value: &Value, kind: &str) -> bool {
    match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        // However it is written (2020-12, 4.2.3), up to where floating-point numbers have gaps.
        "integer" => {
            let is_whole = |number: f64| number.fract() == 0.0 && number.abs() < 2_f64.powi(53);
            value.is_i64() || value.is_u64() || value.as_f64().is_some_and(is_whole)
        }
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        _ => panic!("`{kind}` is no type of JSON"),
    }
}

fn is_name(text: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    text.len() <= 64
        && text.starts_with(|first: char| first.is_ascii_alphanumeric())
        && text.bytes().all(inner)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::violations;

    #[test]
    fn every_violation_is_found_at_its_place() {
        let schema = json!({
            "type": "object", "additionalProperties": false, "required": ["a"],
            "properties": {"b": {"type": "array", "items": {"$ref": "#/$defs/short"}}},
            "$defs": {"short": {"type": "string", "maxLength": 2}}
        });
        let value = json!({"b": ["ab", "abc", 1], "c": null});
        let found = violations(&schema, &schema, &value);
        let mut pointers: Vec<_> =
            found.iter().filter_map(|violation| violation.split(':').next()).collect();
        pointers.sort();
        assert_eq!(pointers, ["", "/b/1", "/b/2", "/c"]);
    }
}
