//! Many processes of all hosts append to one log at once, and some are killed. No acknowledged entry
//! is lost or doubled, no entry is torn, and no writer hangs or fails, even after a long wait.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use agent_memory_conformance::case::Documents;
use agent_memory_host::AgentMemory;
use agent_memory_host::storage::{LockTimeout, Place, Storage, StorageOptions, Writer};
use agent_memory_tests::TIMEOUT;
use agent_memory_tests::medium::Medium;
use agent_memory_tests::race_writer::Host;
use agent_memory_tests::runners::{node, python};
use agent_memory_tests::scratch::Scratch;
use serde_json::{Value, json};

const AGENT: &str = "aristotle";
const WRITERS: usize = 8;
const ENTRIES: usize = 250;
/// More entries than a writer can write before it is killed.
const ENDLESS: usize = 1_000_000;
/// The writers that are killed, and after how many acknowledgements: one or two of each host.
const KILLS: [(usize, usize); 4] = [(0, 40), (1, 160), (4, 80), (5, 120)];
/// The entries of one late writer of each host, which begins after the next host has written. So
/// the lock passes between the hosts, however fast one of them is.
const LATE_ENTRIES: usize = 1;
/// How long the lock is held, and how long a writer waits for it: longer than a busy machine pauses.
const HELD: Duration = Duration::from_secs(4);
const LOCK_WAIT: Duration = Duration::from_secs(60);

/// The races run one after the other, since each uses the whole machine.
static ALONE: Mutex<()> = Mutex::new(());

#[test]
fn nothing_is_lost_between_processes_of_all_hosts_in_memory() {
    race(Medium::Memory);
}

#[test]
fn nothing_is_lost_between_processes_of_all_hosts_on_disk() {
    race(Medium::Disk);
}

#[test]
fn a_writer_of_any_host_that_waits_four_seconds_for_the_lock_succeeds() {
    let _alone = ALONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let hosts = built();
    thread::scope(|scope| {
        for host in hosts {
            scope.spawn(move || wait(host));
        }
    });
}

/// The built hosts that share locks. If Node or Python is not built, the current test counts as
/// skipped.
fn built() -> Vec<Host> {
    let node = !node::left_out("race-writer.js");
    let python = !python::left_out();
    let others = [(Host::Node, node), (Host::Python, python)].into_iter();
    let others = others.filter(|(_, is_built)| *is_built).map(|(host, _)| host);
    [Host::Native].into_iter().chain(others).collect()
}

/// The output of a writer, and whether it was killed.
#[derive(Default)]
struct Record {
    acknowledged: Vec<usize>,
    errors: Vec<String>,
    killed: bool,
    longest: u64,
}

enum Event {
    Said(String, String),
    Closed(String),
}

struct Race<'a> {
    repository: &'a Path,
    events: Sender<Event>,
    running: BTreeMap<String, Child>,
    records: BTreeMap<String, Record>,
}

impl<'a> Race<'a> {
    fn new(repository: &'a Path) -> (Self, Receiver<Event>) {
        let (events, heard) = channel();
        let running = BTreeMap::new();
        let records = BTreeMap::new();
        (Self { repository, events, running, records }, heard)
    }

    fn start(&mut self, host: Host, id: &str, count: usize, lock_wait: Duration) {
        let mut command = host.writer();
        let count = count.to_string();
        let lock_wait = lock_wait.as_millis().to_string();
        command.arg(self.repository).args([AGENT, &count, id, &lock_wait]);
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("a writer starts");
        let lines = BufReader::new(child.stdout.take().expect("its output is piped")).lines();
        let events = self.events.clone();
        let name = id.to_owned();
        thread::spawn(move || {
            let said = lines.map_while(Result::ok).map(|line| Event::Said(name.clone(), line));
            said.chain([Event::Closed(name.clone())]).try_for_each(|event| events.send(event))
        });
        self.running.insert(id.to_owned(), child);
        self.records.insert(id.to_owned(), Record::default());
    }

    fn hear(&mut self, id: &str, line: &str) {
        let record = self.records.get_mut(id).expect("a writer that was started");
        let said = line.strip_prefix("ok ").and_then(|rest| rest.split_once(' '));
        let entry = said.and_then(|(entry, took)| {
            let number = entry.strip_prefix(id)?.strip_prefix('-')?.parse().ok()?;
            Some((number, took.parse().ok()?))
        });
        match entry {
            Some((number, took)) => {
                record.acknowledged.push(number);
                record.longest = record.longest.max(took);
            }
            None => record.errors.push(line.to_owned()),
        }
    }

