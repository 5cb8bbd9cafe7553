//! Checks the arguments of a call against the schema that the tool lists, and finds all violations
//! at once. It supports exactly the keywords that `schema` emits; a test verifies this.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::only::AGENT;
use super::schema::pattern;
use crate::nearest::nearest;
use crate::text::excerpt;
use crate::time::Date;

/// One violation of a schema by the arguments of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Violation {
    /// The JSON pointer (RFC 6901) of the wrong or missing value.
    pub pointer: String,
    /// The values that the schema accepts at this place, in words.
    pub accepted: String,
}

/// Returns all violations of the schema by `arguments`, sorted by pointer.
pub(super) fn violations(
    schema: &Map<String, Value>,
    arguments: &Map<String, Value>,
) -> Vec<Violation> {
    let mut found = Vec::new();
    check_object(schema, arguments, "", &mut found);
    found.sort_by(|a, b| a.pointer.cmp(&b.pointer));
    found
}

fn check_object(
    schema: &Map<String, Value>,
    object: &Map<String, Value>,
    pointer: &str,
    found: &mut Vec<Violation>,
) {
    let none = Map::new();
    let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
    let required: Vec<_> = required(schema).collect();
    for (name, value) in object {
        let pointer = format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"));
        match properties.get(name).and_then(Value::as_object) {
            Some(property) => {
                let before = found.len();
                check(property, value, &pointer, found);
                if !required.contains(&name.as_str()) {
                    // Only a violation of the field itself gets this advice. If an item of a list is
                    // wrong, the caller should correct the item, not leave out the list.
                    let own = found[before..].iter_mut().filter(|one| one.pointer == pointer);
                    own.for_each(|violation| violation.accepted += "; or leave it out");
                }
            }
            None => {
                let free: Vec<_> =
                    properties.keys().filter(|name| !object.contains_key(*name)).cloned().collect();
                let accepted = match meant(name, &free) {
                    Some(meant) => format!("nothing: did you mean `{meant}`?"),
                    None => {
                        let known = properties.keys().map(|name| format!("`{name}`"));
                        let known = known.collect::<Vec<_>>().join(", ");
                        format!("nothing: leave it out; the fields are {known}")
                    }
                };
                found.push(Violation { pointer, accepted });
            }
        }
    }
    for name in required.into_iter().filter(|name| !object.contains_key(*name)) {
        let property = properties.get(name).and_then(Value::as_object).unwrap_or(&none);
        let accepted = format!("{}; it is required", accepts(property));
        found.push(Violation { pointer: format!("{pointer}/{name}"), accepted });
    }
}

/// Returns the field that the caller most likely meant by an unknown name. Chooses among `fields`,
/// which are not given yet: the field that names the agent, the nearest name, or the only field whose
/// words are all in the unknown name.
fn meant<'f>(unknown: &str, fields: &'f [String]) -> Option<&'f str> {
    let names_agent = |name: &str| AGENT.contains(&name);
    if names_agent(unknown) || nearest(unknown, &AGENT.map(str::to_owned)).is_some() {
        return fields.iter().find(|field| names_agent(field)).map(String::as_str);
    }
    let has_words = |field: &&String| {
        field.split('_').all(|word| unknown.split('_').any(|other| other == word))
    };
    nearest(unknown, fields).or_else(|| {
        let mut fields = fields.iter().filter(has_words);
        fields.next().filter(|_| fields.next().is_none()).map(String::as_str)
    })
}

fn check(schema: &Map<String, Value>, value: &Value, pointer: &str, found: &mut Vec<Violation>) {
    let is_valid = match (kind(schema), value) {
        ("array", Value::Array(items)) => {
            check_items(schema, items, pointer, found);
            let bound = |keyword| schema.get(keyword).and_then(Value::as_u64);
            let length = items.len() as u64;
            bound("minItems").is_none_or(|least| length >= least)
                && bound("maxItems").is_none_or(|most| length <= most)
        }
        ("object", Value::Object(_)) if is_open(schema) => true,
        ("object", Value::Object(object)) => {
            check_object(schema, object, pointer, found);
            true
        }
        ("string", Value::String(text)) => text_is_accepted(schema, text),
        ("integer", Value::Number(number)) => {
            (number.is_i64() || number.is_u64()) && number_is_accepted(schema, number)
        }
        ("boolean", Value::Bool(_)) => true,
        _ => false,
    };
    if !is_valid {
        let mut accepted = accepts(schema);
        if let Some(size) = excess(schema, value) {
            accepted += &format!("; it has {size}");
        }
        accepted.extend(example(schema, value));
        found.push(Violation { pointer: pointer.into(), accepted });
    }
}

