//! The order of syncs in a first session or record: each file before it gets its name, then each
//! directory with a new or renamed entry, and then the acknowledgement.

use std::path::{Path, PathBuf};

use agent_memory_conformance::case::{Documents, Format};
use agent_memory_conformance::runner::Answer;
use agent_memory_tests::medium::Medium;
use agent_memory_tests::process::{Call, Host, Process};
use agent_memory_tests::scratch::Scratch;
use agent_memory_tests::skip::skip;
use agent_memory_tests::syscalls;
use agent_memory_tests::traced::{CHANGES, Event, answered, events, launcher};
use serde_json::{Value, json};

#[test]
fn a_first_session_is_synced_with_every_directory_that_it_makes() {
    if let Err(why) = syscalls::available() {
        return skip(&why);
    }
    for host in Host::all() {
        let scratch = on_disk();
        let repo = scratch.repo();
        let arguments = json!({"agent_name": "aristotle", "repo_root": repo});
        let start = |launcher: &[&str]| Process::start_by(launcher, *host, &repo);
        let traced = Traced::new(*host, &scratch, &[], start, "start_session", arguments);
        traced.assert_made(&[
            ".git/agent-memory",
            ".github",
            ".github/agent-memory",
            ".github/agent-memory/aristotle",
            ".github/agent-memory/aristotle/logs",
        ]);
        assert_eq!(traced.renamed().len(), 3, "schema, summary and log: {traced:?}");
        traced.assert_durable();
    }
}

#[test]
fn a_first_record_is_synced_with_every_directory_that_it_makes() {
    if let Err(why) = syscalls::available() {
        return skip(&why);
    }
    for host in Host::all() {
        for format in Format::ALL {
            let scratch = on_disk();
            let directory = scratch.memory_dir();
            let start = |launcher: &[&str]| {
                Process::start_on_records_by(launcher, *host, &directory, format)
            };
            let learning = json!({"content": "a learning"});
            let traced = Traced::new(*host, &scratch, &[], start, "add_recent_learning", learning);
            traced.assert_made(&["../memories", "../memories/.agent-memory"]);
            traced.assert_durable();
            if format == Format::Json {
                assert_eq!(traced.renamed().len(), 1, "the file: {traced:?}");
                continue;
            }
            // SQLite makes these files itself. The record is in the database or in its write-ahead log,
            // so the latest sync of either counts. The sync of the directory keeps the names of both.
            let names = ["memories.db", "memories.db-wal"].map(|name| directory.join(name));
            let kept = names.iter().filter_map(|file| traced.last_sync(file)).max();
            assert!(kept.is_some(), "{traced:?}");
            assert!(traced.last_sync(&directory).is_some(), "{traced:?}");
        }
    }
}

#[test]
fn a_backup_is_copied_and_synced_where_the_file_system_has_no_links() {
    if let Err(why) = syscalls::available() {
        return skip(&why);
    }
    for host in Host::all() {
        let scratch = on_disk();
        let directory = scratch.memory_dir();
        let start = |launcher: &[&str]| {
            Process::start_on_records_by(launcher, *host, &directory, Format::Json)
        };
        let learning = json!({"content": "a learning"});
        let first =
            start(&[]).call(&Call { tool: "add_recent_learning", arguments: learning.clone() });
        assert!(matches!(first, Answer::Result(_)), "{host:?}: {first:?}");
        let before = std::fs::read(directory.join("default.json")).expect("the file");

        let no_links = ["-e", "inject=link,linkat:error=EPERM"];
        let traced =
            Traced::new(*host, &scratch, &no_links, start, "add_recent_learning", learning);
        assert!(traced.text.contains("(INJECTED)"), "{host:?} makes no link");
        let backup = directory.join("default.json.backup");
        let (from, _) =
            traced.renamed().into_iter().find(|(_, to)| **to == backup).expect("a copy");
        assert!(traced.last_sync(from).is_some(), "the copy is not synced: {traced:?}");
        assert_eq!(traced.renamed().len(), 2, "the backup and the file: {traced:?}");
        traced.assert_durable();
        assert!(std::fs::read(&backup).expect("the backup") == before, "{host:?}");
    }
}

fn on_disk() -> Scratch {
    Scratch::within(Medium::Disk.directory().0, &Documents::new())
}

/// A call, and the file system calls of its process until the answer.
struct Traced {
    host: Host,
    repo: PathBuf,
    text: String,
    /// The calls before the answer.
    events: Vec<Event>,
}

impl Traced {
    fn new(
        host: Host,
        scratch: &Scratch,
        options: &[&str],
        start: impl Fn(&[&str]) -> Process,
        tool: &'static str,
        arguments: Value,
    ) -> Self {
        let trace = scratch.elsewhere().join("trace");
        let launcher = launcher(&trace, &[&["-e", CHANGES], options].concat());
        let launcher: Vec<&str> = launcher.iter().map(String::as_str).collect();
        let mut process = start(&launcher);
        let answer = process.call(&Call { tool, arguments });
        assert!(matches!(answer, Answer::Result(_)), "{host:?}: {answer:?}");
        // The Node program has answered once before, when it opened its memory.
        let text = answered(&trace, if host == Host::Node { 2 } else { 1 });
        let mut events = events(&text);
        let answer = events.iter().rposition(|event| *event == Event::Said).expect("it answered");
        events.truncate(answer);
        Self { host, repo: scratch.repo(), text, events }
    }

    fn renamed<'a>(&'a self) -> Vec<(&'a PathBuf, &'a PathBuf)> {
        let renamed = |event: &'a Event| match event {
            Event::Renamed(from, to) => Some((from, to)),
            _ => None,
        };
        self.events.iter().filter_map(renamed).collect()
    }

    fn last_sync(&self, path: &Path) -> Option<usize> {
        self.events.iter().rposition(|event| *event == Event::Synced(path.to_owned()))
    }

    fn assert_made(&self, paths: &[&str]) {
        for path in paths {
            let path = match path.strip_prefix("../") {
                Some(beside) => self.repo.parent().expect("a scratch directory").join(beside),
                None => self.repo.join(path),
            };
            assert!(
                self.events.contains(&Event::Made(path.clone())),
                "{}: {self:?}",
                path.display()
            );
        }
    }

    /// Checks that every new name is synced, and the file itself before its name.
    fn assert_durable(&self) {
        for (at, event) in self.events.iter().enumerate() {
            let (from, to) = match event {
                Event::Made(directory) => (None, directory),
                Event::Renamed(from, to) => (Some(from), to),
                Event::Synced(_) | Event::Said => continue,
            };
            let parent = to.parent().expect("it is in a directory");
            let synced = self.last_sync(parent).is_some_and(|sync| sync > at);
            assert!(synced, "`{}` is not synced after {event:?}: {self:?}", parent.display());
            if let Some(from) = from {
                let synced = self.last_sync(from).is_some_and(|sync| sync < at);
                assert!(synced, "the file of {event:?} is not synced before: {self:?}");
            }
        }
    }
}

impl std::fmt::Debug for Traced {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}: {:#?}", self.host, self.events)
    }
}
