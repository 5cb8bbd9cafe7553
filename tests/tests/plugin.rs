//! The plugin beside other plugins and beside the other hosts, as programs use it.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use agent_memory_conformance::case::Documents;
use agent_memory_tests::medium::Medium;
use agent_memory_tests::product::program;
use agent_memory_tests::race_writer::Host;
use agent_memory_tests::random::{Random, replay, seed_or};
use agent_memory_tests::runners::{node, plugin};
use agent_memory_tests::scratch::Scratch;
use serde_json::json;

const AGENT: &str = "aristotle";
const DOCUMENTS: [&str; 3] =
    ["aristotle/_schema.md", "aristotle/_summary.md", "aristotle/logs/2025-01-20.md"];

/// Writers, and their entries: 3,000 in all.
const HOSTS: [(Host, usize); 4] =
    [(Host::Native, 900), (Host::Native, 900), (Host::Node, 300), (Host::Python, 300)];
const PLUGINS: [(Host, usize); 3] = [(Host::Plugin, 200); 3];
/// Writers that are refused meanwhile, and their attempts.
const REFUSED_HOSTS: [(Host, usize); 3] =
    [(Host::Native, 200), (Host::Node, 200), (Host::Python, 200)];
const REFUSED_PLUGINS: [(Host, usize); 2] = [(Host::Plugin, 300); 2];

/// How many plugins are killed.
const ROUNDS: usize = 12;

#[test]
fn nothing_is_lost_between_plugins_and_the_other_hosts_are_refused_beside_them() {
    if plugin::left_out() || node::left_out("race-writer.js") {
        return;
    }
    // Otherwise the race would last as long as 3,000 syncs of a disk.
    let (directory, _) = Medium::Memory.directory();
    let scratch = Scratch::within(directory, &Documents::new());
    let repository = scratch.repo();
    assert!(native_append(&repository).contains("\"section\":\"Context\""));

    let began = Instant::now();
    let mut acknowledged = race(&repository, "first", &HOSTS, &REFUSED_PLUGINS, "plugins");
    println!("{} entries of hosts in {:.1?}", acknowledged.len(), began.elapsed());
    hand_over(&repository, "plugins");
    let began = Instant::now();
    let of_plugins = race(&repository, "then", &PLUGINS, &REFUSED_HOSTS, "hosts");
    println!("{} entries of plugins in {:.1?}", of_plugins.len(), began.elapsed());
    acknowledged.extend(of_plugins);
    assert_eq!(acknowledged.len(), 3000);

    let written = entries(&repository);
    let lost_or_doubled: Vec<_> =
        acknowledged.iter().filter(|entry| written.get(*entry) != Some(&1)).collect();
    assert_eq!(lost_or_doubled, Vec::<&String>::new());
    // Nothing but these, and the first entry.
    assert_eq!(written.len(), 3001);

    hand_over(&repository, "hosts");
    assert!(native_append(&repository).contains("\"section\":\"Context\""));
    assert_eq!(names(&scratch), DOCUMENTS);
}

/// Runs writers beside others that are refused until the place is handed over to `owner`. Returns the
/// acknowledged entries.
fn race(
    repository: &Path,
    name: &str,
    writers: &[(Host, usize)],
    refused: &[(Host, usize)],
    owner: &str,
) -> Vec<String> {
    let start_all = |role: &str, all: &[(Host, usize)]| -> Vec<Child> {
        let named = all.iter().enumerate();
        named
            .map(|(number, (host, entries))| {
                let id = format!("{name}-{role}-{}-{number}", host.name());
                start(*host, repository, &id, *entries)
            })
            .collect()
    };
    let writers = start_all("writer", writers);
    let refused = start_all("refused", refused);
    for writer in refused {
        let (ok, errors) = lines(writer);
        assert_eq!(ok, Vec::<String>::new());
        let command = format!("hand-over --to {owner} ");
        let others: Vec<_> = errors.iter().filter(|error| !error.contains(&command)).collect();
        assert_eq!(others, Vec::<&String>::new());
        assert!(!errors.is_empty());
    }
    let mut acknowledged = Vec::new();
    for writer in writers {
        let (ok, errors) = lines(writer);
        assert_eq!(errors, Vec::<String>::new());
        acknowledged.extend(ok);
    }
    acknowledged
}

#[test]
fn a_plugin_that_is_killed_leaves_a_lease_that_ends_by_itself() {
    if plugin::left_out() {
        return;
    }
    let scratch = Scratch::new(&Documents::new());
    let repository = scratch.repo();
    let mut first = start(Host::Plugin, &repository, "first", 100_000);
    while !std::fs::read_to_string(log(&repository)).is_ok_and(|text| text.contains("first-20")) {
        assert!(first.try_wait().expect("it can be asked").is_none(), "it ended");
        std::thread::sleep(Duration::from_millis(20));
    }
    first.kill().expect("it can be killed");
    let (acknowledged, _) = lines(first);
    let (ok, errors) = lines(start(Host::Plugin, &repository, "second", 1));
    assert_eq!((ok, errors), (vec!["second-0".to_owned()], Vec::new()));
    let written = entries(&repository);
    let lost: Vec<_> =
        acknowledged.iter().filter(|entry| written.get(*entry) != Some(&1)).collect();
    assert_eq!(lost, Vec::<&String>::new());
    assert_eq!(names(&scratch), DOCUMENTS);
}

