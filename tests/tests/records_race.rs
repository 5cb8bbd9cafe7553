//! Processes of all hosts add memories to one directory of records at once, and some are killed. In
//! other tests, hundreds of calls run at once in one process. Every acknowledged memory is stored
//! once, no call fails, and no access is lost.
//!
//! `WRITERS=8 ADDS=250` sets the number of processes and of memories that each adds.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use std::{env, thread};

use agent_memory_conformance::case::Format;
use agent_memory_conformance::runner::Answer;
use agent_memory_tests::TIMEOUT;
use agent_memory_tests::medium::Medium;
use agent_memory_tests::process::{Call, Host, Process};
use agent_memory_tests::product::program;
use agent_memory_tests::stored_records::{StoredMemory, strays, tasks};
use serde_json::json;

/// The number of processes and of memories that each adds, without `WRITERS` and `ADDS`.
const WRITERS: usize = 4;
const ADDS: usize = 25;
/// The number of adds after which a process recalls a memory.
const RECALL_EVERY: usize = 10;
/// How many calls run at once in one process, and for how many new agents.
const AT_ONCE: usize = 200;
const BEGINNINGS: usize = 3;

/// The races run one after the other, since each uses the whole machine.
static ALONE: Mutex<()> = Mutex::new(());

#[test]
fn nothing_is_lost_between_processes_of_both_hosts_in_json() {
    race(Format::Json);
}

#[test]
fn nothing_is_lost_between_processes_of_both_hosts_in_sqlite() {
    race(Format::Sqlite);
}

#[test]
fn two_hundred_calls_at_once_in_one_process_are_all_stored_in_json() {
    all_at_once(Format::Json);
}

#[test]
fn two_hundred_calls_at_once_in_one_process_are_all_stored_in_sqlite() {
    all_at_once(Format::Sqlite);
}

/// A number from an environment variable, or the default.
fn number(variable: &str, default: usize) -> usize {
    env::var(variable).map_or(default, |text| text.parse().expect("it is a number"))
}

fn store(content: &str) -> Call {
    let arguments = json!({"type": "task", "content": content, "tags": ["race", content]});
    Call { tool: "store_memory", arguments }
}

/// One process.
struct Writer<'a> {
    directory: &'a Path,
    format: Format,
    host: Host,
    name: String,
    adds: usize,
    /// The number of adds after which it is killed. Another process then adds the rest.
    killed_after: Option<usize>,
    /// Where it waits after its first add, until all writers have added a memory.
    begun: &'a Begun,
}

/// The number of writers that have added a memory, and the number of all writers.
struct Begun(AtomicUsize, usize);

impl Begun {
    /// Counts this writer, and waits for the others.
    fn wait(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
        let hang = Instant::now() + TIMEOUT;
        while self.0.load(Ordering::Relaxed) < self.1 {
            assert!(Instant::now() < hang, "another writer hangs or has failed");
            thread::sleep(Duration::from_millis(1));
        }
    }
}

/// Counts of the calls of one process.
#[derive(Default)]
struct Record {
    acknowledged: usize,
    recalls: u64,
    killed: bool,
    longest: Duration,
}

