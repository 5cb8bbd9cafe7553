//! Tests that cannot be cases of the conformance suite: they count writes, or need more documents
//! than fit in a case.

use std::cell::Cell;
use std::rc::Rc;

use agent_memory_core::storage::database::{Connection, Kind};
use agent_memory_core::storage::{
    Area, Change, CommitError, Document, Documents, Entry, Error, Place, Status, Storage, Tree,
    Writer,
};
use agent_memory_core::toolbox;
use agent_memory_storage_memory::MemoryStorage;
use serde_json::{Value, json};

const ROOT: &str = "/project";

/// Storage in memory that counts the committed changes.
struct CountingStorage {
    memory: MemoryStorage,
    changes: Rc<Cell<usize>>,
}

struct CountingTree<'a>(Box<dyn Tree + 'a>, Rc<Cell<usize>>);
struct CountingWriter<'a>(Box<dyn Writer + 'a>, Rc<Cell<usize>>);

impl Storage for CountingStorage {
    fn open(&self, place: &Place) -> Result<Box<dyn Tree + '_>, Error> {
        Ok(Box::new(CountingTree(self.memory.open(place)?, Rc::clone(&self.changes))))
    }

    fn list_repositories(&self) -> Result<Vec<String>, Error> {
        self.memory.list_repositories()
    }

    fn list_places(&self, label: &str) -> Result<Vec<String>, Error> {
        self.memory.list_places(label)
    }

    fn create_place(&self, place: &Place) -> Result<Box<dyn Tree + '_>, Error> {
        Ok(Box::new(CountingTree(self.memory.create_place(place)?, Rc::clone(&self.changes))))
    }

    fn open_database(
        &self,
        place: &Place,
        name: &str,
        kind: Kind,
        create: bool,
    ) -> Result<Box<dyn Connection + '_>, Error> {
        self.memory.open_database(place, name, kind, create)
    }
}

impl Documents for CountingTree<'_> {
    fn stat(&self, area: Area, path: &str) -> Result<Option<Status>, Error> {
        self.0.stat(area, path)
    }

    fn read(&self, area: Area, path: &str, max_bytes: u64) -> Result<Option<Document>, Error> {
        self.0.read(area, path, max_bytes)
    }

    fn list(&self, area: Area, directory: &str) -> Result<Option<Vec<Entry>>, Error> {
        self.0.list(area, directory)
    }
}

impl Tree for CountingTree<'_> {
    fn location(&self) -> String {
        self.0.location()
    }

    fn lock(&self, scope: Option<&str>) -> Result<Box<dyn Writer + '_>, Error> {
        Ok(Box::new(CountingWriter(self.0.lock(scope)?, Rc::clone(&self.1))))
    }
}

impl Writer for CountingWriter<'_> {
    fn commit(&self, changes: &[Change]) -> Result<Vec<Option<String>>, CommitError> {
        self.1.set(self.1.get() + changes.len());
        self.0.commit(changes)
    }
}

fn repository() -> CountingStorage {
    let memory = MemoryStorage::new();
    memory.grant(Place::repository(ROOT));
    CountingStorage { memory, changes: Rc::default() }
}

impl CountingStorage {
    fn put(&self, path: &str, text: &str) {
        self.memory.put(&Place::repository(ROOT), Area::Documents, path, text);
    }

    /// Makes a call as a caller that may use these agents, or all agents if `agents` is `None`.
    fn call_as(&self, agents: Option<&[&str]>, tool: &str, mut arguments: Value) -> Value {
        let mut context = json!({
            "settings": {"toolsets": ["sessions"]}, "now": "2025-01-20T10:00:00.000Z",
            "seed": 1,
        });
        if let Some(agents) = agents {
            context["agents"] = json!(agents);
        }
        arguments["repo_root"] = json!(ROOT);
        let context = serde_json::from_value(context).expect("a context");
        let outcome = toolbox::call_tool(self, tool, &arguments.to_string(), &context);
        serde_json::from_str(outcome.expect("an outcome").json()).expect("JSON")
    }

    fn call(&self, tool: &str, arguments: Value) -> Value {
        self.call_as(None, tool, arguments)
    }

    /// Runs `validate` to its last page. Returns the files of all findings, and `done` of each
    /// page.
    fn validate(&self) -> (Vec<String>, Vec<u64>) {
        let mut files = Vec::new();
        let mut done = Vec::new();
        let mut arguments = json!({});
        loop {
            let page = self.call("validate", arguments);
            let findings = page["findings"].as_array().expect("findings");
            files.extend(findings.iter().map(|finding| finding["file"].to_string()));
            done.push(page["done"].as_u64().expect("a number"));
            match page.get("cursor") {
                Some(cursor) => arguments = json!({ "cursor": cursor }),
                None => {
                    assert_eq!(page["done"], page["total"]);
                    return (files, done);
                }
            }
        }
    }
}

