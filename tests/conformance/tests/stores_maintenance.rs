//! Maintenance of stores: many files, and calls that were interrupted.

use agent_memory_conformance::in_memory::InMemoryStorage;
use agent_memory_core::context::Context;
use agent_memory_core::storage::{Area, Place};
use agent_memory_core::toolbox;
use serde_json::{Value, json};

fn team() -> Place {
    Place::in_group("stores", "team")
}

fn storage() -> InMemoryStorage {
    let storage = InMemoryStorage::new();
    storage.grant_family("stores");
    storage.grant(team());
    storage
}

fn put(storage: &InMemoryStorage, path: &str, text: &str) {
    storage.put(&team(), Area::Documents, path, text);
}

fn text(storage: &InMemoryStorage, path: &str) -> String {
    let documents = storage.documents(&team(), Area::Documents);
    String::from_utf8(documents[path].clone()).expect("UTF-8")
}

fn context() -> Context {
    let context = json!({
        "settings": {"toolsets": ["stores"]}, "now": "2025-01-20T10:00:00.000Z",
        "seed": 1,
    });
    serde_json::from_value(context).expect("a context")
}

fn call(storage: &InMemoryStorage, tool: &str, mut arguments: Value) -> Value {
    storage.begin_call();
    arguments["store"] = json!("team");
    let outcome = toolbox::call_tool(storage, tool, &arguments.to_string(), &context());
    serde_json::from_str(outcome.expect("an outcome").json()).expect("JSON")
}

const EXPIRED: &str = "---\nexpires_at: 2025-01-01\n---\nOld";

#[test]
fn a_prune_and_a_reindex_take_500_files_a_call_and_go_on_at_the_cursor() {
    let storage = storage();
    for number in 0..1_200 {
        let expiry = if number % 3 == 0 { EXPIRED } else { "New" };
        put(&storage, &format!("c{}/n{number:04}.md", number % 4), expiry);
    }
    let mut pruned = 0;
    let mut arguments = json!({});
    let mut remaining = Vec::new();
    loop {
        let page = call(&storage, "prune_memories", arguments.clone());
        pruned += page["pruned_count"].as_u64().expect("a count");
        remaining.push(page["remaining"].as_u64().expect("a count"));
        let Some(cursor) = page.get("cursor") else { break };
        arguments["cursor"] = cursor.clone();
    }
    assert_eq!((pruned, remaining), (400, vec![700, 200, 0]));

    let mut arguments = json!({});
    let mut remaining = Vec::new();
    loop {
        let page = call(&storage, "reindex_store", arguments.clone());
        assert_eq!(page["warnings"], json!([]), "{page}");
        remaining.push(page["remaining"].as_u64().expect("a count"));
        let Some(cursor) = page.get("cursor") else { break };
        arguments["cursor"] = cursor.clone();
    }
    assert_eq!(remaining, [304, 0]);
    let listed = call(&storage, "list_memories", json!({"recursive": true, "limit": 1000}));
    assert_eq!((&listed["count"], &listed["has_more"]), (&json!(800), &json!(false)));
    let counts = listed["subcategories"].as_array().expect("subcategories");
    assert!(counts.iter().all(|of| of["memory_count"] == 200), "{counts:?}");
}

#[test]
fn a_writer_reads_at_most_a_hundred_files_that_an_index_lacks() {
    let storage = storage();
    for number in 0..250 {
        put(&storage, &format!("a/n{number:04}.md"), "x");
    }
    let add = |path: &str| call(&storage, "add_memory", json!({"path": path, "content": "x"}));
    let count = || call(&storage, "list_memories", json!({"category": "a"}))["count"].clone();
    let warnings = add("a/one")["warnings"].clone();
    let warning = "150 more files in `a` are not in its index: call `reindex_store`";
    assert_eq!((warnings, count()), (json!([warning]), json!(101)));
    add("a/two");
    assert_eq!(add("a/three")["warnings"], json!([]));
    let listed = call(&storage, "list_memories", json!({"category": "a", "limit": 1000}));
    assert_eq!(listed["count"], 253);
}

