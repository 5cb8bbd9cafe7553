//! Several plugins in one place. The last one to come may write, and the others are refused.

use std::fs;
use std::path::Path;

use agent_memory_plugin::{Error, Plugin};
use serde_json::json;

const LOG: &str = ".github/agent-memory/aristotle/logs/2025-01-20.md";

/// A repository where nobody has written.
fn repository() -> tempfile::TempDir {
    let repository = tempfile::tempdir().unwrap();
    fs::create_dir(repository.path().join(".git")).unwrap();
    fs::write(repository.path().join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    repository
}

fn open(repository: &Path) -> Plugin {
    let allowed = repository.canonicalize().unwrap().to_str().unwrap().to_owned();
    let environment = move |name: &str| match name {
        "AGENT_MEMORY_ALLOW" => Some(allowed.clone()),
        // Plugins with the same seed are still told apart.
        "AGENT_MEMORY_FIXED_RANDOM" => Some("7".to_owned()),
        _ => None,
    };
    Plugin::new(&environment).unwrap()
}

fn start(plugin: &mut Plugin) -> Result<String, Error> {
    let session = json!({"agent_name": "aristotle", "date": "2025-01-20"});
    plugin.call("start_session", &session.to_string())
}

fn append(plugin: &mut Plugin, content: &str) -> Result<String, Error> {
    let entry = json!({
        "agent_name": "aristotle", "date": "2025-01-20", "section": "Context", "content": content,
    });
    plugin.call("append_entry", &entry.to_string())
}

fn read(plugin: &mut Plugin) -> String {
    let session = json!({"agent_name": "aristotle", "date": "2025-01-20"});
    plugin.call("read_session", &session.to_string()).unwrap()
}

#[track_caller]
fn is_refused(answer: Result<String, Error>, repository: &Path) {
    let error = answer.unwrap_err();
    assert_eq!(error.code, "PermissionDenied");
    let place = repository.canonicalize().unwrap().join(".github/agent-memory");
    let said = format!("another plugin has taken over `{}`", place.display());
    for part in [&said, "open this one again to take it back"] {
        assert!(error.message.contains(part), "{}", error.message);
    }
}

#[test]
fn an_earlier_plugin_reads_on_and_is_refused_at_each_write_until_it_is_opened_again() {
    let scratch = repository();
    let repository = scratch.path();
    let mut first = open(repository);
    start(&mut first).unwrap();
    append(&mut first, "by the first").unwrap();

    let mut second = open(repository);
    // The second plugin has only read, so it has not taken the place over.
    assert!(read(&mut second).contains("by the first"));
    append(&mut first, "again by the first").unwrap();
    append(&mut second, "by the second").unwrap();
    let written = fs::read_to_string(repository.join(LOG)).unwrap();
    for _ in 0..2 {
        is_refused(append(&mut first, "lost"), repository);
        assert!(read(&mut first).contains("by the second"));
    }
    append(&mut second, "again by the second").unwrap();

    let mut again = open(repository);
    append(&mut again, "by the first, opened again").unwrap();
    is_refused(append(&mut second, "lost"), repository);
    is_refused(append(&mut first, "lost"), repository);
    let now = fs::read_to_string(repository.join(LOG)).unwrap();
    assert!(!now.contains("lost"), "{now}");
    for line in written.lines() {
        assert!(now.contains(line), "{line}");
    }
}

#[test]
fn a_new_plugin_for_each_call_writes_at_once() {
    let scratch = repository();
    start(&mut open(scratch.path())).unwrap();
    for n in 0..20 {
        append(&mut open(scratch.path()), &format!("entry {n}")).unwrap();
    }
    let written = fs::read_to_string(scratch.path().join(LOG)).unwrap();
    assert_eq!(written.matches("entry ").count(), 20);
}

#[test]
fn a_plugin_that_lost_one_place_writes_the_others() {
    let scratch = [repository(), repository()];
    let [one, other] = scratch.each_ref().map(|scratch| scratch.path().canonicalize().unwrap());
    let both = format!("{}:{}", one.display(), other.display());
    let allow = |name: &str| (name == "AGENT_MEMORY_ALLOW").then(|| both.clone());
    let mut first = Plugin::new(&allow).unwrap();
    let session = |repository: &Path| {
        json!({"agent_name": "aristotle", "date": "2025-01-20", "repo_root": repository})
            .to_string()
    };
    first.call("start_session", &session(&one)).unwrap();
    first.call("start_session", &session(&other)).unwrap();
    append(&mut open(&one), "by the second").unwrap();
    let entry = |repository: &Path| {
        json!({
            "agent_name": "aristotle", "date": "2025-01-20", "repo_root": repository,
            "section": "Context", "content": "by the first",
        })
        .to_string()
    };
    is_refused(first.call("append_entry", &entry(&one)), &one);
    first.call("append_entry", &entry(&other)).unwrap();
}

#[test]
fn plugins_in_threads_lose_no_entry_and_double_none() {
    let scratch = repository();
    let repository = scratch.path();
    start(&mut open(repository)).unwrap();
    let acknowledged: Vec<String> = std::thread::scope(|scope| {
        let write = |writer: usize| {
            move || {
                let mut acknowledged = Vec::new();
                let mut plugin = open(repository);
                for n in 0..200 {
                    let entry = format!("writer {writer} entry {n}.");
                    match append(&mut plugin, &entry) {
                        Ok(_) => acknowledged.push(entry),
                        // This host opens the plugin again at each refusal.
                        Err(_) => plugin = open(repository),
                    }
                }
                acknowledged
            }
        };
        let writers: Vec<_> = (0..3).map(|writer| scope.spawn(write(writer))).collect();
        writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect()
    });
    let written = fs::read_to_string(repository.join(LOG)).unwrap();
    let lines: Vec<&str> = written.lines().filter(|line| line.starts_with("writer ")).collect();
    println!("{} of 600 acknowledged, {} written", acknowledged.len(), lines.len());
    for entry in &acknowledged {
        assert_eq!(lines.iter().filter(|line| *line == entry).count(), 1, "{entry}");
    }
    // An append changes one document, so a refused append has written nothing.
    assert_eq!(lines.len(), acknowledged.len());
    assert!(!acknowledged.is_empty());
}
