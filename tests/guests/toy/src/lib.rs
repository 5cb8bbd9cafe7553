//! The toolset `notes`: a document of notes, and a database that counts them.
//!
//! A host needs no code for a new toolset. The tests run this one in the native host, over MCP, on the
//! command line and in Node, and none of these mentions it.

#![cfg(target_arch = "wasm32")]
#![allow(missing_docs)]

mod description;

wit_bindgen::generate!({
    path: ["../../../wit/storage", "../../../wit/toolbox"],
    world: "agent-memory:toolbox/memory",
    generate_all,
});

use agent_memory::storage::database::{self, Connection, Kind, Mode, Statement, Value as Column};
use agent_memory::storage::documents::{self, Area, Change, Document, Put, Tree};
use agent_memory::storage::types::{Error, ErrorCode, NamedPlace, Place};
use exports::agent_memory::toolbox::toolbox::{
    Category, Context, Failure, FailureCode, Guest, Outcome, Reference, Refusal,
};
use serde_json::{Value, json};

const PLACE: &str = "notes";
const DATABASE: &str = "notes.db";
const DOCUMENT: &str = "notes.md";
const RESOURCE: &str = "notes://all";

struct Toy;

export!(Toy);

impl Guest for Toy {
    fn describe() -> String {
        description::description().to_string()
    }

    fn call_tool(name: String, arguments: String, context: Context) -> Result<Outcome, Failure> {
        let arguments: Value = serde_json::from_str(&arguments).map_err(|error| Failure {
            code: FailureCode::InvalidRequest,
            message: error.to_string(),
        })?;
        let mut changed = Vec::new();
        let answer = match name.strip_prefix("notes_").unwrap_or(&name) {
            "keep_note" => match arguments["text"].as_str() {
                Some(text) if !text.trim().is_empty() => {
                    changed.push(RESOURCE.to_owned());
                    keep(text, mark(&context)).map_err(refusal)
                }
                _ => Err(refused(Category::Invalid, "NO_TEXT", "`text` is missing: say something")),
            },
            "read_notes" => read().map(|text| json!({ "text": text })).map_err(refusal),
            "count_notes" => count().map(|count| json!({ "count": count })).map_err(refusal),
            _ => return Err(not_found(&name)),
        };
        let answer = answer.map(|result| result.to_string());
        Ok(Outcome { answer, changed, follow_ups: Vec::new(), wants_vector: None })
    }

    fn read_resource(uri: String, _: Context) -> Result<Outcome, Failure> {
        if uri != RESOURCE {
            return Err(not_found(&uri));
        }
        let held = |text| json!([{ "uri": uri, "mimeType": "text/markdown", "text": text }]);
        let answer = read().map(|text| held(text).to_string()).map_err(refusal);
        Ok(Outcome { answer, changed: Vec::new(), follow_ups: Vec::new(), wants_vector: None })
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

    fn parse_registry(_: String) -> Result<String, Failure> {
        Err(not_found("registry"))
    }

    fn edit_registry(_: String, _: String) -> Result<String, Failure> {
        Err(not_found("registry"))
    }
}

/// The mark at the start of a note: the setting `mark`.
fn mark(context: &Context) -> &'static str {
    let own = context.settings.of_toolsets.iter().find(|own| own.toolset == "notes");
    let own: Value = own.and_then(|own| serde_json::from_str(&own.values).ok()).unwrap_or_default();
    if own["mark"] == "star" { "*" } else { "-" }
}

fn place() -> Place {
    Place::Named(NamedPlace { label: PLACE.to_owned(), name: String::new() })
}

/// Adds a line to the document and a row to the database, under one lock.
fn keep(text: &str, mark: &str) -> Result<Value, Error> {
    let tree = documents::open(&place())?;
    let writer = tree.lock(None)?;
    let (mut contents, expects) = match document(&tree)? {
        Some(document) => (document.contents, Some(document.version)),
        None => (Vec::new(), None),
    };
    contents.extend_from_slice(format!("{mark} {text}\n").as_bytes());
    let put = Put { area: Area::Documents, path: DOCUMENT.to_owned(), contents, expects };
    let database = database::open(&place(), DATABASE, Kind::Kept, true)?;
    let transaction = database.begin(&Mode::Write(None))?;
    let table = "CREATE TABLE IF NOT EXISTS notes (text TEXT NOT NULL)";
    transaction.execute(&[
        statement(table, Vec::new()),
        statement("INSERT INTO notes VALUES (?1)", vec![Column::Text(text.to_owned())]),
    ])?;
    writer.commit(&[Change::Put(put)]).map_err(|failed| failed.error)?;
    drop(writer);
    transaction.commit()?;
    Ok(json!({ "count": rows(&database)? }))
}

fn document(tree: &Tree) -> Result<Option<Document>, Error> {
    tree.read(Area::Documents, DOCUMENT, 1 << 20)
}

fn read() -> Result<String, Error> {
    let document = document(&documents::open(&place())?)?;
    let contents = document.map(|document| document.contents).unwrap_or_default();
    Ok(String::from_utf8_lossy(&contents).into_owned())
}

fn count() -> Result<i64, Error> {
    match database::open(&place(), DATABASE, Kind::Kept, false) {
        Err(error) if error.code == ErrorCode::NotFound => Ok(0),
        database => rows(&database?),
    }
}

fn rows(database: &Connection) -> Result<i64, Error> {
    let rows = database.query(&statement("SELECT count(*) FROM notes", Vec::new()), 1)?.rows;
    match rows[0][0] {
        Column::Integer(count) => Ok(count),
        _ => unreachable!("a count is a number"),
    }
}

fn statement(sql: &str, parameters: Vec<Column>) -> Statement {
    Statement { sql: sql.to_owned(), parameters }
}

fn refusal(error: Error) -> Refusal {
    let category = match error.code {
        ErrorCode::Busy => Category::Busy,
        ErrorCode::NotGranted | ErrorCode::ReadOnly => Category::Denied,
        _ => Category::Storage,
    };
    refused(category, "STORAGE", &error.message)
}

fn refused(category: Category, code: &str, message: &str) -> Refusal {
    let json = json!({ "error": { "code": code, "message": message } }).to_string();
    Refusal { category, code: code.to_owned(), message: message.to_owned(), json }
}

fn not_found(name: &str) -> Failure {
    let message = format!("nothing is named `{name}`");
    Failure { code: FailureCode::NotFound, message }
}