/// A move that stopped after its intent was written.
fn interrupted() -> InMemoryStorage {
    let storage = storage();
    put(&storage, "a/one.md", "One");
    put(&storage, "b/two.md", "Two");
    assert_eq!(call(&storage, "reindex_store", json!({}))["warnings"], json!([]));
    let before = storage.documents(&team(), Area::Documents);

    // Between its two commits, a call keeps its intent: the changes that are still to be made.
    let moved = call(&storage, "move_memory", json!({"from_path": "a/one", "to_path": "b/one"}));
    assert_eq!(moved["warnings"], json!([]));
    let after = storage.documents(&team(), Area::Documents);
    let intent = intent(&before, &after);
    let storage = self::storage();
    for (path, contents) in before {
        storage.put(&team(), Area::Documents, &path, contents);
    }
    storage.put(&team(), Area::Bookkeeping, "intent.json", intent.to_string());
    storage
}

type Documents = std::collections::BTreeMap<String, Vec<u8>>;

/// The intent of a move of `a/one` to `b/one`, as the tool writes it.
fn intent(before: &Documents, after: &Documents) -> Value {
    use agent_memory_core::storage::version_of;
    let edit = |path: &str| {
        let text = String::from_utf8(after[path].clone()).expect("UTF-8");
        json!({"edit": {
            "path": path, "before": version_of(&before[path]), "after": version_of(&after[path]),
            "splices": [{"start": 0, "end": before[path].len(), "text": text}],
        }})
    };
    let rename =
        json!({"rename": {"from": "a/one.md", "to": "b/one.md", "version": version_of(b"One")}});
    json!({
        "tool": "move_memory",
        "steps": [rename, edit("a/index.yaml"), edit("b/index.yaml"), edit("index.yaml")],
    })
}

#[test]
fn an_interrupted_call_is_finished_by_the_next_writer() {
    let storage = interrupted();
    let added = call(&storage, "add_memory", json!({"path": "c/three", "content": "Three"}));
    assert_eq!(added["warnings"], json!([]));
    assert_eq!(text(&storage, "b/one.md"), "One");
    let listed = call(&storage, "list_memories", json!({"recursive": true}));
    let paths = listed["memories"].as_array().expect("memories").iter().map(|of| &of["path"]);
    assert!(paths.eq(["b/one", "b/two", "c/three"]), "{listed}");
    assert!(storage.documents(&team(), Area::Bookkeeping).is_empty());
}

fn forget(storage: &InMemoryStorage, arguments: Value) -> Value {
    storage.begin_call();
    let mut context = context();
    context.settings = serde_json::from_value(json!({"toolsets": ["stores", "memory"]})).unwrap();
    let outcome = toolbox::call_tool(storage, "forget_memory", &arguments.to_string(), &context);
    serde_json::from_str(outcome.expect("an outcome").json()).expect("JSON")
}

#[test]
fn a_text_or_a_memory_is_forgotten_in_records_that_were_set_aside() {
    let contents = "The key\r\nis hunter2.\nextra";
    let create = json!({"create": {"path": "b/key.md", "contents": contents, "after": "1f4e"}});
    let index = json!({"create": {"path": "b/index.yaml", "contents": "", "after": "1f4e"}});
    let record = json!({"tool": "import_memories", "steps": [create, index]}).to_string();
    for (arguments, is_found) in [
        (json!({"text": "key\nis hunter2"}), true),
        (json!({"text": "key is hunter2"}), false),
        (json!({"text": "nextra"}), false),
        (json!({"text": "create"}), false),
        (json!({"text": "1f4e"}), false),
        (json!({"path": "b/key", "store": "team"}), true),
        (json!({"path": "key", "store": "team"}), false),
    ] {
        let storage = storage();
        storage.put(&team(), Area::Bookkeeping, "set-aside/1.json", record.clone());
        let answer = forget(&storage, arguments.clone());
        let left = storage.documents(&team(), Area::Bookkeeping);
        assert_eq!(left.is_empty(), is_found, "{arguments}: {answer}");
        let found = answer["found"][0]["path"].as_str();
        assert_eq!(found, is_found.then_some("set-aside/1.json"), "{arguments}: {answer}");
    }
    let other = json!({"create": {"path": "b/other.md", "contents": "Other", "after": "1f4e"}});
    let record = json!({"tool": "import_memories", "steps": [create, other]}).to_string();
    let storage = storage();
    put(&storage, "b/key.md", "The key");
    storage.put(&team(), Area::Bookkeeping, "set-aside/1.json", record);
    let answer = forget(&storage, json!({"path": "b/key", "store": "team"}));
    assert_eq!(storage.documents(&team(), Area::Bookkeeping).len(), 1, "{answer}");
    let left = answer["left"][0].as_str().expect("a text");
    assert!(left.contains("`set-aside/1.json`") && left.contains("other memories"), "{answer}");
}

