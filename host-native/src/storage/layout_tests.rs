//! Runs `tests/layouts.json`, which describes its format.

use super::*;
use agent_memory_storage::Writer as _;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

pub(super) fn data(file: &str) -> Value {
    let path = format!("{}/../tests/{file}", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&fs::read_to_string(&path).expect(&path)).expect(&path)
}

/// A fresh directory and its canonical path.
pub(super) fn base() -> (tempfile::TempDir, String) {
    let directory = tempfile::tempdir().unwrap();
    let base = directory.path().canonicalize().unwrap();
    (directory, base.to_str().unwrap().to_owned())
}

pub(super) fn create(base: &str, case: &Value) {
    for item in case["create"].as_array().into_iter().flatten() {
        let text = |key: &str| Some(item.get(key)?.as_str().unwrap().replace("${base}", base));
        let make_parent = |path: &Path| fs::create_dir_all(path.parent().unwrap()).unwrap();
        let at = |key: &str| Some(Path::new(base).join(text(key)?));
        if let Some(path) = at("dir") {
            fs::create_dir_all(path).unwrap();
        } else if let Some(path) = at("file") {
            make_parent(&path);
            let latin1 = || text("latin1").unwrap().chars().map(|c| c as u8).collect();
            fs::write(path, text("text").map_or_else(latin1, String::into_bytes)).unwrap();
        } else if let Some(path) = at("symlink") {
            make_parent(&path);
            symlink(text("to").unwrap(), path).unwrap();
        } else if let Some(path) = at("fifo") {
            make_parent(&path);
            assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
        } else {
            panic!("what is {item}?");
        }
    }
}

fn granted(base: &str, case: &Value) -> Storage {
    let storage = Storage::new(StorageOptions::default());
    let everything = json!(["${base}"]);
    for grant in case.get("grants").unwrap_or(&everything).as_array().unwrap() {
        let directory = grant.as_str().unwrap().replace("${base}", base);
        storage.grant(Path::new(&directory)).unwrap();
    }
    storage
}

/// Everything below a directory. Links are not followed.
pub(super) fn everything_below(directory: &Path) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let kind = path.symlink_metadata().unwrap().file_type();
        let holds = if kind.is_file() {
            String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned()
        } else {
            format!("{kind:?}")
        };
        all.insert(path.to_str().unwrap().to_owned(), holds);
        if kind.is_dir() {
            all.extend(everything_below(&path));
        }
    }
    all
}

fn lock(tree: &Tree) -> Writer {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    let acquired = tree.lock(LockTimeout::new(Duration::from_secs(5)));
    runtime.unwrap().block_on(acquired).unwrap()
}

/// The result of a case, or a message with the difference.
type Checked = Result<(), String>;

fn expect(what: &str, expected: &Value, got: Value) -> Checked {
    if *expected == got { Ok(()) } else { Err(format!("{what}: expected {expected}, got {got}")) }
}

fn check_layout(base: &str, case: &Value) -> Checked {
    let storage = granted(base, case);
    let before = everything_below(Path::new(base));
    let place = Place::repository(case["open"].as_str().unwrap().replace("${base}", base));
    let opened = storage.open(&place, &[]);
    if everything_below(Path::new(base)) != before {
        return Err("opening changed something".into());
    }
    let tree = match (case.get("refused"), opened) {
        (Some(code), Ok(tree)) => {
            return Err(format!("expected {code}, got the lock {:?}", tree.lock_key()));
        }
        (Some(code), Err(error)) => {
            let names = case.get("names").map_or("", |names| names.as_str().unwrap());
            if !error.message.contains(&names.replace("${base}", base)) {
                return Err(format!("the message does not name {names}: {error}"));
            }
            return expect("code", code, json!(error.code.name()));
        }
        (None, opened) => opened.map_err(|error| format!("{}: {error}", error.code))?,
    };
    let expected = case["lock"].as_str().unwrap().replace("${base}", base);
    expect("lock", &json!(expected), json!(tree.lock_key().directory().unwrap().to_str()))?;
    drop(lock(&tree));
    let mut made: Vec<String> = fs::read_dir(tree.lock_key().directory().unwrap())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name != "bookkeeping")
        .collect();
    made.sort();
    let hidden = expected.ends_with("/.agent-memory");
    let names = if hidden { &[".gitignore"][..] } else { &[] };
    let names: Vec<&str> = names.iter().copied().chain(["queue.sqlite", "turn.sqlite"]).collect();
    expect("in the lock directory", &json!(names), json!(made))?;
    if hidden {
        let ignored =
            fs::read_to_string(tree.lock_key().directory().unwrap().join(".gitignore")).unwrap();
        expect(".gitignore", &json!("*\n"), json!(ignored))?;
    }
    Ok(())
}

fn check_tree(base: &str, case: &Value) -> Checked {
    let tree = granted(base, case).open(&Place::repository(format!("{base}/repo")), &[]).unwrap();
    let before = everything_below(Path::new(base));
    let path = case["path"].as_str().unwrap();
    let read = || -> Result<Value, Error> {
        Ok(match tree.read(Area::Documents, path, u64::MAX)? {
            Some(document) => json!(String::from_utf8(document.contents).unwrap()),
            None => Value::Null,
        })
    };
    let commit = |change| lock(&tree).commit(&[change]).map_err(|failed| failed.error);
    let done = match case["do"].as_str().unwrap() {
        "read" => read(),
        "list" => tree.list(Area::Documents, path).map(|listed| {
            listed.map_or(Value::Null, |entries| entries.iter().map(entry_json).collect())
        }),
        "put" => commit(Change::Put {
            area: Area::Documents,
            path: path.to_owned(),
            contents: b"put".to_vec(),
            expects: None,
        })
        .and_then(|_| read()),
        "delete" => commit(Change::Delete {
            area: Area::Documents,
            path: path.to_owned(),
            expects: version_of(b""),
        })
        .and_then(|_| read()),
        other => panic!("what is {other}?"),
    };
    match (case.get("refused"), done) {
        (None, done) => {
            let gives = done.map_err(|error| format!("{}: {error}", error.code))?;
            expect("gives", &case["gives"], gives)?;
            let mut after = everything_below(Path::new(base));
            after.retain(|path, _| path.ends_with(".agent-memory-tmp"));
            if case["do"] == "put" && !after.is_empty() {
                Err(format!("left behind: {after:?}"))
            } else {
                Ok(())
            }
        }
        (Some(code), Ok(got)) => Err(format!("expected {code}, got {got}")),
        (Some(code), Err(error)) => {
            expect("code", code, json!(error.code.name()))?;
            let mut after = everything_below(Path::new(base));
            after.retain(|path, _| !path.contains("/repo/.agent-memory"));
            if after == before { Ok(()) } else { Err(format!("was {before:#?}, is {after:#?}")) }
        }
    }
}

fn entry_json(entry: &Entry) -> Value {
    let kind = match entry.status.kind {
        EntryKind::File => "file",
        EntryKind::Directory => "directory",
        EntryKind::Other => "other",
    };
    json!({"name": entry.name, "kind": kind, "size": entry.status.size})
}

fn run(list: &str, check: fn(&str, &Value) -> Checked) {
    let mut failures = Vec::new();
    for case in data("layouts.json")[list].as_array().unwrap() {
        let (_directory, base) = base();
        create(&base, case);
        if let Err(failure) = check(&base, case) {
            failures.push(format!("{}: {failure}", case["name"]));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn every_git_layout_gives_its_lock_or_its_error() {
    run("layouts", check_layout);
}

#[test]
fn nothing_in_a_tree_leads_out_of_it() {
    run("trees", check_tree);
}
