//! The tools of `stores`: an input is the number of a call, a text for it, the file of a memory, and
//! the index of its category.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::case;
use crate::document::{joined, line_count, parts};
use crate::repository::{Answer, Repository, STORES_CONTEXT};
use crate::yaml::{Front, Node, parse};

use super::{HARMLESS, mixtures};

/// The file that the input gives, and its index.
const FILE: &str = "notes/b.md";
const INDEX: &str = "notes/index.yaml";
/// A file that no call is about.
const OTHER: (&str, &str) = ("notes/other.md", "---\ntags: [x]\n---\nOther.");
/// The keys that a memory has. Others belong to other programs.
const KEYS: [&str; 3] = ["path", "token_estimate", "updated_at"];

/// A tool, and its arguments from the text of the input.
type CallOf = fn(&str) -> (&'static str, Value);

const CALLS: [CallOf; 14] = [
    |text| ("get_memory", json!({"path": text})),
    |text| ("add_memory", json!({"path": text, "content": "x"})),
    |text| ("add_memory", json!({"path": "notes/a", "content": text, "tags": [text]})),
    |text| ("put_memory_file", json!({"path": "notes/a", "text": text})),
    |text| ("update_memory", json!({"path": "notes/b", "content": text})),
    |text| ("update_memory", json!({"path": "notes/b", "tags": [text, "1"]})),
    |text| ("update_memory", json!({"path": "notes/b", "citations": [text]})),
    |text| ("update_memory", json!({"path": "notes/b", "expires_at": text})),
    |_| ("update_memory", json!({"path": "notes/b", "tags": [], "expires_at": "9999-12-31"})),
    |_| ("update_memory", json!({"path": "notes/b", "clear_expiry": true, "citations": []})),
    |_| ("move_memory", json!({"from_path": "notes/b", "to_path": "notes/code/c"})),
    |_| ("remove_memory", json!({"path": "notes/b"})),
    |_| ("prune_memories", json!({})),
    |_| ("reindex_store", json!({})),
];

/// Checks a call. If it is refused, the memories do not change. Otherwise the memory has the new
/// values, and the rest of its file and of the index keeps its bytes. Every memory that can be read is
/// then listed.
pub fn run(input: &[u8]) {
    let [which, text, file, index] = parts(input);
    let which = usize::from(which.first().copied().unwrap_or_default());
    let (tool, arguments) = CALLS[which % CALLS.len()](&String::from_utf8_lossy(text));
    let store =
        Repository::with_store(&[(FILE, file), (INDEX, index), (OTHER.0, OTHER.1.as_bytes())]);
    let before = store.documents();
    let memory = get(&store, "notes/b");
    let source = str::from_utf8(file).unwrap_or_default();
    match &memory {
        Ok(memory) => check_reading(source, memory),
        Err(error) => {
            assert_eq!(error.code, "CORRUPTED_DATA", "{error:?}");
            let line = error.line();
            assert!(line.is_none_or(|line| (1..=line_count(file)).contains(&line)), "{error:?}");
        }
    }
    let listed = call(&store, "list_memories", json!({"recursive": true}));
    listed.expect("a list needs no file that can be read");

    let path = arguments["path"].as_str().unwrap_or_default().to_owned();
    match call(&store, tool, arguments.clone()) {
        Err(error) => {
            if ["get_memory", "add_memory"].contains(&tool) && which % CALLS.len() < 2 {
                check_path(&store, &path, &error.code, &error.message);
            }
        }
        Ok(_) => {
            assert!(tool != "get_memory" && path != "notes/a" || is_path(&path), "{path:?}");
            let after = store.documents();
            assert_eq!(after[OTHER.0], OTHER.1.as_bytes(), "another memory");
            match (tool, memory) {
                ("update_memory", Ok(memory)) => check_update(&store, source, &memory, &arguments),
                ("move_memory", _) => assert_eq!(after["notes/code/c.md"], file),
                ("remove_memory", _) => assert!(!after.contains_key(FILE)),
                ("prune_memories", _) => {
                    assert!(
                        after.get(FILE).is_none_or(|now| now == file),
                        "a prune changes a file"
                    );
                }
                _ => assert_eq!(after[FILE], file, "another memory"),
            }
            let has_index = after.get(INDEX).is_some_and(|now| now != index);
            // A prune that deletes nothing reads no index. A call in another category does not read
            // this one.
            if has_index || (2..12).contains(&(which % CALLS.len())) {
                check_index(&before, &after, tool);
                check_listed(&store, &after);
            }
        }
    }
}

fn call(store: &Repository, tool: &str, mut arguments: Value) -> Answer {
    arguments["store"] = json!("team");
    let answer = store.call_as(tool, &arguments.to_string(), STORES_CONTEXT);
    answer.expect("the request is not refused")
}

fn get(store: &Repository, path: &str) -> Answer {
    let arguments = json!({"path": path, "include_expired": true, "limit": 100_000});
    call(store, "get_memory", arguments)
}

/// Checks a memory that was read: its content is the text after the front matter, which has no key
/// twice.
fn check_reading(source: &str, memory: &Value) {
    let front = front(source, memory);
    assert_eq!(memory["content"], front.body(), "the content");
    let keys = front.keys().expect("front matter that is read is YAML");
    let mut names: Vec<_> = keys.iter().map(|entry| entry.key).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), keys.len(), "a key twice");
}

