//! A repository with one agent's documents, and the calls that the targets make in it.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use agent_memory_core::context::Context;
use agent_memory_core::storage::{Area, Place};
use agent_memory_core::toolbox::{self, Failure};
use agent_memory_storage_memory::MemoryStorage;
use serde_json::{Value, json};

use crate::document::line_count;

/// The granted repository.
pub const ROOT: &str = "/project";
/// The agent of all calls.
pub const AGENT: &str = "aristotle";
/// The date of its log.
pub const DATE: &str = "2025-01-20";
/// The path of its schema in the tree.
pub const SCHEMA: &str = "aristotle/_schema.md";
/// The path of its summary.
pub const SUMMARY: &str = "aristotle/_summary.md";
/// The path of its log.
pub const LOG: &str = "aristotle/logs/2025-01-20.md";

/// The context of calls of `sessions`. The target `arguments` has others, too.
pub const CONTEXT: &str =
    r#"{"settings": {"toolsets": ["sessions"]}, "now": "2025-01-20T10:00:00.000Z", "seed": 1}"#;

/// The context of calls of `records`.
pub const RECORDS_CONTEXT: &str =
    r#"{"settings": {"toolsets": ["records"]}, "now": "2025-01-20T10:00:00.000Z", "seed": 1}"#;

/// The context of calls of `stores`.
pub const STORES_CONTEXT: &str =
    r#"{"settings": {"toolsets": ["stores"]}, "now": "2025-01-20T10:00:00.000Z", "seed": 1}"#;

const ERRORS: [&str; 28] = [
    "InvalidInput",
    "InvalidSection",
    "InvalidContent",
    "RepositoryNotAllowed",
    "SessionNotFound",
    "SchemaMissing",
    "SchemaInvalid",
    "MalformedLog",
    "Busy",
    "Conflict",
    "PermissionDenied",
    "StorageError",
    "INVALID_INPUT",
    "NOT_FOUND",
    "STORAGE_ERROR",
    "PERMISSION_ERROR",
    "CORRUPTED_DATA",
    "LIMIT_EXCEEDED",
    "INTERNAL_ERROR",
    "BUSY",
    "CONFLICT",
    "INVALID_PATH",
    "STORE_NOT_FOUND",
    "CATEGORY_NOT_FOUND",
    "MEMORY_NOT_FOUND",
    "MEMORY_EXPIRED",
    "MEMORY_EXISTS",
    "DESTINATION_EXISTS",
];

/// A repository in memory.
pub struct Repository {
    storage: MemoryStorage,
    place: Place,
}

/// A tool's error.
#[derive(Debug)]
pub struct ToolError {
    /// A documented code, never `Internal`.
    pub code: String,
    /// The message.
    pub message: String,
    /// The number of arguments that it names as invalid.
    pub details: usize,
}

/// The answer of a tool.
pub type Answer = Result<Value, ToolError>;

impl Repository {
    /// A repository with these documents.
    pub fn with(documents: &[(&str, &[u8])]) -> Self {
        Self::at(Place::repository(ROOT), documents)
    }

    /// A directory of records with one file.
    pub fn with_records(file: &str, contents: &[u8]) -> Self {
        Self::at(Place::named("records"), &[(file, contents)])
    }

    /// The store `team` with these files.
    pub fn with_store(files: &[(&str, &[u8])]) -> Self {
        let store = Self::at(Place::in_group("stores", "team"), files);
        store.storage.grant_family("stores");
        store
    }

    fn at(place: Place, documents: &[(&str, &[u8])]) -> Self {
        let storage = MemoryStorage::new();
        storage.grant(place.clone());
        for (path, contents) in documents {
            storage.put(&place, Area::Documents, path, *contents);
        }
        Self { storage, place }
    }

    /// All documents by path.
    pub fn documents(&self) -> BTreeMap<String, Vec<u8>> {
        self.storage.documents(&self.place, Area::Documents)
    }

    /// The text of a document that a tool has written.
    ///
    /// # Panics
    ///
    /// If it does not exist or is not UTF-8.
    pub fn text(&self, path: &str) -> String {
        let contents = self.documents().remove(path).expect("the document is there");
        String::from_utf8(contents).expect("what is written is UTF-8")
    }