#[test]
fn an_update_that_changes_nothing_writes_nothing() {
    let repository = repository();
    let update = |section: &str, content: &str, mode: &str| {
        let changes = repository.changes.get();
        let arguments = json!({
            "agent_name": "ada", "section": section, "content": content, "mode": mode,
        });
        let result = repository.call("update_summary", arguments);
        assert_eq!(result.get("error"), None, "{result}");
        repository.changes.get() - changes
    };
    assert_eq!(update("Overview", "", "replace"), 1, "the template is created");
    assert_eq!(update("Overview", "", "replace"), 0, "it is empty already");
    assert_eq!(update("Overview", "text", "replace"), 1);
    assert_eq!(update("Overview", "text", "replace"), 0, "it stands there already");
    assert_eq!(update("Overview", "\r\ntext\r\n", "replace"), 0, "the stored form is the same");
    assert_eq!(update("Overview", "text", "append"), 1, "an entry counts each time");
    assert_eq!(update("Risks", "", "replace"), 1, "the section is added");
    assert_eq!(update("Risks", "", "replace"), 0);
}

#[test]
fn an_existing_session_is_opened_without_a_change() {
    let repository = repository();
    let start = || repository.call("start_session", json!({"agent_name": "ada"}));
    assert_eq!(start()["created"], true);
    assert_eq!(repository.changes.get(), 3);
    assert_eq!(start()["created"], false);
    assert_eq!(repository.changes.get(), 3);
}

#[test]
fn a_reading_tool_never_writes() {
    for (path, text) in [("ada/notes.md", "x"), ("ada/logs/2025-01-20.md", ""), ("ada", "x")] {
        let repository = repository();
        repository.put(path, text);
        for tool in ["read_summary", "list_sessions", "validate"] {
            let agent = json!({"agent_name": "ada"});
            repository.call(tool, if tool == "validate" { json!({}) } else { agent });
            assert_eq!(repository.changes.get(), 0, "{tool}");
        }
    }
}

#[test]
fn every_document_of_many_is_examined_once_and_in_order() {
    let repository = repository();
    let mut wrong = Vec::new();
    for agent in ["ada", "bob", "eve"] {
        repository.put(&format!("{agent}/_schema.md"), "# Agent Memory Schema v1\n\n## A\n");
        for day in 1..=28 {
            for month in 1..=12 {
                let path = format!("{agent}/logs/2025-{month:02}-{day:02}.md");
                repository.put(&path, "no header");
                wrong.push(format!("\".github/agent-memory/{path}\""));
            }
        }
    }
    wrong.sort();
    let (files, done) = repository.validate();
    assert_eq!(files, wrong);
    assert!(done.len() > 1 && done.is_sorted(), "{done:?}");
    assert_eq!(done.last(), Some(&(wrong.len() as u64 + 3)));
}

#[test]
fn a_page_has_few_documents_if_they_are_long() {
    let repository = repository();
    repository.put("ada/_schema.md", "# Agent Memory Schema v1\n\n## A\n");
    for day in 1..=9 {
        repository.put(&format!("ada/logs/2025-01-0{day}.md"), &"a".repeat(1 << 20));
    }
    let (files, done) = repository.validate();
    assert_eq!(files.len(), 9);
    assert!(done.len() >= 3, "at most a few MiB a page: {done:?}");
}

#[test]
fn a_file_that_is_removed_between_two_pages_is_skipped() {
    let repository = repository();
    repository.put("ada/_summary.md", "");
    for cursor in ["ada/_schema.md", "ada/_summary.md", "ada/logs/2025-01-20.md"] {
        let page = repository.call("validate", json!({ "cursor": cursor }));
        assert_eq!((&page["total"], page.get("cursor")), (&json!(1), None), "{page}");
        assert_eq!(page["findings"], json!([]));
    }
}

#[test]
fn a_caller_with_access_to_one_agent_learns_nothing_of_another() {
    let repository = repository();
    for agent in ["ada", "plato"] {
        repository.put(&format!("{agent}/logs/2025-01-20.md"), "");
    }
    let update = json!({"agent_name": "plato", "section": "A", "content": "x", "mode": "append"});
    let refused = repository.call_as(Some(&["ada"]), "update_summary", update);
    assert_eq!(refused["error"], "PermissionDenied");
    let list = json!({"agent_name": "plato"});
    let refused = repository.call_as(Some(&["ada"]), "list_sessions", list);
    assert_eq!(refused["error"], "PermissionDenied");
    let page = repository.call_as(Some(&["ada"]), "validate", json!({}));
    assert!(page.to_string().contains("ada") && !page.to_string().contains("plato"), "{page}");
    assert_eq!(repository.changes.get(), 0);
}

/// The tools of the toolset delete nothing, by design. Only `forget.rs` may delete, for
/// `forget_memory`.
#[test]
fn no_tool_of_sessions_deletes() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/toolsets/sessions");
    let mut puts = 0;
    for file in std::fs::read_dir(folder).expect("the toolset's folder") {
        let path = file.expect("a file").path();
        if path.ends_with("forget.rs") {
            continue;
        }
        let text = std::fs::read_to_string(path).expect("readable");
        // This pattern matches a deletion to report it, and deletes nothing.
        let told = text.matches("Change::Delete { path, .. }").count();
        assert_eq!(text.matches("Change::Delete").count(), told, "{text}");
        puts += text.matches("Change::Put").count();
    }
    assert!(puts > 0, "the changes are made elsewhere");
}
