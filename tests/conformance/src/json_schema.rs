//! A checker for the part of JSON Schema 2020-12 that the schemas of this repository use. It panics
//! at a keyword that it does not know, so that no schema passes unchecked.

use serde_json::{Map, Value};

use crate::places::is_uuid_4;

/// The pattern of a UUID of version 4.
const UUID_4: &str = "^[a-f0-9]{8}-[a-f0-9]{4}-4[a-f0-9]{3}-[89ab][a-f0-9]{3}-[a-f0-9]{12}$";

/// The violations of a schema by a value, each as `pointer: message`. `$ref`s are resolved in `root`.
///
/// # Panics
///
/// If the schema uses a keyword that this checker does not know.
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
    let violation =
        |is_valid: bool| (!is_valid).then(|| format!("not `{keyword}` {argument}: {value}"));
    let length = value.as_str().map(|text| text.chars().count() as u64);
    let bound = argument.as_u64();
    match keyword {
        "$schema" | "$defs" | "title" | "description" | "examples" | "default" => None,
        "type" => violation(is_of(value, argument.as_str()?)),
        "enum" => violation(argument.as_array()?.contains(value)),
        "const" => violation(argument == value),
        "minLength" => violation(length? >= bound?),
        "maxLength" => violation(length? <= bound?),
        "minimum" => violation(value.as_f64()? >= argument.as_f64()?),
        "maximum" => violation(value.as_f64()? <= argument.as_f64()?),
        "minItems" => violation(value.as_array()?.len() as u64 >= bound?),
        "maxItems" => violation(value.as_array()?.len() as u64 <= bound?),
        // The core has a function for each of these patterns, and so has this checker.
        "pattern" => match argument.as_str()? {
            r"\S" => violation(!value.as_str()?.trim().is_empty()),
            r"^$|\S" => violation(value == "" || !value.as_str()?.trim().is_empty()),
            r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$" => violation(is_name(value.as_str()?)),
            UUID_4 => violation(is_uuid_4(value.as_str()?)),
            unknown => panic!("this checker does not know the pattern `{unknown}`"),
        },
        "format" => {
            assert_eq!(argument, "date", "this checker does not know the format");
            violation(value.as_str()?.len() == 10)
        }
        "$ref" => {
            let pointer = argument.as_str()?.strip_prefix('#').expect("references are local");
            check(root, root.pointer(pointer).expect("it refers to something"), value, at, found);
            None
        }
        "oneOf" | "anyOf" => {
            let fits = |schema: &&Value| violations(root, schema, value).is_empty();
            let count = argument.as_array()?.iter().filter(fits).count();
            violation(if keyword == "oneOf" { count == 1 } else { count > 0 })
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
        // `1.0` is an integer, too (2020-12, 4.2.3). Above 2^53, not every integer is a float.
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
    fn every_violation_is_reported_with_its_pointer() {
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
