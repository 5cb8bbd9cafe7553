//! JSON Schemas from Rust types, in a style that every client accepts: objects are closed, there
//! are no references and no arrays of types, and an optional field is left out instead of null.

use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value, json};

/// A regular expression of a schema, and a function that matches the same texts. A regular
/// expression engine would make the component about a third larger.
pub(super) struct Pattern {
    expression: &'static str,
    pub matches: fn(&str) -> bool,
    /// Describes the accepted texts. The words follow `a string`.
    pub accepts: &'static str,
}

const PATTERNS: &[Pattern] = &[
    Pattern { expression: r"\S", matches: has_text, accepts: "that is not blank" },
    Pattern {
        expression: r"^$|\S",
        matches: |text| text.is_empty() || has_text(text),
        accepts: "that is empty or not blank",
    },
    Pattern {
        expression: r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$",
        matches: is_name,
        accepts: "of 1 to 64 letters, digits, `.`, `_` and `-`, the first a letter or digit",
    },
    Pattern {
        expression: UUID_V4,
        matches: is_uuid_v4,
        accepts: "that is a UUID of version 4 in lower case",
    },
];

/// UUIDs of version 4 in lower case.
const UUID_V4: &str = r"^[a-f0-9]{8}-[a-f0-9]{4}-4[a-f0-9]{3}-[89ab][a-f0-9]{3}-[a-f0-9]{12}$";

/// Returns the pattern with this expression. `None` if it is not in [`PATTERNS`].
pub(super) fn pattern(expression: &str) -> Option<&'static Pattern> {
    PATTERNS.iter().find(|pattern| pattern.expression == expression)
}

fn has_text(text: &str) -> bool {
    text.chars().any(|c| !c.is_whitespace() && c != '\u{feff}')
}

/// Whether a text matches the pattern for names of agents and stores.
pub(crate) fn is_name(text: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    text.len() <= 64
        && text.bytes().next().is_some_and(|first| first.is_ascii_alphanumeric())
        && text.bytes().all(inner)
}

fn is_uuid_v4(text: &str) -> bool {
    let digit = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let bytes = text.as_bytes();
    bytes.len() == 36
        && bytes.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            14 => *byte == b'4',
            19 => matches!(byte, b'8' | b'9' | b'a' | b'b'),
            _ => digit(byte),
        })
}

/// Marks a field that null clears, just as the empty text does. Only the check sees this keyword;
/// it is removed from the listed schema. Some clients refuse every tool whose schema has `anyOf`
/// with null.
pub(super) const CLEARED_BY_NULL: &str = "clearedByNull";

/// Marks a text field that also takes an integer, which becomes its text. This keyword, too, is removed
/// from the listed schema.
pub(super) const TAKES_INTEGER: &str = "takesInteger";

/// Returns the schema of an input in the form that clients see.
pub(super) fn of_input<T: JsonSchema>() -> Map<String, Value> {
    let settings = SchemaSettings::draft2020_12().for_deserialize();
    of::<T>(settings.with_transform(RecursiveTransform(|schema: &mut Schema| {
        schema.remove(CLEARED_BY_NULL);
        schema.remove(TAKES_INTEGER);
        unwrap_description(schema);
    })))
}

/// Returns the schema of an input for the check, which ignores the descriptions.
pub(super) fn of_checked<T: JsonSchema>() -> Map<String, Value> {
    of::<T>(SchemaSettings::draft2020_12().for_deserialize())
}

/// Returns the schema of an output in the form that clients see. A field that is always present is
/// required, even if it may be null.
pub(super) fn of_output<T: JsonSchema>() -> Map<String, Value> {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    // A count is never negative, so `minimum: 0` would only make the schema longer.
    of::<T>(settings.with_transform(RecursiveTransform(|schema: &mut Schema| {
        schema.remove("minimum");
        unwrap_description(schema);
    })))
}

fn of<T: JsonSchema>(settings: SchemaSettings) -> Map<String, Value> {
    let settings = settings.with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
        settings.transforms.push(Box::new(RecursiveTransform(simplify)));
    });
    let schema = settings.into_generator().into_root_schema_for::<T>();
    match schema.to_value() {
        Value::Object(schema) => schema,
        _ => unreachable!("the schema of a struct is an object"),
    }
}

fn unwrap_description(schema: &mut Schema) {
    if let Some(Value::String(description)) = schema.get_mut("description") {
        *description = unwrapped(description);
    }
}

fn simplify(schema: &mut Schema) {
    let Some(object) = schema.as_object_mut() else {
        return;
    };
    if object.get("format").is_some_and(|format| format != "date") {
        object.remove("format");
    }
    let required: Vec<Value> =
        object.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    if let Some(Value::Object(properties)) = object.get_mut("properties") {
        for (name, property) in properties.iter_mut() {
            let optional = !required.iter().any(|required| required == name);
            if let Value::Object(property) = property {
                // A default of null, [] or {} tells no more than that the field may be left out.
                let says_nothing =
                    |value: &Value| value.is_null() || [json!([]), json!({})].contains(value);
                property.retain(|keyword, value| keyword != "default" || !says_nothing(value));
                without_null(property, optional);
            }
        }
    }
}

/// Returns the text of a doc comment with each paragraph on one line.
fn unwrapped(text: &str) -> String {
    let paragraphs: Vec<_> = text.split("\n\n").map(|text| text.replace('\n', " ")).collect();
    paragraphs.join("\n\n")
}

/// Rewrites `"type": [T, "null"]`: an optional property becomes `"type": T`, a required one becomes
/// `anyOf`.
fn without_null(property: &mut Map<String, Value>, optional: bool) {
    let Some(Value::Array(types)) = property.get("type") else {
        return;
    };
    let Some(kind) = types.iter().find(|kind| *kind != "null").cloned() else {
        return;
    };
    if let Some(Value::Array(values)) = property.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    if optional {
        property.remove("default");
        property.insert("type".into(), kind);
        return;
    }
    let description = property.remove("description");
    let mut value = std::mem::take(property);
    value.insert("type".into(), kind);
    property.extend(description.map(|description| ("description".to_owned(), description)));
    property.insert("anyOf".into(), json!([value, {"type": "null"}]));
}

/// Removes `required`, to keep the schemas of a toolset below their maximum length. These fields are
/// always present.
pub(crate) fn without_required(schema: &mut Schema) {
    schema.remove("required");
}