    /// Kills a writer, and starts another for the rest of its entries.
    fn kill(&mut self, host: Host, id: &str) {
        self.running.get_mut(id).expect("it is running").kill().expect("a process can be killed");
        let record = self.records.get_mut(id).expect("it was started");
        record.killed = true;
        let rest = ENTRIES.saturating_sub(record.acknowledged.len());
        self.start(host, &format!("{id}x"), rest, TIMEOUT);
    }
}

fn race(medium: Medium) {
    let _alone = ALONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let hosts = built();
    let (directory, kind) = medium.directory();
    println!("{medium:?}: {} (file system {kind:#x})", directory.path().display());
    println!("writers of {hosts:?}");
    let scratch = Scratch::within(directory, &Documents::new());
    let began = Instant::now();
    let records = run(&scratch, &hosts);
    let took = began.elapsed();
    check(&scratch, &records);
    let killed =
        |host: &str| records.iter().any(|(id, record)| record.killed && id.starts_with(host));
    for host in &hosts {
        assert!(killed(&host.name()), "no writer of {host:?} was killed");
    }
    let longest = records.values().map(|record| record.longest).max().unwrap_or_default();
    let handovers = handovers(&scratch, &hosts);
    println!(
        "{} entries in {took:.1?}; the lock passed from one host to another {handovers} times; \
         the longest call took {longest} ms",
        entries(&scratch).len(),
    );
    assert!(handovers > 1 || hosts.len() == 1, "the hosts wrote one after the other");
}

fn run(scratch: &Scratch, hosts: &[Host]) -> BTreeMap<String, Record> {
    let repository = scratch.repo();
    let (mut race, heard) = Race::new(&repository);
    let host_of = |writer: usize| hosts[writer % hosts.len()];
    let name = |writer: usize| format!("{}{writer}", host_of(writer).name());
    for writer in 0..WRITERS {
        let is_killed = KILLS.iter().any(|(killed, _)| *killed == writer);
        let entries = if is_killed { ENDLESS } else { ENTRIES };
        race.start(host_of(writer), &name(writer), entries, TIMEOUT);
    }
    let kills = KILLS.map(|(writer, after)| (name(writer), host_of(writer), after));
    let next = hosts.iter().cycle().skip(1);
    let late = hosts.iter().zip(next).filter(|(host, next)| host != next);
    let late = late.map(|(host, next)| (next.name(), *host, format!("{}late", host.name())));
    follow(&mut race, &heard, &kills, &late.collect::<Vec<_>>());
    race.records
}

/// Reads the writers' output until the last has ended. A late writer is started once a writer whose
/// name begins with the given prefix has written.
fn follow(
    race: &mut Race<'_>,
    heard: &Receiver<Event>,
    kills: &[(String, Host, usize)],
    late: &[(String, Host, String)],
) {
    let deadline = Instant::now() + TIMEOUT;
    while !race.running.is_empty() {
        let left = deadline.saturating_duration_since(Instant::now());
        let Ok(event) = heard.recv_timeout(left) else {
            for child in race.running.values_mut() {
                let _ = child.kill();
            }
            panic!("these writers hang: {:?}", race.running.keys());
        };
        match event {
            Event::Said(id, line) => {
                race.hear(&id, &line);
                for (after, host, late) in late {
                    if id.starts_with(after) && !race.records.contains_key(late) {
                        race.start(*host, late, LATE_ENTRIES, TIMEOUT);
                    }
                }
                let record = &race.records[&id];
                let due = |(name, _, after): &&(String, Host, usize)| {
                    *name == id && !record.killed && record.acknowledged.len() >= *after
                };
                if let Some((_, host, _)) = kills.iter().find(due) {
                    race.kill(*host, &id);
                }
            }
            Event::Closed(id) => {
                let mut child = race.running.remove(&id).expect("it was running");
                let status = child.wait().expect("a child can be waited for");
                let killed = race.records[&id].killed;
                assert_eq!(status.success(), !killed, "`{id}` ended with {status}");
            }
        }
    }
}