fn front<'a>(text: &'a str, memory: &Value) -> Front<'a> {
    Front::parse_memory(text, memory["content"].as_str().unwrap_or_default())
}

/// Checks that an update sets the keys that it names. Other keys and an unnamed content keep their
/// bytes.
fn check_update(store: &Repository, source: &str, before: &Value, arguments: &Value) {
    let text = store.text(FILE);
    let after = get(store, "notes/b").expect("the changed memory can be read");
    let old = front(source, before);
    let new = front(&text, &after);
    let changed = |key: &str| arguments.get(key).is_some();
    let is_expiry = |key: &str| key == "expires_at" && changed("clear_expiry");
    for key in ["tags", "citations", "expires_at", "created_at", "source"] {
        let is_kept = !changed(key) && !is_expiry(key) && old.is_there();
        assert!(!is_kept || before["metadata"][key] == after["metadata"][key], "{key} of {after}");
    }
    for key in ["tags", "citations"].into_iter().filter(|key| changed(key)) {
        let mut wanted: Vec<_> = arguments[key].as_array().expect("a list").clone();
        wanted.dedup();
        assert_eq!(after["metadata"][key], json!(wanted), "{key}");
    }
    if changed("clear_expiry") {
        assert_eq!(after["metadata"]["expires_at"], Value::Null);
    }
    match arguments["content"].as_str() {
        // Line ends become line feeds.
        Some(content) => {
            let content = content.replace("\r\n", "\n").replace('\r', "\n");
            assert_eq!(after["content"], content.as_str());
        }
        None => assert_eq!(new.body(), old.body(), "the body"),
    }
    let others = |front: &Front<'_>| -> Vec<String> {
        let entries = front.keys().expect("front matter that is read is YAML").into_iter();
        let is_other = |key: &str| key != "updated_at" && !changed(key) && !is_expiry(key);
        entries.filter(|entry| is_other(entry.key)).map(|of| of.source.to_owned()).collect()
    };
    if old.is_there() {
        assert_eq!(others(&old), others(&new), "the other keys");
    }
    let again = call(store, "update_memory", arguments.clone());
    again.expect("an update can be repeated");
    assert_eq!(store.text(FILE), text, "a repeated update changes something");
}

/// Checks that other keys of the index keep their bytes, and other keys of its items their values.
fn check_index(before: &BTreeMap<String, Vec<u8>>, after: &BTreeMap<String, Vec<u8>>, tool: &str) {
    let index = |of: &BTreeMap<String, Vec<u8>>, path: &str| {
        of.get(path).map(|bytes| String::from_utf8_lossy(bytes).into_owned()).unwrap_or_default()
    };
    let old = index(before, INDEX);
    let new = index(after, INDEX);
    let (old_root, new_root) =
        (parse(&old), parse(&new).expect("an index that is written is YAML"));
    let Ok(old_root) = old_root else { panic!("an index that is no YAML was changed") };
    let others = |root: &Option<Node>, text: &str| -> Vec<String> {
        let entries = root.iter().flat_map(|root| root.entries(text));
        let others = entries.filter(|of| !["memories", "subcategories"].contains(&of.key));
        others.map(|of| of.source.to_owned()).collect()
    };
    assert_eq!(others(&old_root, &old), others(&new_root, &new), "the other keys of the index");
    let of_other = |root: &Option<Node>| more_of(root, "notes/other");
    assert_eq!(of_other(&old_root), of_other(&new_root), "an item of another memory");
    let kept = more_of(&old_root, "notes/b");
    match tool {
        "move_memory" => {
            let target = index(after, "notes/code/index.yaml");
            let target = parse(&target).expect("YAML");
            assert_eq!(more_of(&target, "notes/code/c"), kept, "the item that moved");
        }
        _ if after.contains_key(FILE) => assert_eq!(more_of(&new_root, "notes/b"), kept),
        _ => {}
    }
}

