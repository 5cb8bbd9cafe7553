//! A search over places of which some are damaged. It finds the entries in the other places, and names
//! each place that it could not read.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use agent_memory_host::AgentMemory;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// A word that is stored in every toolset.
const WORD: &str = "zebra";

struct Scene {
    directory: TempDir,
    runtime: Runtime,
}

impl Scene {
    /// Stores the word in every toolset, and in two stores.
    fn new() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        fs::create_dir_all(directory.path().join("repo/.git")).expect("a repository");
        fs::write(directory.path().join("repo/.git/HEAD"), "ref: refs/heads/main\n").expect("HEAD");
        let scene = Self { directory, runtime: Runtime::new().expect("a runtime") };
        let text = format!("the {WORD} is striped");
        for (tool, arguments) in [
            ("start_session", json!({"agent_name": "ada"})),
            ("append_entry", json!({"agent_name": "ada", "section": "Decisions", "content": text})),
            ("records_add_core_memory", json!({"agent_id": "ada", "content": text})),
            ("layers_add_core_memory", json!({"agent_id": "ada", "memory": text})),
            ("add_memory", json!({"store": "team", "path": "notes/animal", "content": text})),
            ("add_memory", json!({"store": "other", "path": "notes/animal", "content": text})),
        ] {
            scene.call(tool, arguments);
        }
        scene
    }

    fn path(&self, path: &str) -> PathBuf {
        self.directory.path().join(path)
    }

    fn call(&self, tool: &str, arguments: Value) -> Value {
        let memory = AgentMemory::builder()
            .toolsets(["all"])
            .allow(self.path("repo"))
            .data_dir(self.path("data"))
            .setting("records", "directory", self.path("records").to_str().expect("UTF-8"))
            .setting("records", "format", "sqlite")
            .setting("layers", "file", self.path("layers.db").to_str().expect("UTF-8"))
            .setting("stores", "registry", self.path("stores.yaml").to_str().expect("UTF-8"))
            .build()
            .expect("a memory");
        let outcome = self.runtime.block_on(memory.call(tool, &arguments.to_string()));
        let outcome = outcome.expect("an outcome");
        let text = outcome.answer.unwrap_or_else(|error| panic!("{tool}: {}", error.json));
        serde_json::from_str(&text).expect("JSON")
    }

    /// The toolsets and stores of the hits, and the warnings.
    fn search(&self) -> (Vec<String>, Vec<String>) {
        let answer = self.call("search_memory", json!({"query": WORD, "agent": "ada"}));
        let texts = |values: &Value, text: fn(&Value) -> Option<&str>| {
            let values = values.as_array().into_iter().flatten();
            values.filter_map(|value| text(value).map(str::to_owned)).collect::<Vec<_>>()
        };
        let mut hits =
            texts(&answer["hits"], |hit| hit["store"].as_str().or(hit["toolset"].as_str()));
        hits.sort();
        (hits, texts(&answer["warnings"], Value::as_str))
    }
}

const ALL: [&str; 5] = ["layers", "other", "records", "sessions", "team"];

/// Asserts that a damage hides only these hits, and that one warning has this text.
fn assert_hidden(damage: impl FnOnce(&Scene), hidden: &[&str], says: &str) {
    let scene = Scene::new();
    assert_eq!(scene.search(), (ALL.map(str::to_owned).to_vec(), Vec::new()));
    damage(&scene);
    let (hits, warnings) = scene.search();
    let expected: Vec<_> = ALL.into_iter().filter(|name| !hidden.contains(name)).collect();
    assert_eq!(hits, expected, "{says}: {warnings:?}");
    let telling = warnings.iter().filter(|warning| warning.contains(says)).count();
    assert_eq!((telling, warnings.len()), (1, 1), "{says}: {warnings:?}");
}

/// Overwrites the beginning of a database.
fn overwrite(file: &Path) {
    for name in ["-wal", "-shm"] {
        let mut beside = file.as_os_str().to_owned();
        beside.push(name);
        let _ = fs::remove_file(beside);
    }
    let mut bytes = fs::read(file).expect("a database");
    bytes[..200].fill(b'x');
    fs::write(file, bytes).expect("it is written");
}

/// Puts a file in the place of a directory.
fn replace_by_a_file(directory: &Path) {
    fs::remove_dir_all(directory).expect("a directory");
    fs::write(directory, "no directory").expect("a file");
}

/// Puts a directory in the place of a file.
fn replace_by_a_directory(file: &Path) {
    fs::remove_file(file).expect("a file");
    fs::create_dir(file).expect("a directory");
}

#[test]
fn something_of_another_kind_in_the_place_of_a_toolset_hides_only_what_it_keeps() {
    let layers = |at: &Scene| replace_by_a_directory(&at.path("layers.db"));
    assert_hidden(layers, &["layers"], "something other than a file stands there: move it away");
    let records = |at: &Scene| replace_by_a_file(&at.path("records"));
    assert_hidden(records, &["records"], "something other than a directory stands there");
    let stores = |at: &Scene| replace_by_a_directory(&at.path("stores.yaml"));
    assert_hidden(stores, &["other", "team"], "something other than a file stands there");
}

#[test]
fn a_damaged_database_hides_only_what_is_in_it() {
    assert_hidden(|at| overwrite(&at.path("records/memories.db")), &["records"], "memories.db");
    assert_hidden(|at| overwrite(&at.path("layers.db")), &["layers"], "layers");
}

#[test]
fn a_registry_that_is_no_registry_hides_only_the_stores() {
    for text in [&b"<<<<<<< HEAD\nstores: {}\n"[..], b"stores: {caf\xe9: {}}\n"] {
        let damage = |at: &Scene| fs::write(at.path("stores.yaml"), text).expect("a registry");
        assert_hidden(damage, &["other", "team"], "stores.yaml");
    }
}

#[test]
fn a_link_in_the_place_of_the_memory_of_a_repository_hides_only_its_logs() {
    let damage = |at: &Scene| {
        let tree = at.path("repo/.github/agent-memory");
        fs::rename(&tree, at.path("elsewhere")).expect("it is moved");
        symlink(at.path("elsewhere"), tree).expect("a link");
    };
    assert_hidden(damage, &["sessions"], "agent-memory");
}

#[test]
fn a_store_whose_directory_is_a_file_is_named_and_hides_no_other() {
    let damage = |at: &Scene| replace_by_a_file(&at.path("data/stores/team"));
    assert_hidden(damage, &["team"], "team");
}

#[test]
fn a_link_among_the_notes_of_a_store_is_named() {
    let damage = |at: &Scene| {
        let note = at.path("data/stores/team/notes/animal.md");
        fs::rename(&note, at.path("animal.md")).expect("it is moved");
        symlink(at.path("animal.md"), note).expect("a link");
    };
    assert_hidden(damage, &["team"], "notes/animal.md");
}

#[test]
fn a_link_among_the_logs_is_named() {
    let damage = |at: &Scene| {
        let logs = at.path("repo/.github/agent-memory/ada/logs");
        let log = fs::read_dir(logs).expect("logs").next().expect("a log").expect("a log").path();
        fs::rename(&log, at.path("log.md")).expect("it is moved");
        symlink(at.path("log.md"), log).expect("a link");
    };
    assert_hidden(damage, &["sessions"], "ada/logs/");
}
