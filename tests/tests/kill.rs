//! Processes of all hosts write to one repository, one after the other, and each is killed with
//! SIGKILL at a random moment. The repository then holds, to the byte, the result of the first calls:
//! at least all acknowledged calls, in order, and no part of a further call.
//!
//! `KILLS=2000` kills 2,000 processes in each test.

use std::collections::BTreeSet;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use agent_memory_conformance::case::Documents;
use agent_memory_conformance::in_memory::InMemory;
use agent_memory_conformance::runner::Answer;
use agent_memory_host::AgentMemory;
use agent_memory_tests::TIMEOUT;
use agent_memory_tests::medium::Medium;
use agent_memory_tests::process::{Call, Host, Process};
use agent_memory_tests::random::{Random, replay, seed_or};
use agent_memory_tests::scratch::Scratch;
use jiff::{ToSpan, civil};
use serde_json::json;
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// The number of processes that each test kills if `KILLS` is not set, equally many of each host.
const KILLS: usize = 48;
/// The number of kills after which a new repository is used.
const KILLS_OF_A_REPOSITORY: usize = 8;
/// The most answers that a process gives before it is killed.
const ANSWERS: usize = 12;
/// The longest time from the last of these answers to the kill.
const DELAY: Duration = Duration::from_millis(8);
/// The longest time to look for a temporary file, which may be gone too soon to be seen.
const LOOK: Duration = Duration::from_secs(1);
/// The time between two looks.
const GLANCE: Duration = Duration::from_micros(20);

const AGENT: &str = "aristotle";
/// The calls of a day: the first starts the session, and some change the summary.
const DAY: usize = 16;
const SUMMARY_CALLS: [usize; 3] = [3, 8, 13];
const SECTIONS: [&str; 3] = ["Context", "Decisions", "Next Actions"];

/// The tests run one after the other, since each uses the whole machine.
static ALONE: Mutex<()> = Mutex::new(());

#[test]
fn acknowledged_calls_survive_kill_9_and_nothing_is_torn_in_memory() {
    kill_all(Medium::Memory, "acknowledged_calls_survive_kill_9_and_nothing_is_torn_in_memory");
}

#[test]
fn acknowledged_calls_survive_kill_9_and_nothing_is_torn_on_disk() {
    kill_all(Medium::Disk, "acknowledged_calls_survive_kill_9_and_nothing_is_torn_on_disk");
}

/// The moment of a kill, after some answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Moment {
    /// After a delay.
    Any,
    /// When a temporary file is seen, or a little later.
    Writing,
    /// When a temporary file was seen and is gone, or a little later.
    Written,
}

/// Counts of the test.
#[derive(Debug, Default)]
struct Figures {
    kills: [usize; 3],
    acknowledged: usize,
    /// The number of calls in effect that were not acknowledged.
    unsaid: usize,
    /// The number of repositories with only some of a new agent's three documents.
    begun_in_part: usize,
    with_stray_files: usize,
    most_stray_files: usize,
}

fn kill_all(medium: Medium, test: &str) {
    let _alone = ALONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let seed = seed_or(1);
    let kills = env::var("KILLS").map_or(KILLS, |text| text.parse().expect("KILLS is a number"));
    let (directory, kind) = medium.directory();
    println!("{medium:?}: {} (file system {kind:#x})", directory.path().display());
    println!("to draw the same moments: KILLS={kills} {}", replay("kill", test, seed));
    let mut random = Random::new(seed);
    let mut figures = Figures::default();
    let began = Instant::now();
    for begun in (0..kills).step_by(KILLS_OF_A_REPOSITORY) {
        let within = TempDir::new_in(&directory).expect("a scratch directory");
        let mut repository = Repository::new(Scratch::within(within, &Documents::new()));
        for _ in begun..kills.min(begun + KILLS_OF_A_REPOSITORY) {
            repository.kill_one(&mut random, &mut figures);
        }
        repository.go_on();
    }
    println!("{figures:#?} in {:.1?}", began.elapsed());
    assert!(figures.acknowledged > 0, "every process was killed before its first answer");
}

/// A repository, and its expected contents.
struct Repository {
    scratch: Scratch,
    root: String,
    /// The hosts that take turns.
    hosts: Vec<Host>,
    expected: InMemory,
    /// The number of calls in effect.
    done: usize,
    /// A handle that does not wait for locks.
    no_wait: AgentMemory,
    runtime: Runtime,
}

