//! The plugin beside other plugins and beside the other hosts, as programs use it.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Lines};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::time::{Duration, Instant};

use agent_memory_conformance::case::Documents;
use agent_memory_tests::medium::Medium;
use agent_memory_tests::product::program;
use agent_memory_tests::race_writer::Host;
use agent_memory_tests::random::{Random, replay, seed_or};
use agent_memory_tests::runners::{node, plugin};
use agent_memory_tests::scratch::Scratch;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

const AGENT: &str = "aristotle";
const DOCUMENTS: [&str; 3] =
    ["aristotle/_schema.md", "aristotle/_summary.md", "aristotle/logs/2025-01-20.md"];

/// Writers, and their entries: 3,000 in all.
const HOSTS: [(Host, usize); 4] =
    [(Host::Native, 900), (Host::Native, 900), (Host::Node, 300), (Host::Python, 300)];
const PLUGIN: [(Host, usize); 1] = [(Host::Plugin, 600)];
/// Writers that are refused meanwhile, and their attempts.
const REFUSED_HOSTS: [(Host, usize); 3] =
    [(Host::Native, 200), (Host::Node, 200), (Host::Python, 200)];
const REFUSED_PLUGINS: [(Host, usize); 2] = [(Host::Plugin, 300); 2];

/// How many plugins take the place over from the one before.
const ROUNDS: usize = 12;
/// More entries than a round has time for.
const ENDLESS: usize = 1_000_000;

#[test]
fn nothing_is_lost_between_plugins_and_the_other_hosts_are_refused_beside_them() {
    if plugin::left_out() || node::left_out("race-writer.js") {
        return;
    }
    // In memory, since 3,000 syncs of a disk would take too long.
    let (directory, _) = Medium::Memory.directory();
    let scratch = Scratch::within(directory, &Documents::new());
    let repository = scratch.repo();
    assert!(native_append(&repository).contains("\"section\":\"Context\""));

    let began = Instant::now();
    let mut acknowledged = race(&repository, "first", &HOSTS, &REFUSED_PLUGINS, "plugins");
    println!("{} entries of hosts in {:.1?}", acknowledged.len(), began.elapsed());
    hand_over(&repository, "plugins");
    let began = Instant::now();
    let of_plugin = race(&repository, "then", &PLUGIN, &REFUSED_HOSTS, "hosts");
    println!("{} entries of a plugin in {:.1?}", of_plugin.len(), began.elapsed());
    acknowledged.extend(of_plugin);
    assert_eq!(acknowledged.len(), 3000);

    let written = entries(&repository);
    let lost_or_doubled: Vec<_> =
        acknowledged.iter().filter(|entry| written.get(*entry) != Some(&1)).collect();
    assert_eq!(lost_or_doubled, Vec::<&String>::new());
    // The log has only these entries and the first one.
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

/// A plugin that writes entries, and what it has said so far.
struct Running {
    process: Child,
    output: Lines<BufReader<ChildStdout>>,
    acknowledged: Vec<String>,
}

impl Running {
    fn start(repository: &Path, id: &str) -> Self {
        let mut process = start(Host::Plugin, repository, id, ENDLESS);
        let output = BufReader::new(process.stdout.take().expect("its output")).lines();
        Running { process, output, acknowledged: Vec::new() }
    }

    /// Reads the next line: an acknowledged entry, or the error of a refused one.
    fn next(&mut self) -> Result<(), String> {
        let line = self.output.next().expect("it goes on").expect("UTF-8");
        self.hear(line)
    }

    fn hear(&mut self, line: String) -> Result<(), String> {
        match line.strip_prefix("ok ") {
            Some(rest) => {
                self.acknowledged.push(rest.split(' ').next().unwrap_or_default().to_owned());
                Ok(())
            }
            None => Err(line),
        }
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.process), signal).expect("it is there");
    }

    /// Writes on until another plugin has taken the place over. Nothing is acknowledged after that.
    fn is_taken_over(&mut self) {
        let refused = loop {
            if let Err(refused) = self.next() {
                break refused;
            }
        };
        for line in [refused, self.next().expect_err("it does not take the place back")] {
            assert!(line.contains("another plugin has taken over"), "{line}");
        }
    }

    /// Kills it, and returns the acknowledged entries.
    fn kill(mut self) -> Vec<String> {
        self.process.kill().and_then(|()| self.process.wait()).expect("it can be killed");
        while let Some(Ok(line)) = self.output.next() {
            // Another plugin may have taken the place over, and the last line may be cut short.
            let _ = self.hear(line);
        }
        self.acknowledged
    }
}

/// In each round, a plugin writes while the next one takes the place over. Some plugins are stopped
/// meanwhile and go on, and some are killed before.
#[test]
fn acknowledged_entries_survive_plugins_that_take_over_and_are_stopped_or_killed() {
    if plugin::left_out() {
        return;
    }
    let scratch = Scratch::new(&Documents::new());
    let repository = scratch.repo();
    let seed = seed_or(1);
    let test = "acknowledged_entries_survive_plugins_that_take_over_and_are_stopped_or_killed";
    println!("{}", replay("plugin", test, seed));
    let mut random = Random::new(seed);
    let mut acknowledged = Vec::new();
    let mut before: Option<Running> = None;
    for round in 0..ROUNDS {
        let mut next = Running::start(&repository, &format!("round{round}"));
        if let Some(mut before) = before.take() {
            // The earlier plugin may be at any point of its writing.
            match round % 3 {
                0 => {
                    next.next().expect("it writes at once");
                    before.is_taken_over();
                }
                1 => {
                    before.signal(Signal::STOP);
                    next.next().expect("it writes at once");
                    before.signal(Signal::CONT);
                    before.is_taken_over();
                }
                _ => {}
            }
            acknowledged.extend(before.kill());
        }
        for _ in 0..random.below(20) {
            next.next().expect("it has the place");
        }
        std::thread::sleep(Duration::from_micros(random.below(8000) as u64));
        before = Some(next);
    }
    acknowledged.extend(before.expect("the last one").kill());
    let (ok, errors) = lines(start(Host::Plugin, &repository, "last", 1));
    assert_eq!((ok, errors), (vec!["last-0".to_owned()], Vec::new()));
    let written = entries(&repository);
    let lost_or_doubled: Vec<_> =
        acknowledged.iter().filter(|entry| written.get(*entry) != Some(&1)).collect();
    assert_eq!(lost_or_doubled, Vec::<&String>::new());
    println!("{} entries", acknowledged.len());
    // Each killed plugin may have written one entry without saying so.
    assert!(written.len() <= acknowledged.len() + 1 + ROUNDS, "{written:?}");
    assert_eq!(names(&scratch), DOCUMENTS);
}

/// Starts a writer.
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

/// The paths of the agent's documents, and of files that were left beside them.
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