/// The entries of other programs in the first item of a memory.
fn more_of(root: &Option<Node>, path: &str) -> Vec<(Value, Value)> {
    let items = root.as_ref().and_then(|root| root.get("memories")).map(Node::items);
    let item = items
        .unwrap_or_default()
        .iter()
        .find(|item| item.get("path").is_some_and(|value| value.value() == json!(path)));
    let entries = item.map(Node::pairs).unwrap_or_default().iter();
    let pairs = entries.map(|(key, value)| (key.value(), value.value()));
    pairs.filter(|(key, _)| !key.as_str().is_some_and(|key| KEYS.contains(&key))).collect()
}

/// Checks that every memory that can be read is listed, and that every listed memory exists.
fn check_listed(store: &Repository, documents: &BTreeMap<String, Vec<u8>>) {
    let arguments = json!({"recursive": true, "include_expired": true});
    let listed = call(store, "list_memories", arguments).expect("a list");
    let paths: Vec<&str> = listed["memories"]
        .as_array()
        .expect("memories")
        .iter()
        .filter_map(|memory| memory["path"].as_str())
        .collect();
    let files: Vec<&str> = documents.keys().filter_map(|path| path.strip_suffix(".md")).collect();
    assert!(paths.iter().all(|path| files.contains(path)), "{paths:?}, {files:?}");
    let readable = files.into_iter().filter(|path| get(store, path).is_ok());
    for path in readable {
        assert!(paths.contains(&path), "{path} is not listed: {listed}");
    }
}

/// Checks that a refused path breaks a rule, and that the path which the error suggests breaks none.
fn check_path(store: &Repository, path: &str, code: &str, message: &str) {
    if code != "INVALID_PATH" {
        return;
    }
    let is_short = |segment: &str| segment.len() <= 4 || segment.len() > 200;
    assert!(!is_path(path) || path.split('/').any(is_short), "{path:?} is refused");
    let near = message.rsplit_once("use `").and_then(|(_, near)| near.strip_suffix('`'));
    if let Some(near) = near {
        let nearest = get(store, near).map_err(|error| error.code);
        assert_ne!(nearest.err().as_deref(), Some("INVALID_PATH"), "{near:?} for {path:?}");
    }
}

fn is_path(path: &str) -> bool {
    let is_word = |word: &str| {
        !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
    };
    let is_segment = |segment: &str| segment.split('-').all(is_word);
    path.split('/').count() <= 10 && path.split('/').all(is_segment)
}

/// All calls on the memories and indexes of the cases, with random Markdown and paths as texts.
pub fn seeds() -> Vec<Vec<u8>> {
    let mut files = Vec::new();
    let mut indexes = Vec::new();
    for case in case::load_all().iter().filter(|case| case.toolset() == "stores") {
        for (path, contents) in case.given() {
            if path.ends_with("/notes/index.yaml") {
                let text = String::from_utf8_lossy(&contents);
                indexes.push(text.replace("notes/deploy", "notes/b").into_bytes());
            } else if path.ends_with(".md") {
                files.push(contents);
            }
        }
    }
    for list in [&mut files, &mut indexes] {
        list.retain(|contents| contents.len() < 1500);
        list.sort();
        list.dedup();
    }
    let texts =
        [HARMLESS, "a/../B c.md", "con/x", "2025-02-30", "9999-12-31T23:59:59-05:00", "a: b"];
    let texts: Vec<String> =
        texts.into_iter().map(str::to_owned).chain(mixtures().take(20)).collect();
    let counts = 0..files.len().max(indexes.len()) * 3;
    let input = |at: usize| {
        let which = [(at % CALLS.len()) as u8];
        let text = &texts[at % texts.len()];
        let file = &files[at % files.len()];
        joined(&[&which, text.as_bytes(), file, &indexes[at % indexes.len()]])
    };
    counts.map(input).collect()
}
