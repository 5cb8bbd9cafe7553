//! The description of the toolset.

use crate::{DATABASE, PLACE, RESOURCE};
use serde_json::{Value, json};

pub fn description() -> Value {
    json!({ "toolsets": [{
        "name": "notes",
        "title": "Notes",
        "description": "Lines in a document, counted in a database",
        "default": true,
        "settings": [
            {
                "name": "directory", "schema": { "type": "string", "minLength": 1 },
                "default_text": "~/notes", "help": "Directory of the notes", "flag": "notes-dir",
                "environment": ["NOTES_DIR"], "is_path": true, "is_secret": false,
            },
            {
                "name": "mark", "schema": { "type": "string", "enum": ["dash", "star"] },
                "default": "dash", "default_text": "dash", "help": "Mark at the start of a note",
                "values": { "dash": "A `-`", "star": "A `*`" },
                "flag": "notes-mark", "environment": [], "is_path": false, "is_secret": false,
            },
        ],
        "places": [{
            "label": PLACE, "title": "Directory of the notes", "kind": "directory",
            "is_private": true, "setting": "directory", "default": "~/notes",
            "databases": [{ "name": DATABASE, "dialects": ["sqlite"] }],
            "missing": "this host has no directory for notes: set one",
        }],
        "tools": [
            tool("keep_note", "Keep a note", false, text("text"), count()),
            tool("read_notes", "Read the notes", true, nothing(), text("text")),
            tool("count_notes", "Count the notes", true, nothing(), count()),
        ],
        "resources": [{
            "uri": RESOURCE, "name": "all", "title": "All notes",
            "description": "The notes, as Markdown.", "mimeType": "text/markdown",
        }],
        "resource_templates": [],
        "prompts": [],
    }] })
}

fn tool(name: &str, title: &str, reads: bool, input: Value, output: Value) -> Value {
    json!({
        "name": name, "qualified_name": format!("notes_{name}"), "shared_with": [],
        "title": title, "description": format!("{title}."),
        "inputSchema": input, "outputSchema": output,
        "annotations": {
            "readOnlyHint": reads, "destructiveHint": false, "idempotentHint": reads,
            "openWorldHint": false,
        },
        "audience": "model",
        "always_visible": false,
    })
}

fn object(name: &str, of: Value) -> Value {
    json!({
        "type": "object", "properties": { name: of }, "required": [name],
        "additionalProperties": false,
    })
}

fn text(name: &str) -> Value {
    object(name, json!({ "type": "string" }))
}

fn count() -> Value {
    object("count", json!({ "type": "integer" }))
}

fn nothing() -> Value {
    json!({ "type": "object", "properties": {}, "additionalProperties": false })
}
