//! The list of tools: it fits the limits of clients, and is the same from every host.

use std::process::Command;

use agent_memory_conformance::core_runner::{listed, tools, tools_of, toolsets};
use agent_memory_conformance::workspace::source;
use agent_memory_host::AgentMemory;
use agent_memory_tests::product::program;
use agent_memory_tests::runners::mcp_client::{Client, ProtocolVersion};
use serde_json::{Map, Value, json};

/// The limits of a toolset; Claude Code and others truncate longer lists.
const MOST_TOKENS: usize = 1700;
/// The limit of the toolset `memory`, which is mounted with every other toolset.
const MOST_TOKENS_OF_MEMORY: usize = 1400;
const MOST_NAME: usize = 30;
const MOST_DESCRIPTION: usize = 2048;
const MOST_TOOLS: usize = 25;

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_else(|| panic!("no text `{field}` in {value}"))
}

/// The estimated tokens of compact JSON: one for four bytes.
fn tokens(values: &[Value]) -> usize {
    values.iter().map(|value| value.to_string().len()).sum::<usize>() / 4
}

#[test]
fn every_toolset_is_within_its_token_limit() {
    for toolset in toolsets() {
        // Models do not see the tools for people.
        let mut tools = tools_of(&toolset);
        tools.retain(|tool| tool["audience"] == "model");
        let input = |tool: &Value| json!({"name": tool["name"], "description": tool["description"], "inputSchema": tool["inputSchema"]});
        let output = |tool: &Value| tool["outputSchema"].clone();
        let inputs = tokens(&tools.iter().map(input).collect::<Vec<_>>());
        let outputs = tokens(&tools.iter().map(output).collect::<Vec<_>>());
        println!("{toolset}: {} tools, {inputs} tokens, output schemas {outputs}", tools.len());
        let most = if toolset == "memory" { MOST_TOKENS_OF_MEMORY } else { MOST_TOKENS };
        assert!(inputs <= most && outputs <= MOST_TOKENS, "{toolset}: {inputs}, {outputs}");
        assert!(!tools.is_empty() && tools.len() <= MOST_TOOLS);
    }
}

#[test]
fn every_tool_follows_the_rules_of_clients() {
    for tool in tools() {
        let name = text(&tool, "name");
        let snake = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
        assert!(name.len() <= MOST_NAME && name.bytes().all(snake), "`{name}`");
        assert!(!text(&tool, "title").is_empty(), "`{name}` has no title");
        let description = text(&tool, "description");
        assert!((20..=MOST_DESCRIPTION).contains(&description.len()), "`{name}`: {description}");
        for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
            assert!(tool["annotations"][hint].is_boolean(), "`{name}` has no `{hint}`");
        }
        assert!(["model", "person"].contains(&text(&tool, "audience")), "`{name}`");
        for schema in ["inputSchema", "outputSchema"] {
            let root = tool[schema].as_object().expect("a schema is an object");
            assert_eq!(root.get("type"), Some(&json!("object")), "{name}: {schema}");
            for combined in ["oneOf", "anyOf", "allOf"] {
                assert!(!root.contains_key(combined), "`{name}`: `{combined}` at a root");
            }
            lint(root, schema == "inputSchema", &format!("{name} {schema}"));
        }
    }
}

#[test]
fn one_to_three_tools_of_each_toolset_are_always_visible() {
    for toolset in toolsets() {
        let tools = tools_of(&toolset);
        let visible: Vec<_> = tools.iter().filter(|tool| tool["always_visible"] == true).collect();
        assert!((1..=3).contains(&visible.len()), "{toolset}: {}", visible.len());
        assert!(visible.iter().all(|tool| tool["audience"] == "model"), "{toolset}");
    }
}

/// Claude's own agent shows a model only tools with this mark, until the model looks for others.
#[test]
fn mcp_marks_exactly_the_tools_that_are_always_visible() {
    let marked = |tool: &&Value| tool["_meta"]["anthropic/alwaysLoad"] == true;
    let name = |tool: &Value| text(tool, "name").to_owned();
    let elsewhere = tempfile::tempdir().expect("a temporary directory");
    let data = format!("--data-dir={}", elsewhere.path().display());
    for toolset in toolsets() {
        let mut mounted = tools_of(&toolset);
        if toolset != "memory" {
            mounted.extend(tools_of("memory"));
        }
        let expected: Vec<_> =
            mounted.iter().filter(|tool| tool["always_visible"] == true).map(name).collect();
        for version in [ProtocolVersion::Initialize, ProtocolVersion::Stateless] {
            let options = [format!("--toolset={toolset}"), data.clone()];
            let mut client = Client::start(&options, elsewhere.path(), version).expect("a server");
            let answer = client.ask("tools/list", json!({})).expect("an answer");
            let tools = answer["result"]["tools"].as_array().expect("the tools");
            let listed: Vec<_> = tools.iter().filter(marked).map(name).collect();
            assert_eq!(listed, expected, "{toolset}, {version:?}");
            let unmarked = tools.iter().filter(|tool| tool.get("_meta").is_none()).count();
            assert_eq!(unmarked, tools.len() - listed.len(), "{toolset}, {version:?}");
            client.end().expect("the server ends");
        }
    }
}