#[test]
fn a_text_that_only_an_interrupted_call_has_is_forgotten_and_does_not_come_back() {
    let storage = storage();
    let add = || call(&storage, "add_memory", json!({"path": "a/one", "content": "One"}));
    assert_eq!(add()["warnings"], json!([]));
    let before = text(&storage, "index.yaml");
    let page = "The key is hunter2.";
    let after = agent_memory_core::storage::version_of(page.as_bytes());
    let create = json!({"create": {"path": "b/key.md", "contents": page, "after": after}});
    let intent = json!({"tool": "import_memories", "steps": [create]});
    storage.put(&team(), Area::Bookkeeping, "intent.json", intent.to_string());

    let forget = |dry_run: bool| forget(&storage, json!({"text": "hunter2", "dry_run": dry_run}));
    let found = |answer: &Value| answer["found"].as_array().map(|found| found[0]["path"].clone());
    let dry = forget(true);
    assert_eq!(found(&dry), Some(json!("intent.json")), "{dry}");
    assert_eq!(text(&storage, "index.yaml"), before);
    let forgotten = forget(false);
    assert_eq!(found(&forgotten), Some(json!("b/key")), "{forgotten}");
    assert!(storage.documents(&team(), Area::Bookkeeping).is_empty());
    add();
    let documents = storage.documents(&team(), Area::Documents);
    let has_it = |contents: &Vec<u8>| String::from_utf8_lossy(contents).contains("hunter2");
    assert!(!documents.values().any(has_it), "{documents:?}");
}

#[test]
fn an_interrupted_call_never_overwrites_what_has_changed_since() {
    for (path, contents) in [
        ("a/one.md", "Mine"),
        ("b/one.md", "Mine"),
        ("b/index.yaml", "memories: []\nsubcategories: []\n# mine\n"),
    ] {
        let storage = interrupted();
        put(&storage, path, contents);
        let before = storage.documents(&team(), Area::Documents);
        // This call changes another category than the interrupted move.
        let added = call(&storage, "add_memory", json!({"path": "c/three", "content": "Three"}));
        let warnings = added["warnings"].as_array().expect("warnings");
        let warning = warnings.first().and_then(Value::as_str).expect("a warning");
        assert!(warning.contains("`move_memory` was interrupted"), "{path}: {warning}");
        assert!(warning.contains(&format!("`{path}`")), "{path}: {warning}");
        for (path, contents) in before {
            if path != "index.yaml" {
                assert_eq!(text(&storage, &path).as_bytes(), contents, "{path}");
            }
        }
        let aside = storage.documents(&team(), Area::Bookkeeping);
        assert!(aside.keys().all(|path| path.starts_with("set-aside/")) && aside.len() == 1);
        let again = call(&storage, "add_memory", json!({"path": "c/four", "content": "Four"}));
        assert_eq!(again["warnings"], json!([]), "{path}");
    }
}

/// Changes the intent of an interrupted move, and adds a memory. The intent is set aside with one
/// warning, no other file has changed, and later calls work.
fn is_set_aside(name: &str, intent: impl Into<Vec<u8>>, says: &str) {
    let storage = interrupted();
    storage.put(&team(), Area::Bookkeeping, "intent.json", intent);
    let before = storage.documents(&team(), Area::Documents);
    let added = call(&storage, "add_memory", json!({"path": "c/three", "content": "Three"}));
    let warnings = added["warnings"].as_array().unwrap_or_else(|| panic!("{name}: {added}"));
    assert_eq!(warnings.len(), 1, "{name}: {added}");
    assert!(warnings[0].as_str().expect("a text").contains(says), "{name}: {added}");
    for (path, contents) in before {
        if path != "index.yaml" {
            assert_eq!(text(&storage, &path).as_bytes(), contents, "{name}: {path}");
        }
    }
    let aside = storage.documents(&team(), Area::Bookkeeping);
    assert!(aside.keys().all(|path| path.starts_with("set-aside/")) && aside.len() == 1, "{name}");
    assert_eq!(call(&storage, "reindex_store", json!({}))["warnings"], json!([]), "{name}");
}