/// Whether an object with this schema may have fields of any name.
fn is_open(schema: &Map<String, Value>) -> bool {
    schema.get("additionalProperties").is_some_and(|others| *others == true)
}

/// Returns an example for the message: a list with the given text as its only item. Only a text in
/// place of a list of texts gets an example, and no text with a comma, which may be several items.
fn example(schema: &Map<String, Value>, value: &Value) -> Option<String> {
    let item = schema.get("items").and_then(Value::as_object)?;
    let text = value.as_str().filter(|text| kind(item) == "string" && !text.contains(','))?;
    Some(format!(", such as `{}`", json!([excerpt(text)])))
}

/// Returns the size of a text or a list if it is longer than its schema allows.
fn excess(schema: &Map<String, Value>, value: &Value) -> Option<usize> {
    let (size, keyword) = match value {
        Value::String(text) => (text.chars().count(), "maxLength"),
        Value::Array(items) => (items.len(), "maxItems"),
        _ => return None,
    };
    let most = schema.get(keyword).and_then(Value::as_u64)?;
    (size as u64 > most).then_some(size)
}

fn check_items(
    schema: &Map<String, Value>,
    items: &[Value],
    pointer: &str,
    found: &mut Vec<Violation>,
) {
    let Some(item_schema) = schema.get("items").and_then(Value::as_object) else { return };
    for (index, item) in items.iter().enumerate() {
        check(item_schema, item, &format!("{pointer}/{index}"), found);
    }
}

/// Returns the fields in the schema of an object, with their schemas.
pub(super) fn properties(schema: &Map<String, Value>) -> impl Iterator<Item = (&String, &Value)> {
    schema.get("properties").and_then(Value::as_object).into_iter().flatten()
}

/// Returns the names of the required fields of an object.
pub(super) fn required(schema: &Map<String, Value>) -> impl Iterator<Item = &str> {
    let names = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    names.filter_map(Value::as_str)
}

pub(super) fn kind(schema: &Map<String, Value>) -> &str {
    schema.get("type").and_then(Value::as_str).unwrap_or_default()
}

pub(super) fn text_is_accepted(schema: &Map<String, Value>, text: &str) -> bool {
    let length = text.chars().count() as u64;
    let bound = |keyword| schema.get(keyword).and_then(Value::as_u64);
    let matches = |expression| pattern(expression).is_some_and(|known| (known.matches)(text));
    bound("minLength").is_none_or(|least| length >= least)
        && bound("maxLength").is_none_or(|most| length <= most)
        && schema.get("pattern").and_then(Value::as_str).is_none_or(matches)
        && (schema.get("format").is_none() || Date::parse(text).is_some())
        && is_enumerated(schema, text)
}

fn is_enumerated(schema: &Map<String, Value>, text: &str) -> bool {
    let values = schema.get("enum").and_then(Value::as_array);
    values.is_none_or(|values| values.iter().any(|value| value == text))
}

fn number_is_accepted(schema: &Map<String, Value>, number: &serde_json::Number) -> bool {
    let number = number.as_i128();
    let bound = |keyword| schema.get(keyword).and_then(|bound| bound.as_number()?.as_i128());
    number.is_some_and(|number| {
        bound("minimum").is_none_or(|least| number >= least)
            && bound("maximum").is_none_or(|most| number <= most)
    })
}