impl Repository {
    fn new(scratch: Scratch) -> Self {
        let root = scratch.places().repo;
        let memory = AgentMemory::builder().allow(&root).lock_wait(Duration::ZERO).build();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        Self {
            hosts: Host::all_with_python(),
            expected: InMemory::new(&root, &Documents::new()),
            done: 0,
            no_wait: memory.expect("the memory opens"),
            runtime: runtime.expect("a runtime"),
            scratch,
            root,
        }
    }

    /// The call with this number, the same for all processes. Every sixteenth begins a day.
    fn call(&self, number: usize) -> Call {
        let mut arguments = json!({"agent_name": AGENT, "repo_root": self.root});
        let lines = if number % 4 == 1 { 1000 } else { 1 };
        let content = format!("- the words of call {number}\n").repeat(lines);
        let tool = match number % DAY {
            0 => {
                arguments["date"] = json!(date(number));
                "start_session"
            }
            of if SUMMARY_CALLS.contains(&of) => {
                arguments["section"] = json!("Key Knowledge");
                arguments["content"] = json!(content);
                arguments["mode"] =
                    json!(if of == SUMMARY_CALLS[0] { "replace" } else { "append" });
                "update_summary"
            }
            _ => {
                arguments["date"] = json!(date(number));
                arguments["section"] = json!(SECTIONS[number % SECTIONS.len()]);
                arguments["content"] = json!(content);
                "append_entry"
            }
        };
        Call { tool, arguments }
    }

    /// Lets a process make calls, kills it, and checks the repository.
    fn kill_one(&mut self, random: &mut Random, figures: &mut Figures) {
        let hosts = &self.hosts;
        let of_host = figures.kills.iter().sum::<usize>() % hosts.len();
        let host = hosts[of_host];
        figures.kills[of_host] += 1;
        let at_once = if random.below(2) == 0 { 1 } else { 4 };
        // The first call writes several documents.
        let answers = if self.done == 0 { 0 } else { random.below(ANSWERS + 1) };
        let moment = *random.pick(&[Moment::Any, Moment::Writing, Moment::Written]);
        let longest = if moment == Moment::Any { DELAY } else { DELAY / 16 };
        let delay = longest.mul_f64(random.below(1000) as f64 / 1000.0);

        let mut process = Process::start(host, &self.scratch.repo());
        let mut sent = self.done;
        let mut answered = Vec::new();
        let mut was_writing = false;
        let mut looking = None;
        let mut end = None;
        let hang = Instant::now() + TIMEOUT;
        while end.is_none_or(|end| Instant::now() < end) {
            while sent < self.done + answered.len() + at_once {
                process.send(sent, &self.call(sent));
                sent += 1;
            }
            if end.is_none() && answered.len() >= answers {
                let since: &mut Instant = looking.get_or_insert_with(Instant::now);
                let is_writing = self.is_writing();
                let has_come = match moment {
                    Moment::Any => true,
                    Moment::Writing => is_writing,
                    Moment::Written => was_writing && !is_writing,
                };
                was_writing = is_writing;
                if has_come || since.elapsed() > LOOK {
                    end = Some(Instant::now() + delay);
                }
            }
            // Looking for a file must not wait for an answer.
            let glance = looking.map(|_| Instant::now() + GLANCE);
            answered.extend(process.answer(end.or(glance).unwrap_or(hang)));
            assert!(Instant::now() < hang, "{host:?} hangs after {} answers", answered.len());
        }
        answered.extend(process.kill());
        figures.acknowledged += answered.len();
        self.check(&answered, sent, figures);
        // Otherwise the next process continues from the state that this one has left.
        if random.below(2) == 0 {
            self.go_on();
        }
    }

    /// Whether there is a temporary file.
    fn is_writing(&self) -> bool {
        let agent = self.scratch.repo().join(".github/agent-memory").join(AGENT);
        let mut entries = [agent.join("logs"), agent].into_iter().flat_map(fs::read_dir).flatten();
        let is_temporary = |name: OsString| name.as_encoded_bytes().starts_with(b".");
        entries.any(|entry| entry.is_ok_and(|entry| is_temporary(entry.file_name())))
    }