impl Writer<'_> {
    fn start(&self) -> Process {
        Process::start_on_records(self.host, self.directory, self.format)
    }

    fn content(&self, number: usize) -> String {
        format!("{}-{number}", self.name)
    }

    /// Makes all calls, with a second process after a kill, and returns a record of each process.
    fn run(self, mut process: Process) -> Vec<(String, Record)> {
        let mut record = Record::default();
        while record.acknowledged < self.adds {
            if self.killed_after == Some(record.acknowledged) {
                // The process may still write this memory, and may even answer.
                process.send(0, &store(&self.content(record.acknowledged)));
                thread::sleep(Duration::from_millis(2));
                record.acknowledged += process.kill().len();
                record.killed = true;
                let name = format!("{}x", self.name);
                let adds = self.adds - record.acknowledged;
                let next = Writer { name, adds, killed_after: None, ..self };
                let process = next.start();
                let mut records = next.run(process);
                records.push((self.name, record));
                return records;
            }
            let began = Instant::now();
            let content = self.content(record.acknowledged);
            let answer = process.call(&store(&content));
            record.longest = record.longest.max(began.elapsed());
            match answer {
                Answer::Result(result) if result["memory"]["content"] == *content => {}
                answer => panic!("`{content}`: {answer:?}"),
            }
            record.acknowledged += 1;
            if record.acknowledged == 1 {
                self.begun.wait();
            }
            if record.acknowledged % RECALL_EVERY == 0 {
                let recall = Call { tool: "recall_context", arguments: json!({"limit": 1}) };
                match process.call(&recall) {
                    Answer::Result(result) if result["warnings"] == json!([]) => {
                        record.recalls += result["count"].as_u64().expect("a count");
                    }
                    answer => panic!("`{}` recalls: {answer:?}", self.name),
                }
            }
        }
        vec![(self.name, record)]
    }
}

fn race(format: Format) {
    let _alone = ALONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let writers = number("WRITERS", WRITERS);
    let adds = number("ADDS", ADDS);
    let hosts = Host::all_with_python();
    for medium in [Medium::Memory, Medium::Disk] {
        let (directory, kind) = medium.directory();
        println!("{medium:?}: {} (file system {kind:#x})", directory.path().display());
        let begun = Begun(0.into(), writers);
        // The first call makes the directory.
        let directory = directory.path().join("memories");
        let writer = |number: usize| {
            let host = hosts[number % hosts.len()];
            // Two of every four writers are killed, at different times.
            let killed_after =
                (number % 4 < 2).then_some((adds * (number + 1) / (writers + 2)).max(1));
            let name = format!("{host:?}{number}");
            Writer { directory: &directory, format, host, name, adds, killed_after, begun: &begun }
        };
        let writers: Vec<_> = (0..writers).map(writer).collect();
        // All begin when the last process is ready.
        let ready: Vec<_> = writers.into_iter().map(|writer| (writer.start(), writer)).collect();
        let began = Instant::now();
        let records: BTreeMap<String, Record> = thread::scope(|scope| {
            let running =
                ready.into_iter().map(|(process, writer)| scope.spawn(move || writer.run(process)));
            let running: Vec<_> = running.collect();
            let ended = running.into_iter().map(|writer| writer.join().expect("no call fails"));
            ended.flatten().collect()
        });
        let took = began.elapsed();
        let kept = tasks(&directory, format);
        check(&kept, &records);
        assert_eq!(strays(&directory), Vec::<String>::new());
        let longest = records.values().map(|record| record.longest).max().unwrap_or_default();
        let host = |task: &StoredMemory| task.content.chars().next();
        let handovers = kept.windows(2).filter(|pair| host(&pair[0]) != host(&pair[1])).count();
        println!(
            "{format:?}: {} memories in {took:.1?}, {} processes killed; the lock passed from one \
             host to another {handovers} times; the longest add took {longest:.1?}",
            kept.len(),
            records.values().filter(|record| record.killed).count(),
        );
        assert!(handovers > 1 || hosts.len() == 1, "the hosts wrote one after the other");
    }
}

/// Checks that the memories of every process are stored once and in order.
fn check(kept: &[StoredMemory], records: &BTreeMap<String, Record>) {
    let mut written: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for task in kept {
        let (name, number) = task.content.rsplit_once('-').expect("a content of ours");
        written.entry(name).or_default().push(number.parse().expect("a number"));
    }
    for (name, record) in records {
        let written = written.remove(name.as_str()).unwrap_or_default();
        let in_order: Vec<usize> = (0..written.len()).collect();
        assert_eq!(written, in_order, "`{name}`: a memory is lost, doubled or out of order");
        // A killed process may have written one memory without acknowledging it.
        let most = record.acknowledged + usize::from(record.killed);
        assert!(
            (record.acknowledged..=most).contains(&written.len()),
            "`{name}` acknowledged {}, and {} are kept",
            record.acknowledged,
            written.len()
        );
    }
    assert!(written.is_empty(), "nobody has added {written:?}");
    let recalls: u64 = records.values().map(|record| record.recalls).sum();
    let accesses: u64 = kept.iter().map(|task| task.access_count).sum();
    assert_eq!(accesses, recalls, "an access is lost");
}