/// Describes the values that a schema accepts, in words.
fn accepts(schema: &Map<String, Value>) -> String {
    let bound = |keyword| schema.get(keyword).and_then(|bound| bound.as_number());
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        let values: Vec<_> =
            values.iter().filter_map(Value::as_str).map(|value| format!("`{value}`")).collect();
        return format!("one of {}", values.join(", "));
    }
    if schema.contains_key("format") {
        return "a date that exists, as `YYYY-MM-DD`".into();
    }
    let mut words = match kind(schema) {
        "integer" => "an integer".to_owned(),
        "array" => "an array".to_owned(),
        "object" => "an object".to_owned(),
        kind => format!("a {kind}"),
    };
    match (bound("minLength"), bound("maxLength")) {
        (Some(least), Some(most)) => words += &format!(" of {least} to {most} characters"),
        (None, Some(most)) => words += &format!(" of at most {most} characters"),
        _ => {}
    }
    if let Some(most) = bound("maxItems") {
        words += &format!(" of at most {most} items");
    }
    match (bound("minimum"), bound("maximum")) {
        (Some(least), Some(most)) => words += &format!(" from {least} to {most}"),
        (Some(least), None) => words += &format!(" of at least {least}"),
        _ => {}
    }
    if let Some(pattern) = schema.get("pattern").and_then(Value::as_str).and_then(pattern) {
        words = format!("{words} {}", pattern.accepts);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toolbox::describe;

    fn check(schema: Value, arguments: Value) -> Vec<(String, String)> {
        let object = |value: &Value| value.as_object().expect("an object").clone();
        let found = violations(&object(&schema), &object(&arguments));
        found.into_iter().map(|violation| (violation.pointer, violation.accepted)).collect()
    }

    #[test]
    fn all_violations_are_found_at_once_in_the_order_of_their_pointers() {
        let schema = json!({"type": "object", "required": ["name", "day"], "properties": {
            "name": {"type": "string", "minLength": 1, "maxLength": 3},
            "day": {"type": "string", "format": "date"},
            "limit": {"type": "integer", "minimum": 1, "maximum": 9},
            "mode": {"type": "string", "enum": ["append", "replace"]},
        }});
        assert_eq!(check(schema.clone(), json!({"name": "é𝒳z", "day": "2024-02-29"})), []);
        let found =
            check(schema, json!({"name": "long", "limit": 10, "mode": "prepend", "a/b~c": 1}));
        let expected = [
            ("/a~1b~0c", "nothing: leave it out; the fields are `name`, `day`, `limit`, `mode`"),
            ("/day", "a date that exists, as `YYYY-MM-DD`; it is required"),
            ("/limit", "an integer from 1 to 9; or leave it out"),
            ("/mode", "one of `append`, `replace`; or leave it out"),
            ("/name", "a string of 1 to 3 characters; it has 4"),
        ];
        assert_eq!(found, expected.map(|(pointer, accepted)| (pointer.into(), accepted.into())));
    }

    #[test]
    fn an_unknown_field_asks_whether_a_near_one_was_meant() {
        let string = json!({"type": "string"});
        let fields = ["agent_id", "store", "query", "from_date", "to_date"];
        let fields: Map<String, Value> =
            fields.iter().map(|field| ((*field).to_owned(), string.clone())).collect();
        let schema = json!({"type": "object", "properties": fields});
        let leave_out = "nothing: leave it out; the fields are `agent_id`, `store`, `query`, \
                         `from_date`, `to_date`";
        for (unknown, meant) in [
            ("agent", Some("agent_id")),
            ("agent_name", Some("agent_id")),
            ("agentName", Some("agent_id")),
            ("agentId", Some("agent_id")),
            ("qurey", Some("query")),
            ("store_name", Some("store")),
            ("from_date_1", Some("from_date")),
            ("date", None),
            ("limit", None),
        ] {
            let accepted = meant.map(|meant| format!("nothing: did you mean `{meant}`?"));
            let expected = (format!("/{unknown}"), accepted.unwrap_or(leave_out.to_owned()));
            assert_eq!(check(schema.clone(), json!({ unknown: "a" })), [expected]);
        }
        let both = check(schema, json!({"agent": "a", "agent_id": "a"}));
        assert_eq!(both, [("/agent".to_owned(), leave_out.to_owned())]);
    }

    #[test]
    fn a_number_with_a_fraction_null_and_a_nested_value_are_no_integers() {
        let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
        for value in [json!(1.5), json!(null), json!("1"), json!([1]), json!({})] {
            assert_eq!(check(schema.clone(), json!({ "n": value })).len(), 1, "{value}");
        }
    }

    /// An unknown keyword would not be checked.
    #[test]
    fn the_check_knows_every_keyword_of_every_listed_input_schema() {
        let described: Value = serde_json::from_str(&describe()).expect("JSON");
        let toolsets = described["toolsets"].as_array().expect("a list");
        for tool in toolsets.iter().flat_map(|of| of["tools"].as_array().expect("a list")) {
            let root = tool["inputSchema"].as_object().expect("a schema");
            assert_object_is_known(root);
        }
    }

    fn assert_object_is_known(schema: &Map<String, Value>) {
        let known = ["type", "description", "properties", "required", "additionalProperties"];
        assert!(schema.keys().all(|key| known.contains(&key.as_str())), "{schema:?}");
        if is_open(schema) {
            return assert!(!schema.contains_key("properties"), "{schema:?}");
        }
        assert_eq!(schema["additionalProperties"], false);
        for property in schema["properties"].as_object().expect("properties").values() {
            assert_is_known(property.as_object().expect("a schema"));
        }
    }

    fn assert_is_known(schema: &Map<String, Value>) {
        if schema.get("type").is_some_and(|kind| kind == "object") {
            return assert_object_is_known(schema);
        }
        let known =
            ["type", "description", "default", "minLength", "maxLength", "pattern", "format"];
        let more = ["minimum", "maximum", "enum", "items", "minItems", "maxItems"];
        let is_known = |key: &String| known.iter().chain(&more).any(|known| known == key);
        assert!(schema.keys().all(is_known), "{schema:?}");
        assert!(schema.get("format").is_none_or(|format| format == "date"), "{schema:?}");
        assert!(!schema.get("type").is_some_and(Value::is_array), "{schema:?}");
        let expression = schema.get("pattern").and_then(Value::as_str);
        assert!(expression.is_none_or(|known| pattern(known).is_some()), "{expression:?}");
        if let Some(items) = schema.get("items") {
            assert_is_known(items.as_object().expect("a schema"));
        }
    }

    #[test]
    fn objects_in_a_list_are_checked_field_by_field() {
        let file = json!({"type": "object", "required": ["path"], "properties": {
            "path": {"type": "string", "maxLength": 2},
        }});
        let schema = json!({"type": "object", "properties": {
            "files": {"type": "array", "items": file},
        }});
        assert_eq!(check(schema.clone(), json!({"files": [{"path": "a"}]})), []);
        let files = json!([{"path": "long"}, {}, {"path": "a", "b": 1}, "a"]);
        let found = check(schema, json!({ "files": files }));
        let expected = [
            ("/files/0/path", "a string of at most 2 characters; it has 4"),
            ("/files/1/path", "a string of at most 2 characters; it is required"),
            ("/files/2/b", "nothing: leave it out; the fields are `path`"),
            ("/files/3", "an object"),
        ];
        let found: Vec<_> = found.iter().map(|(at, what)| (at.as_str(), what.as_str())).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn items_are_checked_one_by_one() {
        let schema = json!({"type": "object", "properties": {
            "tags": {"type": "array", "maxItems": 2, "items": {"type": "string", "maxLength": 2}},
            "category": {"type": "string", "maxLength": 2},
        }});
        assert_eq!(check(schema.clone(), json!({"tags": ["a", "b"], "category": "c"})), []);
        let found = check(schema.clone(), json!({"tags": "a\"b"}));
        let example = r#"an array of at most 2 items, such as `["a\"b"]`; or leave it out"#;
        assert_eq!(found, [("/tags".to_owned(), example.to_owned())]);
        let found = check(schema, json!({"tags": ["a", null, "long"], "category": "long"}));
        let expected = [
            ("/category", "a string of at most 2 characters; it has 4; or leave it out"),
            ("/tags", "an array of at most 2 items; it has 3; or leave it out"),
            ("/tags/1", "a string of at most 2 characters"),
            ("/tags/2", "a string of at most 2 characters; it has 4"),
        ];
        let found: Vec<_> = found.iter().map(|(at, what)| (at.as_str(), what.as_str())).collect();
        assert_eq!(found, expected);
    }
}