    /// Calls a tool as the agent, with these arguments beside `agent_name` and `repo_root`.
    ///
    /// # Panics
    ///
    /// As [`call_as`](Self::call_as), and if the request is refused.
    pub fn call(&self, tool: &str, arguments: &[(&str, &str)]) -> Answer {
        let mut all = json!({"agent_name": AGENT, "repo_root": ROOT});
        all.as_object_mut()
            .expect("an object")
            .extend(arguments.iter().map(|(name, value)| ((*name).to_owned(), json!(value))));
        self.call_as(tool, &all.to_string(), CONTEXT).expect("the request is not refused")
    }

    /// Calls a tool.
    ///
    /// # Panics
    ///
    /// - If the answer is an error without a documented code.
    /// - If documents changed, but the answer is an error or the tool only reads. Only in a store may
    ///   a refused call mend an index.
    pub fn call_as(&self, tool: &str, arguments: &str, context: &str) -> Result<Answer, Failure> {
        let context = serde_json::from_str(context).expect("a context");
        self.call_in(tool, arguments, &context)
    }

    /// Like [`call_as`](Self::call_as), with a context that was read already.
    ///
    /// # Panics
    ///
    /// As [`call_as`](Self::call_as).
    pub fn call_in(
        &self,
        tool: &str,
        arguments: &str,
        context: &Context,
    ) -> Result<Answer, Failure> {
        self.storage.begin_call();
        let mut before = self.documents();
        let called = toolbox::call_tool(&self.storage, tool, arguments, context);
        let succeeded = called.as_ref().is_ok_and(|outcome| outcome.answer.is_ok());
        let listed = tools().iter().find(|listed| listed["name"] == tool);
        let may_write = listed.is_none_or(|tool| tool["annotations"]["readOnlyHint"] == false);
        if !(succeeded && may_write) {
            let mut after = self.documents();
            let mends =
                may_write && matches!(&self.place, Place::Named { label, .. } if label == "stores");
            if mends {
                let indexes = |path: &String| path.ends_with("index.yaml");
                after.retain(|path, _| !indexes(path));
                before.retain(|path, _| !indexes(path));
            }
            assert!(before == after, "{tool} must not change anything: {called:?}");
        }
        let outcome = called?;
        let value: Value = serde_json::from_str(outcome.json()).expect("a result is JSON");
        if outcome.answer.is_ok() {
            return Ok(Ok(value));
        }
        // `sessions` has the code in `error`, `records` in `error.code`.
        let (error, code) =
            if value["error"].is_object() { (&value["error"], "code") } else { (&value, "error") };
        let text = |field| error[field].as_str().unwrap_or_default().to_owned();
        let details = error["details"].as_array().map_or(0, Vec::len);
        let error = ToolError { code: text(code), message: text("message"), details };
        let is_known = ERRORS.contains(&error.code.as_str()) && !error.message.is_empty();
        assert!(is_known, "not a documented error: {value}");
        Ok(Err(error))
    }

    /// The messages of the errors that `validate` finds in a document.
    ///
    /// # Panics
    ///
    /// If a finding names a line that the document does not have.
    pub fn errors_in(&self, path: &str) -> Vec<String> {
        let lines = self.documents().get(path).map_or(1, |contents| line_count(contents));
        let file = format!(".github/agent-memory/{path}");
        let mut errors = Vec::new();
        let mut arguments = json!({ "repo_root": ROOT });
        loop {
            let page = self.call_as("validate", &arguments.to_string(), CONTEXT);
            let page = page.expect("the request is not refused").expect("a page of findings");
            for finding in page["findings"].as_array().expect("findings") {
                if finding["file"] == file.as_str() {
                    let line = finding["line"].as_u64().expect("a line") as usize;
                    assert!((1..=lines).contains(&line), "no such line: {finding}");
                    if finding["severity"] == "error" {
                        errors.push(finding["message"].as_str().expect("a message").to_owned());
                    }
                }
            }
            match page.get("cursor") {
                Some(cursor) => arguments["cursor"] = cursor.clone(),
                None => return errors,
            }
        }
    }
}

impl ToolError {
    /// The first line number in the message.
    pub fn line(&self) -> Option<usize> {
        let (_, rest) = self.message.split_once("line ")?;
        rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
    }
}

/// All tools, as the core lists them.
pub fn tools() -> &'static [Value] {
    static TOOLS: OnceLock<Vec<Value>> = OnceLock::new();
    TOOLS.get_or_init(|| {
        let described: Value = serde_json::from_str(&toolbox::describe()).expect("JSON");
        let toolsets = described["toolsets"].as_array().expect("toolsets").clone();
        let tools = toolsets.into_iter().flat_map(|of| of["tools"].as_array().cloned());
        tools.flatten().collect()
    })
}
