//! A component that misbehaves on request, so that tests can see what a host makes of it.
//!
//! It has the product's world and is built as the product is. Each tool is one misdeed, named after
//! it; the arguments are `{"repo_root": path}` where the tool needs a tree, and `append` takes a
//! `line` as well.

#![cfg(target_arch = "wasm32")]
#![allow(missing_docs)]

mod misdeeds;

wit_bindgen::generate!({ path: "../../wit", world: "memory" });

use exports::agent_memory::core::toolbox::{Failure, FailureCode, FollowUp, Guest, Outcome};
use serde_json::{Value, json};

/// Each tool, and whether it says that it only reads.
const TOOLS: [(&str, bool); 33] = [
    ("add-row", false),
    ("append", false),
    ("append-without-lock", true),
    ("attach", false),
    ("babble", true),
    ("complain", true),
    ("count", true),
    ("endless-statement", false),
    ("flood", true),
    ("grow", true),
    ("hoard", true),
    ("keep", false),
    ("lock-after-commit", false),
    ("lock-after-rollback", false),
    ("lock-in-transaction", false),
    ("lock-twice", false),
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
];

struct Component;

impl Guest for Component {
    fn list_tools(_settings: String) -> Result<String, Failure> {
        let object = json!({ "type": "object" });
        let tools: Vec<Value> = TOOLS
            .iter()
            .map(|(name, read_only)| {
                json!({
                    "name": name, "title": name, "description": name,
                    "inputSchema": object, "outputSchema": object,
                    "annotations": {
                        "readOnlyHint": read_only, "destructiveHint": false,
                        "idempotentHint": false, "openWorldHint": false,
                    },
                    "audience": "model",
                })
            })
            .collect();
        Ok(Value::from(tools).to_string())
    }

    fn call_tool(name: String, arguments: String, context: String) -> Result<Outcome, Failure> {
        let arguments = parse(&arguments)?;
        let context = parse(&context)?;
        if let Some(answer) = misdeeds::answer(&name) {
            return answer;
        }
        let text = |name: &str| arguments[name].as_str().unwrap_or_default().to_owned();
        let (result, is_error) = match misdeeds::commit(&name, text, &context) {
            Some(Ok(result)) => (result, false),
            Some(Err(error)) => {
                let code = format!("{:?}", error.code);
                (json!({ "error": code, "message": error.message }), true)
            }
            None => return Err(not_found(&name)),
        };
        Ok(Outcome {
            result: result.to_string(),
            is_error,
            changed: Vec::new(),
            follow_ups: Vec::new(),
        })
    }

    fn list_resources(_context: String) -> Result<String, Failure> {
        Ok("[]".to_owned())
    }

    fn list_resource_templates(_context: String) -> Result<String, Failure> {
        Ok("[]".to_owned())
    }

    fn read_resource(uri: String, _context: String) -> Result<Outcome, Failure> {
        Err(not_found(&uri))
    }

    fn list_prompts(_context: String) -> Result<String, Failure> {
        Ok("[]".to_owned())
    }

    fn get_prompt(name: String, _: String, _: String) -> Result<String, Failure> {
        Err(not_found(&name))
    }

    fn complete(_: String, _: String, _: String) -> Result<String, Failure> {
        Ok("[]".to_owned())
    }

    fn pending(_context: String) -> Result<Vec<FollowUp>, Failure> {
        Ok(Vec::new())
    }

    fn answer(id: String, _: String, _: String) -> Result<Outcome, Failure> {
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