/// The lease of a killed plugin is ended by hand, as time would.
#[test]
fn acknowledged_entries_survive_plugins_that_are_killed() {
    if plugin::left_out() {
        return;
    }
    let scratch = Scratch::new(&Documents::new());
    let repository = scratch.repo();
    let seed = seed_or(1);
    println!("{}", replay("plugin", "acknowledged_entries_survive_plugins_that_are_killed", seed));
    let mut random = Random::new(seed);
    let mut acknowledged = Vec::new();
    for round in 0..ROUNDS {
        let id = format!("round{round}");
        let mut writer = start(Host::Plugin, &repository, &id, 100_000);
        let mut output = BufReader::new(writer.stdout.take().expect("its output")).lines();
        let entries = 1 + random.below(20);
        let mut hear = |line: String| {
            assert!(line.starts_with("ok "), "{line}");
            acknowledged.push(line.split(' ').nth(1).unwrap_or_default().to_owned());
        };
        for line in output.by_ref().take(entries) {
            hear(line.expect("UTF-8"));
        }
        std::thread::sleep(Duration::from_micros(random.below(8000) as u64));
        writer.kill().and_then(|()| writer.wait()).expect("it can be killed");
        output.map_while(Result::ok).for_each(hear);
        end_lease(&repository);
    }
    let (ok, errors) = lines(start(Host::Plugin, &repository, "last", 1));
    assert_eq!((ok, errors), (vec!["last-0".to_owned()], Vec::new()));
    let written = entries(&repository);
    let lost: Vec<_> =
        acknowledged.iter().filter(|entry| written.get(*entry) != Some(&1)).collect();
    assert_eq!(lost, Vec::<&String>::new());
    // Each killed plugin may have written one entry without saying so.
    assert!(written.len() <= acknowledged.len() + 1 + ROUNDS, "{written:?}");
    assert_eq!(names(&scratch), DOCUMENTS);
}

/// Ends the newest lease, unless its plugin has ended it.
fn end_lease(repository: &Path) {
    let lock = repository.join(".git/agent-memory");
    let entries = std::fs::read_dir(&lock).expect("it is there");
    let names = entries.map(|entry| entry.expect("an entry").file_name());
    let number = |name: &str| name.strip_prefix("plugin.lease.")?.parse::<u64>().ok();
    let newest = names.filter_map(|name| number(name.to_str()?)).max().expect("a lease");
    let lease = lock.join(format!("plugin.lease.{newest}"));
    let text = std::fs::read_to_string(&lease).expect("a lease");
    if !text.starts_with("0000000000000\n") {
        let rest = text.get(14..).unwrap_or_default();
        std::fs::write(&lease, format!("0000000000001\n{rest}")).expect("a lease");
    }
}

/// Starts a writer. It waits for a lease for as long as one may last.
fn start(host: Host, repository: &Path, id: &str, entries: usize) -> Child {
    let mut writer = host.writer();
    writer.arg(repository).args([AGENT, &entries.to_string(), id, "40000"]);
    writer.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().expect("a writer starts")
}

/// The acknowledged entries and the errors of a writer, once it has ended.
fn lines(writer: Child) -> (Vec<String>, Vec<String>) {
    let output = writer.wait_with_output().expect("it ends");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let (ok, errors): (Vec<&str>, Vec<&str>) =
        text.lines().partition(|line| line.starts_with("ok "));
    let entry = |line: &str| line.split(' ').nth(1).unwrap_or_default().to_owned();
    (ok.into_iter().map(entry).collect(), errors.into_iter().map(str::to_owned).collect())
}

/// The documents of an agent, and what was left beside them.
fn names(scratch: &Scratch) -> Vec<String> {
    scratch.documents().into_keys().collect()
}

fn log(repository: &Path) -> PathBuf {
    repository.join(format!(".github/agent-memory/{AGENT}/logs/2025-01-20.md"))
}

/// How often each entry is in the log.
fn entries(repository: &Path) -> BTreeMap<String, usize> {
    let text = std::fs::read_to_string(log(repository)).expect("the log is there");
    let (_, rest) = text.split_once("## Context\n").expect("the section is there");
    let (section, _) = rest.split_once("\n## ").expect("another section follows");
    let mut counts = BTreeMap::new();
    for line in section.lines().filter(|line| !line.is_empty()) {
        *counts.entry(line.to_owned()).or_default() += 1;
    }
    counts
}

/// The answer of the native host to an append, in a session that it starts if it is missing.
fn native_append(repository: &Path) -> String {
    let mut log = json!({"agent_name": AGENT, "repo_root": repository, "date": "2025-01-20"});
    native(&["call", "start_session", &log.to_string(), "--allow"], repository);
    log["section"] = json!("Context");
    log["content"] = json!("by the native host");
    let output = native(&["call", "append_entry", &log.to_string(), "--allow"], repository);
    String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
}

fn hand_over(repository: &Path, to: &str) {
    let output = native(&["hand-over", "--to", to], repository);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn native(arguments: &[&str], repository: &Path) -> Output {
    Command::new(program("agent-memory")).args(arguments).arg(repository).output().expect("it runs")
}