#[test]
fn a_record_of_an_interrupted_call_that_no_call_has_written_is_set_aside() {
    use agent_memory_core::storage::version_of;
    let version = version_of(b"One");
    let delete = |path: &str| json!({"delete": {"path": path, "before": version}});
    let intent = |steps: Value| json!({"tool": "move_memory", "steps": steps}).to_string();
    let create = |path: &str, contents: &str, after: &str| {
        intent(json!([{"create": {"path": path, "contents": contents, "after": after}}]))
    };
    let edit = |start: usize, end: usize, after: &str| {
        let splices = json!([{"start": start, "end": end, "text": "1"}]);
        let edit =
            json!({"path": "a/one.md", "before": version, "after": after, "splices": splices});
        intent(json!([{"edit": edit}]))
    };
    let rename = |from: &str, to: &str| {
        intent(json!([{"rename": {"from": from, "to": to, "version": version}}]))
    };
    let mut many: Vec<Value> = (0..6_001).map(|at| delete(&format!("a/n{at}.md"))).collect();
    many.push(delete("a/one.md"));
    for (name, intent) in [
        ("half of it", "{".to_owned()),
        ("nothing", String::new()),
        ("another form", "[]".to_owned()),
        ("deep", "[".repeat(100_000)),
        ("another tool", json!({"tool": "Delete it all", "steps": []}).to_string()),
        ("another key", json!({"tool": "move_memory", "steps": [], "x": 1}).to_string()),
        ("a path out of the store", intent(json!([delete("../one.md")]))),
        ("an absolute path", intent(json!([delete("/etc/passwd")]))),
        ("no file of a store", intent(json!([delete("a/one.txt")]))),
        ("the bookkeeping", intent(json!([delete(".agent-memory/lock.md")]))),
        ("a path twice", intent(json!([delete("a/one.md"), delete("a/one.md")]))),
        ("a move onto itself", rename("a/one.md", "a/one.md")),
        ("a move out of the store", rename("a/one.md", "../one.md")),
        ("a new file of another version", create("d/x.md", "x", &version)),
        ("a new file of no version", create("d/x.md", "x", "x")),
        ("an edit of another version", edit(0, 1, &version_of(b"Onf"))),
        ("an edit beyond the file", edit(2, 9, &version_of(b"1"))),
        ("an edit that ends before it begins", edit(2, 1, &version_of(b"1"))),
        ("more steps than a call has", intent(Value::from(many))),
    ] {
        is_set_aside(name, intent, "could not be used and was set aside: call `reindex_store`");
    }
    is_set_aside("not UTF-8", [0xff, 0xfe], "was set aside");
}

#[test]
fn an_interrupted_call_whose_file_is_too_long_now_is_given_up() {
    let storage = interrupted();
    put(&storage, "a/one.md", &"x".repeat((16 << 20) + 1));
    let added = call(&storage, "add_memory", json!({"path": "c/three", "content": "Three"}));
    let warning = added["warnings"][0].as_str().expect("a warning");
    assert!(warning.contains("`a/one.md` or `b/one.md` has changed since"), "{warning}");
    assert_eq!(text(&storage, "a/one.md").len(), (16 << 20) + 1);
}

#[test]
fn an_error_tells_of_the_interrupted_call_that_was_set_aside() {
    let storage = interrupted();
    storage.put(&team(), Area::Bookkeeping, "intent.json", "{");
    let added = call(&storage, "add_memory", json!({"path": "a/one", "content": "One"}));
    let message = added["error"]["message"].as_str().expect("an error");
    assert!(message.contains("already") && message.contains("was set aside"), "{message}");
}

#[test]
fn a_record_that_is_too_long_stops_only_the_calls_that_need_one() {
    let storage = interrupted();
    storage.put(&team(), Area::Bookkeeping, "intent.json", vec![b' '; (16 << 20) + 1]);
    let added = call(&storage, "add_memory", json!({"path": "c/three", "content": "Three"}));
    let warning = "`intent.json` is longer than 16777216 bytes";
    assert!(added["warnings"][0].as_str().expect("a warning").starts_with(warning), "{added}");
    let moved = call(&storage, "move_memory", json!({"from_path": "c/three", "to_path": "d/x"}));
    assert_eq!(moved["error"]["code"], "LIMIT_EXCEEDED", "{moved}");
    assert!(moved["error"]["message"].as_str().expect("a text").starts_with(warning), "{moved}");
}
