//! Processes of all hosts change one directory of records, one after the other, and each is killed
//! with SIGKILL at a random moment. The directory then holds the result of the first calls, at least
//! of all acknowledged ones. The next writer need not wait.
//!
//! `KILLS=2000` kills 2,000 processes in each test.

use std::env;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use agent_memory_conformance::case::Format;
use agent_memory_conformance::runner::Answer;
use agent_memory_host::AgentMemory;
use agent_memory_tests::TIMEOUT;
use agent_memory_tests::medium::Medium;
use agent_memory_tests::process::{Call, Host, Process};
use agent_memory_tests::random::{Random, replay, seed_or};
use agent_memory_tests::stored_records::{strays, tasks};
use serde_json::json;
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// The number of processes that each test kills if the variable `KILLS` is not set.
const KILLS: usize = 24;
/// The number of kills after which a new directory is used.
const KILLS_OF_A_DIRECTORY: usize = 8;
/// The most answers that a process gives before it is killed.
const ANSWERS: usize = 12;
/// The longest time from the last of these answers to the kill.
const DELAY: Duration = Duration::from_millis(8);

/// The tests run one after the other, since each uses the whole machine.
static ALONE: Mutex<()> = Mutex::new(());

#[test]
fn acknowledged_calls_survive_kill_9_in_json() {
    kill_all(Format::Json, "acknowledged_calls_survive_kill_9_in_json");
}

#[test]
fn acknowledged_calls_survive_kill_9_in_sqlite() {
    kill_all(Format::Sqlite, "acknowledged_calls_survive_kill_9_in_sqlite");
}

/// Counts of the test.
#[derive(Debug, Default)]
struct Figures {
    kills: usize,
    acknowledged: usize,
    /// The number of calls in effect that were not acknowledged.
    unsaid: usize,
}

fn kill_all(format: Format, test: &str) {
    let _alone = ALONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let seed = seed_or(1);
    let kills = env::var("KILLS").map_or(KILLS, |text| text.parse().expect("KILLS is a number"));
    println!("to draw the same moments: KILLS={kills} {}", replay("records_kill", test, seed));
    let mut random = Random::new(seed);
    let mut figures = Figures::default();
    let began = Instant::now();
    let media = [Medium::Memory, Medium::Disk];
    for (begun, medium) in (0..kills).step_by(KILLS_OF_A_DIRECTORY).zip(media.into_iter().cycle()) {
        let mut records = Records::new(medium.directory().0, format);
        for _ in begun..kills.min(begun + KILLS_OF_A_DIRECTORY) {
            records.kill_one(&mut random, &mut figures);
        }
        records.go_on();
        assert_eq!(strays(records.directory.path()), Vec::<String>::new());
    }
    println!("{format:?}: {figures:?} in {:.1?}", began.elapsed());
    assert!(figures.acknowledged > 0, "every process was killed before its first answer");
}

/// The call with this number, the same for all processes. Every fourth recalls, the others add a
/// task.
fn call(number: usize) -> Call {
    if is_recall(number) {
        return Call { tool: "recall_context", arguments: json!({"limit": 1}) };
    }
    let words = if number % 4 == 1 { 600 } else { 1 };
    let content = format!("{number}:{}", " word".repeat(words));
    let arguments = json!({"type": "task", "content": content, "tags": ["kill"]});
    Call { tool: "store_memory", arguments }
}

fn is_recall(number: usize) -> bool {
    number % 4 == 3
}

/// A directory of records.
struct Records {
    directory: TempDir,
    format: Format,
    /// The hosts that take turns.
    hosts: Vec<Host>,
    /// The number of calls in effect.
    done: usize,
    /// A memory that does not wait for locks.
    no_wait: AgentMemory,
    runtime: Runtime,
}

impl Records {
    fn new(directory: TempDir, format: Format) -> Self {
        let path = directory.path().to_str().expect("scratch paths are UTF-8");
        let memory = AgentMemory::builder().toolsets(["records"]).lock_wait(Duration::ZERO);
        let memory = memory.setting("records", "directory", path);
        let memory = memory.setting("records", "format", format.name()).build();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        Self {
            directory,
            format,
            hosts: Host::all_with_python(),
            done: 0,
            no_wait: memory.expect("the memory opens"),
            runtime: runtime.expect("a runtime"),
        }
    }

    /// Lets a process make calls, kills it, and checks the directory.
    fn kill_one(&mut self, random: &mut Random, figures: &mut Figures) {
        let host = self.hosts[figures.kills % self.hosts.len()];
        figures.kills += 1;
        let at_once = if random.below(2) == 0 { 1 } else { 4 };
        // The first call makes the directory and its files.
        let answers = if self.done == 0 { 0 } else { random.below(ANSWERS + 1) };
        let delay = DELAY.mul_f64(random.below(1000) as f64 / 1000.0);

        let mut process = Process::start_on_records(host, self.directory.path(), self.format);
        let mut sent = self.done;
        let mut answered = Vec::new();
        let mut end = None;
        let hang = Instant::now() + TIMEOUT;
        while end.is_none_or(|end| Instant::now() < end) {
            while sent < self.done + answered.len() + at_once {
                process.send(sent, &call(sent));
                sent += 1;
            }
            if answered.len() >= answers {
                end = end.or(Some(Instant::now() + delay));
            }
            answered.extend(process.answer(end.unwrap_or(hang)));
            assert!(Instant::now() < hang, "{host:?} hangs after {} answers", answered.len());
        }
        answered.extend(process.kill());
        for (number, answer) in &answered {
            let noted = |answer: &Answer| match answer {
                Answer::Result(result) => !is_recall(*number) || result["warnings"] == json!([]),
                _ => false,
            };
            assert!(noted(answer), "{host:?}: {:?}: {answer:?}", call(*number));
        }
        figures.acknowledged += answered.len();
        let acknowledged = answered.iter().map(|(number, _)| number + 1).max();
        let acknowledged = acknowledged.unwrap_or(self.done);
        self.done = self.found();
        assert!(self.done >= acknowledged, "{acknowledged} acknowledged, {} kept", self.done);
        assert!(self.done <= sent, "{sent} sent, {} kept", self.done);
        figures.unsaid += self.done - acknowledged;
        // Otherwise the next process continues from the state that this one has left.
        if random.below(2) == 0 {
            self.go_on();
        }
    }

    /// The number of calls in effect, which are the first ones, in order and complete.
    fn found(&self) -> usize {
        let kept = tasks(self.directory.path(), self.format);
        let accesses: u64 = kept.iter().map(|task| task.access_count).sum();
        let done = kept.len() + usize::try_from(accesses).expect("a small number");
        let adds = (0..done).filter(|number| !is_recall(*number)).map(call);
        let adds: Vec<_> = adds.map(|add| add.arguments["content"].clone()).collect();
        let kept: Vec<_> = kept.into_iter().map(|task| json!(task.content)).collect();
        assert!(kept == adds, "after {done} calls: {kept:?} are kept");
        done
    }

    /// Makes the next call in this process. It finds the lock free and removes stray files.
    fn go_on(&mut self) {
        let Call { tool, arguments } = call(self.done);
        let outcome = self.runtime.block_on(self.no_wait.call(tool, &arguments.to_string()));
        let outcome = outcome.expect("the call is made");
        assert!(outcome.answer.is_ok(), "the next writer: {}", outcome.json());
        self.done += 1;
        assert_eq!(self.found(), self.done);
    }
}
