//! A component that misbehaves on request, to test hosts with.
//!
//! It has the product's world and is built like the product. Each tool is one misdeed, named after it.
//! The arguments are `{"repo_root": path}` if the tool needs a tree; `append` also takes a `line`.

#![cfg(target_arch = "wasm32")]
#![allow(missing_docs)]

mod misdeeds;

wit_bindgen::generate!({
    path: ["../../wit/storage", "../../wit/toolbox"],
    world: "agent-memory:toolbox/memory",
    generate_all,
});

use exports::agent_memory::toolbox::toolbox::{
    Category, Context, Failure, FailureCode, Guest, Outcome, Reference, Refusal,
};
use serde_json::{Value, json};

/// The label of the place that the tools use, and the database in it.
const PLACE: &str = "guests";
const DATABASE: &str = "guests.db";

/// The tools, and whether each claims to be read-only.
const TOOLS: [(&str, bool); 37] = [
    ("add-row", false),
    ("append", false),
    ("append-without-lock", true),
    ("attach", false),
    ("babble", true),
    ("complain", true),
    ("count", true),
    ("endless-statement", false),
    ("flood", true),
    ("go-on-after-error", false),
    ("grow", true),
    ("hoard", true),
    ("keep", false),
    ("lock-after-commit", false),
    ("lock-after-rollback", false),
    ("lock-in-transaction", false),
    ("lock-twice", false),
    ("lock-two-places", false),
    ("lock-two-places-in-turn", false),
    ("panic", true),
    ("probe-database", true),
    ("read", true),
    ("recurse", true),
    ("recurse-in-memory", true),
    ("recurse-locked", false),
    ("spin", true),
    ("spin-in-transaction", false),
    ("spin-locked", false),
    ("storm", true),
    ("transact-twice", false),
    ("trap", true),
    ("trap-in-transaction", false),
    ("trap-while-locked", false),
    ("vast-error", true),
    ("vast-failure", true),
    ("vast-result", true),
    ("write-under-lock", false),
];

struct Component;

impl Guest for Component {
    fn describe() -> String {
        let object = json!({ "type": "object" });
        let tools: Vec<Value> = TOOLS
            .iter()
            .map(|(name, read_only)| {
                json!({
                    "name": name, "qualified_name": format!("guests_{name}"), "shared_with": [],
                    "title": name, "description": name,
                    "inputSchema": object, "outputSchema": object,
                    "annotations": {
                        "readOnlyHint": read_only, "destructiveHint": false,
                        "idempotentHint": false, "openWorldHint": false,
                    },
                    "audience": "model",
                    "always_visible": false,
                })
            })
            .collect();
        let directory = json!({
            "name": "directory", "schema": { "type": "string", "minLength": 1 },
            "default_text": "none", "help": "Where the tools keep rows", "flag": "guests-dir",
            "environment": [], "is_path": true, "is_secret": false,
        });
        let place = json!({
            "label": PLACE, "title": "Directory of the guests", "kind": "directory",
            "is_private": true, "setting": "directory", "default": "",
            "databases": [{ "name": DATABASE, "dialects": ["sqlite"] }],
            "missing": "this host has no directory for guests: set one",
        });
        let toolset = json!({
            "name": "guests", "title": "Guests", "description": "Tools that misbehave",
            "default": true, "settings": [directory], "places": [place], "tools": tools,
            "resources": [], "resource_templates": [], "prompts": [],
        });
        json!({ "toolsets": [toolset] }).to_string()
    }

    fn call_tool(name: String, arguments: String, context: Context) -> Result<Outcome, Failure> {
        let arguments = parse(&arguments)?;
        if let Some(answer) = misdeeds::answer(&name) {
            return answer;
        }
        let text = |name: &str| arguments[name].as_str().unwrap_or_default().to_owned();
        let answer = match misdeeds::commit(&name, text, &context) {
            Some(Ok(result)) => Ok(result.to_string()),
            Some(Err(error)) => {
                let code = format!("{:?}", error.code);
                let message = error.message;
                let json = json!({ "error": code, "message": message }).to_string();
                Err(Refusal { category: Category::Storage, code, message, json })
            }
            None => return Err(not_found(&name)),
        };
        Ok(Outcome { answer, changed: Vec::new(), follow_ups: Vec::new(), wants_vector: None })
    }

    fn read_resource(uri: String, _: Context) -> Result<Outcome, Failure> {
        Err(not_found(&uri))
    }

    fn get_prompt(name: String, _: String, _: Context) -> Result<Outcome, Failure> {
        Err(not_found(&name))
    }

    fn complete(
        _: Reference,
        argument: String,
        _: String,
        _: String,
        _: Context,
    ) -> Result<Outcome, Failure> {
        Err(not_found(&argument))
    }

    fn pending(_: Context) -> Result<Outcome, Failure> {
        Ok(Outcome {
            answer: Ok("null".into()),
            changed: Vec::new(),
            follow_ups: Vec::new(),
            wants_vector: None,
        })
    }

    fn claim(id: String, _: u32, _: Context) -> Result<Outcome, Failure> {
        Err(not_found(&id))
    }

    fn answer(id: String, _: String, _: Context) -> Result<Outcome, Failure> {
        Err(not_found(&id))
    }

    fn parse_registry(_text: String) -> Result<String, Failure> {
        Ok("{}".to_owned())
    }

    fn edit_registry(text: String, _change: String) -> Result<String, Failure> {
        Ok(text)
    }
}

fn parse(text: &str) -> Result<Value, Failure> {
    serde_json::from_str(if text.is_empty() { "{}" } else { text })
        .map_err(|error| Failure { code: FailureCode::InvalidRequest, message: error.to_string() })
}

fn not_found(name: &str) -> Failure {
    Failure { code: FailureCode::NotFound, message: format!("nothing is named `{name}`") }
}

export!(Component);
