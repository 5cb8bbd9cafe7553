//! Reading arguments: an input is a tool, its arguments and the context of the call, all as text.

use agent_memory_core::context::{Context, Settings};
use agent_memory_core::toolbox::FailureCode;
use serde_json::{Map, Value};

use crate::document::{joined, parts};
use crate::json_schema::violations;
use crate::repository::{self, AGENT, CONTEXT, LOG, Repository, SCHEMA, SUMMARY};

use super::calls;

const DOCUMENTS: [(&str, &[u8]); 3] = [
    (SCHEMA, b"# Agent Memory Schema v1\n\n## Context\n"),
    (SUMMARY, b"# Agent Summary\n\n## Overview\n"),
    (LOG, b"# t\n\n## Header\n- Agent Name: aristotle\n- Date: 2025-01-20\n\n## Context\n"),
];

fn default_settings() -> Settings {
    let context: Context = serde_json::from_str(CONTEXT).expect("a context");
    context.settings
}

/// Checks that the answer is a result that fits the listed schema, a documented error, or a refused
/// request. Arguments are invalid if and only if they are not JSON, or `meant` makes them violate the
/// listed schema.
pub fn run(input: &[u8]) {
    let [name, arguments, context] = parts(input).map(String::from_utf8_lossy);
    let name = name.trim();
    let context = if context.trim().is_empty() { CONTEXT } else { &context };
    // Contexts come from hosts: an invalid one never reaches a tool.
    let Ok(context) = serde_json::from_str::<Context>(context) else { return };

    let repository = Repository::with(&DOCUMENTS);
    let answer = match repository.call_in(name, &arguments, &context) {
        Ok(answer) => answer,
        Err(failure) => {
            assert!(!failure.message.is_empty(), "a refused request has a message");
            let is_object = arguments.trim().is_empty() || object(&arguments).is_some();
            let is_unknown = failure.code == FailureCode::NotFound;
            let has_settings = !context.settings.toolsets.is_empty();
            let is_valid = is_object && context.settings == default_settings();
            assert!(!is_valid || is_unknown, "a valid request is refused: {failure:?}");
            assert!(is_unknown || !is_object || has_settings, "{failure:?}");
            return;
        }
    };
    let qualified = ["sessions_", "records_"].iter().find_map(|set| name.strip_prefix(set));
    let bare = qualified.unwrap_or(name);
    let tool = repository::tools().iter().find(|tool| tool["name"] == bare);
    let tool = tool.expect("an unlisted tool answers");
    let fields = object(&arguments).unwrap_or_default();
    let input = &tool["inputSchema"];
    let mut meant = meant(input, &fields);
    for (names, only) in
        [(&["agent_name", "agent_id"][..], &context.agents), (&["store"], &context.stores)]
    {
        let [only] = only.as_deref().unwrap_or_default() else { continue };
        for name in names.iter().filter(|name| input["properties"].get(**name).is_some()) {
            let is_given = meant.get(*name).is_some_and(|value| !value.is_null());
            if !is_given {
                meant.insert((*name).to_owned(), only.as_str().into());
            }
        }
    }
    let violated = violations(input, input, &Value::Object(meant));
    match answer {
        Ok(result) => {
            assert!(violated.is_empty(), "a result in spite of invalid arguments: {violated:?}");
            let output = &tool["outputSchema"];
            let violated = violations(output, output, &result);
            assert!(violated.is_empty(), "the result violates its schema: {violated:?}: {result}");
            let agent = fields.get("agent_name").and_then(Value::as_str).unwrap_or(AGENT);
            let changed = repository.documents().into_iter().filter(|(path, contents)| {
                !DOCUMENTS.iter().any(|(at, given)| path == at && contents == given)
            });
            for (path, _) in changed {
                assert!(path.starts_with(&format!("{agent}/")), "`{agent}` has written `{path}`");
            }
        }
        Err(error) => {
            let is_schema_error = error.message.starts_with("the arguments are not accepted");
            assert!(is_schema_error || violated.is_empty(), "{violated:?}, but {error:?}");
            let is_input = ["InvalidInput", "INVALID_INPUT"].contains(&&*error.code);
            let has_details = is_input && error.details > 0;
            assert!(has_details || !is_schema_error, "{error:?}");
        }
    }
}