/// If several tools said so, a model would have to guess.
#[test]
fn one_tool_of_all_says_that_it_is_called_first() {
    let tools = tools();
    let says_first = |tool: &&Value| {
        let description = text(tool, "description").to_lowercase();
        ["it first", "this first", "when a session starts", "once when a session begins"]
            .iter()
            .any(|claim| description.contains(claim))
    };
    let names: Vec<&str> = tools.iter().filter(says_first).map(|tool| text(tool, "name")).collect();
    assert_eq!(names, ["resume_memory"]);
}

/// Whether a field has an object of the user: the value of an item, or a filter of values.
fn is_of_user(at: &str) -> bool {
    at.ends_with("/value") || at.ends_with("/filter")
}

/// Checks a schema. Every argument needs a description; a field of a result does not.
fn lint(schema: &Map<String, Value>, is_described: bool, at: &str) {
    for keyword in ["$ref", "$defs", "definitions", "$dynamicRef", "$schema"] {
        assert!(!schema.contains_key(keyword), "{at}: `{keyword}`");
    }
    if schema.contains_key("type") {
        assert!(schema["type"].is_string(), "{at}: the type is {}", schema["type"]);
    } else {
        // One client refuses all tools of a server if an input has `anyOf`.
        assert!(schema.contains_key("anyOf") && !is_described, "{at}: no type");
    }
    let is_object = schema.get("type").is_some_and(|kind| kind == "object");
    if is_object {
        // An object of the user may have any fields, so its schema names none.
        let is_open = is_of_user(at) && !schema.contains_key("properties");
        let closed = schema.get("additionalProperties");
        assert_eq!(closed, Some(&json!(is_open)), "{at}: not closed");
    }
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, property) in properties.into_iter().flatten() {
        let at = format!("{at}/{name}");
        let property = property.as_object().expect("a schema is an object");
        let described = property.get("description").and_then(Value::as_str);
        let suffices = !is_described || described.is_some_and(|text| text.len() > 5);
        assert!(suffices, "{at}: no description");
        lint(property, is_described, &at);
    }
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    for name in required.filter_map(Value::as_str) {
        let known = properties.is_some_and(|properties| properties.contains_key(name));
        assert!(known, "{at}: `{name}` is required but not a property");
    }
    let items = schema.get("items").into_iter();
    let variants = schema.get("anyOf").and_then(Value::as_array).into_iter().flatten();
    for inner in items.chain(variants).filter_map(Value::as_object) {
        lint(inner, is_described, at);
    }
}

/// A list of sections in the schema could contradict `_schema.md`.
#[test]
fn the_section_of_an_entry_is_any_string_and_its_description_names_the_default() {
    let tools = tools_of("sessions");
    let append = tools.iter().find(|tool| tool["name"] == "append_entry").expect("it is listed");
    let section = append["inputSchema"]["properties"]["section"].as_object().expect("a schema");
    let keywords: Vec<_> = section.keys().map(String::as_str).collect();
    assert_eq!(keywords, ["type", "description", "minLength", "maxLength"], "{section:?}");
    let schema = source("tests/conformance/documents/schema-v1.md");
    let names: Vec<_> = schema.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    let described = text(&append["inputSchema"]["properties"]["section"], "description");
    assert_eq!(names.len(), 6);
    for name in names {
        assert_eq!(described.contains(&format!("`{name}`")), name != "Header", "{name}");
    }
}

/// The fields of a tool that MCP lists.
fn as_listed(tool: &Value) -> Value {
    let fields = ["name", "title", "description", "inputSchema", "outputSchema"];
    let mut listed: Map<String, Value> =
        fields.iter().map(|field| ((*field).to_owned(), tool[field].clone())).collect();
    let hints = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];
    let annotations: Map<String, Value> =
        hints.iter().map(|hint| ((*hint).to_owned(), tool["annotations"][hint].clone())).collect();
    listed.insert("annotations".into(), annotations.into());
    listed.into()
}

/// The lists are compared as text, so that the order of keys counts. The conformance test compares
/// the list of the Node host. The toolset `memory` is mounted with the default toolset.
#[test]
fn all_ways_to_list_the_tools_give_the_same_list() {
    let written = |tools: &[Value]| json!(tools).to_string();
    let core = listed([tools_of("sessions"), tools_of("memory")].concat());
    let embedded = AgentMemory::builder().build().expect("the memory opens");
    let embedded = serde_json::to_string(embedded.tools()).expect("JSON");
    assert_eq!(embedded, written(&core), "the embedding library");

    let printed = Command::new(program("agent-memory"))
        .args(["tools", "--all", "--json"])
        .output()
        .expect("a program that starts");
    let printed: Vec<Value> = serde_json::from_slice(&printed.stdout).expect("JSON");
    assert_eq!(written(&printed), written(&core), "`agent-memory tools --all --json`");

    let for_models = core.iter().filter(|tool| tool["audience"] == "model");
    let listed: Vec<Value> = for_models.map(as_listed).collect();
    assert!(listed.len() < core.len(), "a tool for people is not listed over MCP");
    let elsewhere = tempfile::tempdir().expect("a temporary directory");
    for version in [ProtocolVersion::Initialize, ProtocolVersion::Stateless] {
        let mut client = Client::start(&[], elsewhere.path(), version).expect("a server");
        let answer = client.ask("tools/list", json!({})).expect("an answer");
        let tools = answer["result"]["tools"].as_array().expect("the tools");
        let tools: Vec<Value> = tools.iter().map(as_listed).collect();
        assert_eq!(written(&tools), written(&listed), "over MCP, {version:?}");
        client.end().expect("the server ends");
    }
}