    /// Finds how many calls are in effect, and checks the documents.
    fn check(&mut self, answered: &[(usize, Answer)], sent: usize, figures: &mut Figures) {
        let acknowledged = answered.iter().map(|(number, _)| number + 1).max().unwrap_or(self.done);
        let mut documents = self.scratch.documents();
        let strays: BTreeSet<String> =
            documents.extract_if(.., |path, _| path.contains("/.")).map(|(path, _)| path).collect();
        while self.done < acknowledged {
            let Call { tool, arguments } = self.call(self.done);
            let expected = self.expected.call(tool, &arguments);
            assert!(matches!(expected, Answer::Result(_)), "a call that fails: {expected:?}");
            let answer = answered.iter().find(|(number, _)| *number == self.done);
            assert!(
                answer.is_none_or(|(_, answer)| *answer == expected),
                "{answer:?} is not {expected:?}"
            );
            self.done += 1;
        }
        // Further calls may be in effect without an answer.
        loop {
            let before = self.expected.documents();
            let next = InMemory::new(&self.root, &before);
            let Call { tool, arguments } = self.call(self.done);
            let answer = next.call(tool, &arguments);
            assert!(matches!(answer, Answer::Result(_)), "a call that fails: {answer:?}");
            let after = next.documents();
            let changed: Vec<_> =
                after.iter().filter(|(path, text)| before.get(*path) != Some(*text)).collect();
            // The documents of one call appear one by one, in the order of their names.
            let mut so_far = before;
            for (part, (path, text)) in changed.iter().enumerate() {
                if documents == so_far {
                    figures.begun_in_part += usize::from(part > 0);
                    return self.check_strays(&strays, &changed[part..], figures);
                }
                so_far.insert((*path).clone(), (*text).clone());
            }
            assert!(self.done < sent, "{}", difference(&documents, &self.expected.documents()));
            self.expected = next;
            self.done += 1;
            figures.unsaid += 1;
        }
    }

    /// Checks that unexpected files are temporary files of documents that the next call changes.
    fn check_strays(
        &self,
        strays: &BTreeSet<String>,
        next: &[(&String, &Vec<u8>)],
        figures: &mut Figures,
    ) {
        let temporary = |path: &str| {
            let (directory, name) = path.rsplit_once('/').expect("a document of an agent");
            format!("{directory}/.{name}.agent-memory-tmp")
        };
        let allowed: BTreeSet<String> = next.iter().map(|(path, _)| temporary(path)).collect();
        assert!(strays.is_subset(&allowed), "{strays:?} are left, and not of {allowed:?} alone");
        figures.with_stray_files += usize::from(!strays.is_empty());
        figures.most_stray_files = figures.most_stray_files.max(strays.len());
        assert_eq!(self.scratch.strays(), Vec::<String>::new());
        let beside_the_lock = fs::read_dir(self.scratch.repo().join(".git/agent-memory"));
        for entry in beside_the_lock.into_iter().flatten() {
            let name = entry.expect("an entry").file_name();
            assert!(name == "queue.sqlite" || name == "turn.sqlite", "{name:?} is left");
        }
    }

    /// Makes the next call in this process. It finds the lock free and removes stray files.
    fn go_on(&mut self) {
        let Call { tool, arguments } = self.call(self.done);
        let outcome = self.runtime.block_on(self.no_wait.call(tool, &arguments.to_string()));
        let outcome = outcome.expect("the call is made");
        assert!(outcome.answer.is_ok(), "the next writer: {}", outcome.json());
        let Answer::Result(expected) = self.expected.call(tool, &arguments) else {
            panic!("a call that fails");
        };
        assert_eq!(outcome.json(), expected.to_string());
        self.done += 1;
        let found = self.scratch.documents();
        let expected = self.expected.documents();
        assert!(found == expected, "{}", difference(&found, &expected));
    }
}

/// The date of a call. Each day is before the last one, so that none is in the future.
fn date(number: usize) -> String {
    let day = i64::try_from(number / DAY).expect("a small number");
    civil::date(2025, 1, 20).checked_sub(day.days()).expect("a date").to_string()
}

/// A message about the documents that differ.
fn difference(found: &Documents, expected: &Documents) -> String {
    let paths: BTreeSet<&String> = found.keys().chain(expected.keys()).collect();
    let mut lines = String::new();
    for path in paths.into_iter().filter(|path| found.get(*path) != expected.get(*path)) {
        let text = |documents: &Documents| {
            documents.get(path).map(|bytes| {
                let text = String::from_utf8_lossy(bytes);
                let end = text.char_indices().rev().nth(100).map_or(0, |(at, _)| at);
                format!("{} bytes, ending in {:?}", bytes.len(), &text[end..])
            })
        };
        lines += &format!(
            "`{path}` is lost, torn or unexpected: found {:?}; expected at least {:?}\n",
            text(found),
            text(expected)
        );
    }
    lines
}