/// The arguments as a client means them. Optional arguments that are null are left out, and empty ones
/// that the schema refuses. A text for a value of another type becomes that value. A date loses the
/// space around it.
fn meant(schema: &Value, fields: &Map<String, Value>) -> Map<String, Value> {
    let mut meant = Map::new();
    for (name, value) in fields {
        let Some(property) = schema["properties"].get(name) else {
            meant.insert(name.clone(), value.clone());
            continue;
        };
        let is_accepted = violations(schema, property, value).is_empty();
        let required = schema["required"].as_array().into_iter().flatten();
        let is_optional = required.filter(|required| *required == name).count() == 0;
        let says_nothing = value.is_null() || value.as_str() == Some("");
        if is_accepted || !(is_optional && says_nothing) {
            meant.insert(name.clone(), value_of(property, value));
        }
    }
    meant
}

fn value_of(property: &Value, value: &Value) -> Value {
    let kind = property["type"].as_str().unwrap_or_default();
    let parsed = match value {
        Value::String(text) if property.get("format").is_some() => return text.trim().into(),
        Value::String(text) if kind == "boolean" => {
            serde_json::from_str(&text.trim().to_ascii_lowercase()).ok()
        }
        Value::String(text) if kind != "string" => serde_json::from_str(text.trim()).ok(),
        _ => None,
    };
    let parsed = parsed.unwrap_or_else(|| value.clone());
    let whole = parsed.as_f64().filter(|number| number.fract() == 0.0 && number.abs() < 9.0e15);
    match (kind, whole) {
        ("integer", Some(number)) => (number as i64).into(),
        ("array", _) if parsed.is_array() => parsed,
        ("object", _) if parsed.is_object() => parsed,
        ("boolean", _) if parsed.is_boolean() => parsed,
        _ => value.clone(),
    }
}

fn object(text: &str) -> Option<Map<String, Value>> {
    serde_json::from_str(text).ok()
}

/// The calls of the cases, and calls with several contexts. Each argument has a line of its own,
/// because mutations change whole lines.
pub fn seeds() -> Vec<Vec<u8>> {
    let mut seeds: Vec<Vec<u8>> = calls()
        .into_iter()
        .map(|call| {
            let arguments = serde_json::to_string_pretty(&call.arguments).expect("JSON");
            joined(&[call.tool.as_bytes(), arguments.as_bytes(), b""])
        })
        .collect();
    for toolsets in ["[]", r#"["all"]"#, r#"["sessions", "all"]"#, r#"["none"]"#, "null"] {
        let context = format!(
            "{{\n\"settings\": {{\"toolsets\": {toolsets}}},\n\"now\": \"9999-12-30T22:00:00.000Z\",\n\
             \"zone\": {{\"offset_minutes\": -1439}},\n\"agents\": [\"aristotle\"],\n\"seed\": 1\n}}"
        );
        for tool in repository::tools() {
            let name = text(&tool["name"]);
            let arguments = valid_arguments(tool);
            seeds.push(joined(&[name.as_bytes(), arguments.as_bytes(), context.as_bytes()]));
            let name = format!("sessions_{name}");
            seeds.push(joined(&[name.as_bytes(), arguments.as_bytes(), b""]));
        }
    }
    seeds
}

/// Arguments for a tool, with all of its fields.
fn valid_arguments(tool: &Value) -> String {
    let fields = tool["inputSchema"]["properties"].as_object().expect("properties");
    let field = |name: &String| -> (String, Value) {
        let value = match name.as_str() {
            "agent_name" => AGENT.into(),
            "repo_root" => repository::ROOT.into(),
            "date" => repository::DATE.into(),
            "section" => "Context".into(),
            "mode" => "append".into(),
            "limit" => 100.into(),
            "from" => 1.into(),
            _ => "text".into(),
        };
        (name.clone(), value)
    };
    let fields: Map<String, Value> = fields.keys().map(field).collect();
    serde_json::to_string_pretty(&fields).expect("JSON")
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}
