//! The argument decoder: an input is a tool, its arguments and the context of the call, all as
//! text.

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

/// Whatever the texts are, the answer is a result of the listed shape, an error that a caller
/// knows, or a refused request; and what is refused for its shape is what JSON and the listed
/// schema refuse.
pub fn run(input: &[u8]) {
    let [name, arguments, context] = parts(input).map(String::from_utf8_lossy);
    let name = name.trim();
    let context = if context.trim().is_empty() { CONTEXT } else { &context };
    // A host makes contexts: what is none reaches no tool.
    let Ok(context) = serde_json::from_str::<Context>(context) else { return };

    let repository = Repository::with(&DOCUMENTS);
    let answer = match repository.call_in(name, &arguments, &context) {
        Ok(answer) => answer,
        Err(failure) => {
            assert!(!failure.message.is_empty(), "a refusal says why");
            let is_object = arguments.trim().is_empty() || object(&arguments).is_some();
            let is_unknown = failure.code == FailureCode::NotFound;
            let has_settings = !context.settings.toolsets.is_empty();
            let is_sound = is_object && context.settings == default_settings();
            assert!(!is_sound || is_unknown, "a sound request is refused: {failure:?}");
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
    let wrong = violations(input, input, &Value::Object(fields.clone()));
    match answer {
        Ok(result) => {
            assert!(wrong.is_empty(), "{wrong:?}, and yet it is done");
            let output = &tool["outputSchema"];
            let wrong = violations(output, output, &result);
            assert!(wrong.is_empty(), "the result is not as listed: {wrong:?}: {result}");
            let agent = fields.get("agent_name").and_then(Value::as_str).unwrap_or(AGENT);
            let changed = repository.documents().into_iter().filter(|(path, contents)| {
                !DOCUMENTS.iter().any(|(at, given)| path == at && contents == given)
            });
            for (path, _) in changed {
                assert!(path.starts_with(&format!("{agent}/")), "`{agent}` has written `{path}`");
            }
        }
        Err(refusal) => {
            let is_shape = refusal.message.starts_with("the arguments are not accepted");
            assert!(is_shape || wrong.is_empty(), "{wrong:?}, but {refusal:?}");
            let is_input = ["InvalidInput", "INVALID_INPUT"].contains(&&*refusal.code);
            let is_named = is_input && refusal.details > 0;
            assert!(is_named || !is_shape, "{refusal:?}");
        }
    }
}

fn object(text: &str) -> Option<Map<String, Value>> {
    serde_json::from_str(text).ok()
}

/// The calls of the cases, a field a line, and contexts of every shape.
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
             \"utc_offset_minutes\": -1439,\n\"agents\": [\"aristotle\"],\n\"seed\": 1\n}}"
        );
        for tool in repository::tools() {
            let (name, arguments) = (text(&tool["name"]), sound(tool));
            seeds.push(joined(&[name.as_bytes(), arguments.as_bytes(), context.as_bytes()]));
            let name = format!("sessions_{name}");
            seeds.push(joined(&[name.as_bytes(), arguments.as_bytes(), b""]));
        }
    }
    seeds
}

/// Arguments that a tool takes, with every field that it has.
fn sound(tool: &Value) -> String {
    let fields = tool["inputSchema"]["properties"].as_object().expect("properties");
    let field = |name: &String| -> (String, Value) {
        let value = match name.as_str() {
            "agent_name" => AGENT.into(),
            "repo_root" => repository::ROOT.into(),
            "date" => repository::DATE.into(),
            "section" => "Context".into(),
            "mode" => "append".into(),
            "limit" => 1.into(),
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
