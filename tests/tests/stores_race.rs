//! Processes of all hosts add memories to one category of a store at once. The store does not exist
//! at first, so they also race to create it. Every memory is there, the index lists them all, and no
//! call fails.
//!
//! `WRITERS=8 ADDS=250` sets the number of processes and of memories that each adds.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use agent_memory_conformance::runner::Answer;
use agent_memory_tests::medium::Medium;
use agent_memory_tests::process::{Call, Host, Process};
use serde_json::{Value, json};

/// The number of processes and of memories that each adds, without `WRITERS` and `ADDS`.
const WRITERS: usize = 4;
const ADDS: usize = 25;

/// A number from an environment variable, or the default.
fn number(variable: &str, default: usize) -> usize {
    env::var(variable).map_or(default, |text| text.parse().expect("it is a number"))
}

/// Adds memories, and returns the longest time of a call.
fn add(process: &mut Process, writer: usize, adds: usize) -> Duration {
    let add = |number: usize| {
        let path = format!("notes/w{writer}-{number}");
        let arguments = json!({"store": "race", "path": path, "content": path, "tags": ["race"]});
        let before = Instant::now();
        let answer = process.call(&Call { tool: "add_memory", arguments });
        let expected = json!({"store": "race", "path": path, "warnings": []});
        assert_eq!(answer, Answer::Result(expected));
        before.elapsed()
    };
    (0..adds).map(add).max().unwrap_or_default()
}

/// The paths of memories in the category, from its files.
fn files(category: &Path) -> BTreeSet<String> {
    let names = fs::read_dir(category).expect("the category is there");
    let names = names.map(|entry| entry.expect("an entry").file_name().into_string().unwrap());
    let mut names: BTreeSet<String> = names.collect();
    assert!(names.remove("index.yaml"), "{names:?}");
    let slug = |name: &String| name.strip_suffix(".md").expect("no strays").to_owned();
    names.iter().map(|name| format!("notes/{}", slug(name))).collect()
}

#[test]
fn nothing_is_lost_between_processes_of_all_hosts_in_a_category() {
    let writers = number("WRITERS", WRITERS);
    let adds = number("ADDS", ADDS);
    let (scratch, _) = Medium::Disk.directory();
    let data = scratch.path().canonicalize().expect("it exists").join("data");
    let hosts = Host::all_with_python();
    let mut processes: Vec<_> = (0..writers)
        .map(|writer| Process::start_on_stores(hosts[writer % hosts.len()], &data))
        .collect();
    let longest = thread::scope(|scope| {
        let adding: Vec<_> = processes
            .iter_mut()
            .enumerate()
            .map(|(writer, process)| scope.spawn(move || add(process, writer, adds)))
            .collect();
        adding.into_iter().map(|one| one.join().expect("no call fails")).max()
    });
    println!("{writers} writers, {adds} adds each: the longest call took {longest:?}");

    let expected: BTreeSet<String> = (0..writers)
        .flat_map(|writer| (0..adds).map(move |number| format!("notes/w{writer}-{number}")))
        .collect();
    let category = data.join("stores/race/notes");
    assert_eq!(files(&category), expected);
    let index = fs::read_to_string(category.join("index.yaml")).expect("an index");
    let listed = index.lines().filter_map(|line| line.trim().strip_prefix("- path: "));
    let listed: Vec<String> = listed.map(str::to_owned).collect();
    assert_eq!(listed.len(), expected.len(), "a memory is listed twice or not at all");
    assert_eq!(listed.into_iter().collect::<BTreeSet<_>>(), expected);

    let root = fs::read_to_string(data.join("stores/race/index.yaml")).expect("an index");
    assert!(root.contains(&format!("memory_count: {}", expected.len())), "{root}");
    let registry = fs::read_to_string(data.join("stores.yaml")).expect("a registry");
    assert_eq!(registry.matches("race:").count(), 1, "{registry}");
    let arguments = json!({"store": "race", "category": "notes", "limit": 200});
    let Answer::Result(list) = processes[0].call(&Call { tool: "list_memories", arguments }) else {
        panic!("the memories can be listed");
    };
    assert_eq!(list["memories"].as_array().map(Vec::len), Some(expected.len().min(200)), "{list}");
    assert_ne!(list["category"], Value::Null);
}

#[test]
fn a_writer_of_any_host_removes_the_temporary_files_of_killed_writers() {
    for host in Host::all() {
        let (scratch, _) = Medium::Disk.directory();
        let data = scratch.path().canonicalize().expect("it exists").join("data");
        let mut process = Process::start_on_stores(*host, &data);
        let mut call = |tool, mut arguments: Value| {
            arguments["store"] = json!("race");
            let answer = process.call(&Call { tool, arguments });
            assert!(matches!(answer, Answer::Result(_)), "{answer:?}");
        };
        call("add_memory", json!({"path": "notes/a", "content": "A"}));
        call("add_memory", json!({"path": "more/b", "content": "B"}));
        let killed = ["notes", "more"].map(|category| {
            data.join("stores/race").join(category).join(".killed.md.agent-memory-tmp")
        });
        let left = || -> Vec<bool> { killed.iter().map(|path| path.exists()).collect() };
        for path in &killed {
            fs::write(path, "half").expect("it is written");
        }
        call("list_memories", json!({"recursive": true}));
        assert_eq!(left(), [true, true], "{host:?}: a reader removes nothing");
        call("add_memory", json!({"path": "notes/c", "content": "C"}));
        assert_eq!(left(), [false, true], "{host:?}: a writer cleans its category");
        call("reindex_store", json!({}));
        assert_eq!(left(), [false, false], "{host:?}: a reindex cleans the store");
    }
}