/// Takes the lock from a running writer, and checks the call that has to wait for it.
fn wait(host: Host) {
    const ID: &str = "waiting";
    let scratch = Scratch::new(&Documents::new());
    let repository = scratch.repo();
    let (mut race, heard) = Race::new(&repository);
    race.start(host, ID, ENDLESS, LOCK_WAIT);
    let hear = |race: &mut Race<'_>| match heard.recv_timeout(TIMEOUT) {
        Ok(Event::Said(_, line)) => {
            race.hear(ID, &line);
            assert_eq!(race.records[ID].errors, Vec::<String>::new(), "{host:?}");
        }
        _ => panic!("{host:?}: the writer hangs or has ended"),
    };
    hear(&mut race);
    let lock = hold(&repository);
    thread::sleep(HELD);
    // Only one call is in progress now. The answers of the calls before it are dropped.
    let written = entries(&scratch).len();
    drop(lock);
    while race.records[ID].acknowledged.len() <= written {
        hear(&mut race);
    }
    let longest = Duration::from_millis(race.records[ID].longest);
    println!("{host:?}: the call that had to wait took {longest:?}");
    // The call may have begun a little after the lock was taken.
    assert!(longest > HELD / 2, "{host:?}: no call has waited: {longest:?}");
    let mut writer = race.running.remove(ID).expect("it is running");
    writer.kill().and_then(|()| writer.wait()).expect("a process can be killed");
}

/// Takes a repository's lock, like a writer in another process.
fn hold(repository: &Path) -> Writer {
    let storage = Storage::new(StorageOptions::default());
    storage.grant(repository).expect("the repository can be granted");
    let place = Place::repository(repository.to_str().expect("scratch paths are UTF-8"));
    let tree = storage.open(&place, &[]).expect("the repository opens");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let lock = tree.lock(LockTimeout::new(LOCK_WAIT));
    runtime.expect("a runtime").block_on(lock).expect("the lock is passed on")
}

/// The entries of the log, in order.
fn entries(scratch: &Scratch) -> Vec<(String, usize)> {
    let documents = scratch.documents();
    let log = documents.get(&format!("{AGENT}/logs/2025-01-20.md")).expect("the log is there");
    let log = std::str::from_utf8(log).expect("the log is UTF-8");
    let (_, rest) = log.split_once("## Context\n").expect("the section is there");
    let (section, _) = rest.split_once("\n## ").expect("another section follows");
    let lines = section.lines().filter(|line| !line.is_empty());
    let entry = |line: &str| {
        let (id, number) = line.rsplit_once('-')?;
        Some((id.to_owned(), number.parse().ok()?))
    };
    lines.map(|line| entry(line).unwrap_or_else(|| panic!("a torn entry: `{line}`"))).collect()
}

fn handovers(scratch: &Scratch, hosts: &[Host]) -> usize {
    let entries = entries(scratch);
    let host =
        |(id, _): &(String, usize)| hosts.iter().position(|host| id.starts_with(&host.name()));
    entries.windows(2).filter(|pair| host(&pair[0]) != host(&pair[1])).count()
}

fn check(scratch: &Scratch, records: &BTreeMap<String, Record>) {
    let mut written: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (id, number) in entries(scratch) {
        written.entry(id).or_default().push(number);
    }
    for (id, record) in records {
        assert!(record.errors.is_empty(), "calls of `{id}` failed: {:?}", record.errors);
        let written = written.remove(id).unwrap_or_default();
        let in_order: Vec<usize> = (0..written.len()).collect();
        assert_eq!(written, in_order, "`{id}`: an entry is lost, doubled or out of order");
        // A killed writer may have written one entry without acknowledging it.
        let more = written.len().checked_sub(record.acknowledged.len());
        let allowed = if record.killed { 1 } else { 0 };
        assert!(
            more.is_some_and(|more| more <= allowed),
            "`{id}` acknowledged {}, and {} are written",
            record.acknowledged.len(),
            written.len()
        );
    }
    assert!(written.is_empty(), "no writer has written {written:?}");
    let acknowledged: usize = records.values().map(|record| record.acknowledged.len()).sum();
    assert!(acknowledged >= WRITERS * ENTRIES, "only {acknowledged} were acknowledged");

    let documents = scratch.documents();
    let names: Vec<_> = documents.keys().map(String::as_str).collect();
    let expected = ["_schema.md", "_summary.md", "logs/2025-01-20.md"];
    assert_eq!(names, expected.map(|name| format!("{AGENT}/{name}")));
    assert_eq!(validated(scratch)["warnings"], json!([]));
    assert_eq!(scratch.strays(), Vec::<String>::new());
}

/// The result of `start_session` for the log.
fn validated(scratch: &Scratch) -> Value {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let memory = AgentMemory::builder().allow(scratch.repo()).build().expect("the memory opens");
    let arguments =
        json!({"agent_name": AGENT, "repo_root": scratch.places().repo, "date": "2025-01-20"})
            .to_string();
    let call = memory.call("start_session", &arguments);
    let outcome = runtime.expect("a runtime").block_on(call).expect("a call");
    assert!(outcome.answer.is_ok(), "the log is malformed: {}", outcome.json());
    serde_json::from_str(outcome.json()).expect("JSON")
}