fn all_at_once(format: Format) {
    let _alone = ALONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let each = Host::all().iter().flat_map(|host| [host; BEGINNINGS]);
    for host in each {
        let (directory, _) = Medium::Disk.directory();
        let mut process = Process::start_on_records(*host, directory.path(), format);
        let contents: Vec<String> =
            (0..AT_ONCE).map(|number| format!("at once {number}")).collect();
        let calls: Vec<Call> = contents.iter().map(|content| store(content)).collect();
        let began = Instant::now();
        let answers = process.call_all(&calls);
        println!("{host:?}, {format:?}: {AT_ONCE} at once in {:.1?}", began.elapsed());
        for (content, answer) in contents.iter().zip(answers) {
            match answer {
                Answer::Result(result) if result["memory"]["content"] == **content => {}
                answer => panic!("{host:?}: `{content}`: {answer:?}"),
            }
        }
        drop(process);
        let kept = tasks(directory.path(), format);
        let kept: Vec<&str> = kept.iter().map(|task| task.content.as_str()).collect();
        let other = kept.iter().zip(&contents).position(|(kept, content)| kept != content);
        assert_eq!(
            (other.map(|place| kept[place]), kept.len()),
            (None, AT_ONCE),
            "{host:?}: one is lost, doubled or overtaken by a later one"
        );
    }
}

/// Set when the conversion has ended in any way.
struct Ended<'a>(&'a AtomicBool);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn writers_go_on_while_rows_are_converted_to_a_file() {
    let _alone = ALONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let (directory, _) = Medium::Disk.directory();
    let start = |host: Host| Process::start_on_records(host, directory.path(), Format::Sqlite);
    let hosts = Host::all_with_python();
    let writers = (0..WRITERS).map(|number| (number, start(hosts[number % hosts.len()])));
    let writers: Vec<_> = writers.collect();
    let added = AtomicUsize::new(0);
    let ended = AtomicBool::new(false);
    let hang = Instant::now() + TIMEOUT;
    // Adds until the conversion has ended, and some more.
    let write = |number: usize, mut process: Process| {
        let mut adds = 0;
        let mut more = ADDS;
        while more > 0 {
            match process.call(&store(&format!("{number}-{adds}"))) {
                Answer::Result(_) => {}
                answer => panic!("{number}-{adds}: {answer:?}"),
            }
            adds += 1;
            added.fetch_add(1, Ordering::Relaxed);
            more -= usize::from(ended.load(Ordering::Relaxed));
            assert!(Instant::now() < hang, "the conversion does not end while others write");
        }
        adds
    };
    let convert = || {
        let _ended = Ended(&ended);
        while added.load(Ordering::Relaxed) < WRITERS * ADDS {
            assert!(Instant::now() < hang, "the writers hang");
            thread::sleep(Duration::from_millis(1));
        }
        let before = added.load(Ordering::Relaxed);
        let mut command = Command::new(program("agent-memory"));
        command.args(["records", "convert", "--to", "json", "--memory-dir"]).arg(directory.path());
        let output = command.output().expect("it runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        println!("{} adds while it converted", added.load(Ordering::Relaxed) - before);
    };
    let records: BTreeMap<String, Record> = thread::scope(|scope| {
        let running: Vec<_> = writers
            .into_iter()
            .map(|(number, process)| (number, scope.spawn(move || write(number, process))))
            .collect();
        convert();
        let ended = running.into_iter().map(|(number, writer)| {
            let acknowledged = writer.join().expect("no call fails");
            (number.to_string(), Record { acknowledged, ..Record::default() })
        });
        ended.collect()
    });
    check(&tasks(directory.path(), Format::Json), &records);
    assert_eq!(tasks(directory.path(), Format::Sqlite), Vec::<StoredMemory>::new());
}
