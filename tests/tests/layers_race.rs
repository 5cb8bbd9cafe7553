//! Native writers and writers in Node add recent memories of one agent at once, so many that they are
//! summarised several times, and some writers are killed. Node asks a function for summaries, the
//! native server uses the built-in summariser, and this program answers the follow-ups of the native
//! library. Every acknowledged memory is in one place, recent or in one summary, and the counts of the
//! summaries are right.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use agent_memory_conformance::runner::Answer;
use agent_memory_host::{AgentMemory, Caller, FollowUp, Outcome};
use agent_memory_tests::TIMEOUT;
use agent_memory_tests::medium::Medium;
use agent_memory_tests::process::{Call, Host, Process, RECENT_CAPACITY};
use rusqlite::{Connection, OpenFlags};
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

/// How many memories each writer adds.
const ADDS: usize = 30;

/// The races run one after the other, since each uses the whole machine.
static ALONE: Mutex<()> = Mutex::new(());

#[test]
fn no_memory_is_lost_or_summarised_twice_between_models_of_both_hosts() {
    race(&[Kind::Node, Kind::ByHand, Kind::Node, Kind::ByHand]);
}

#[test]
fn no_memory_is_lost_or_summarised_twice_between_models_and_the_built_in_summariser() {
    race(&[Kind::Node, Kind::Native, Kind::ByHand, Kind::Native]);
}

/// The author of a writer's summaries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A function of the Node program.
    Node,
    /// The built-in summariser, within the call.
    Native,
    /// This program, which answers the follow-ups of the native library.
    ByHand,
}

impl Kind {
    fn start(self, database: &Path) -> Writer {
        match self {
            Self::Node => Writer::Process(Process::start_on_layers(Host::Node, database)),
            Self::Native => Writer::Process(Process::start_on_layers(Host::Native, database)),
            Self::ByHand => Writer::ByHand(ByHand::start(database)),
        }
    }
}

enum Writer {
    Process(Process),
    ByHand(ByHand),
}

/// The native library, whose follow-ups this program answers.
struct ByHand {
    memory: AgentMemory,
    runtime: Runtime,
}

impl ByHand {
    fn start(database: &Path) -> Self {
        let memory = AgentMemory::builder()
            .toolsets(["layers"])
            .setting("layers", "file", json!(database))
            .setting("layers", "recent_capacity", json!(RECENT_CAPACITY))
            .external_models(["by hand"])
            .lock_wait(TIMEOUT)
            .build();
        let runtime = Builder::new_current_thread().enable_all().build();
        Self { memory: memory.expect("the memory opens"), runtime: runtime.expect("a runtime") }
    }

    fn call(&self, Call { tool, arguments }: &Call) -> Answer {
        let called = self.runtime.block_on(self.memory.call(tool, &arguments.to_string()));
        let outcome = called.expect("no call ends early");
        let answer = result(&outcome);
        let mut waiting = outcome.follow_ups;
        while let Some(follow_up) = waiting.pop() {
            waiting.extend(self.summarise(&follow_up));
        }
        Answer::Result(answer)
    }

    /// Claims and answers a follow-up, and returns those that the answer leaves.
    fn summarise(&self, FollowUp { id, payload, .. }: &FollowUp) -> Vec<FollowUp> {
        let lease = Duration::from_secs(90);
        let claimed = self.runtime.block_on(self.memory.claim(id, lease)).expect("it is claimed");
        if result(&claimed) != json!(true) {
            return Vec::new();
        }
        let payload: Value = serde_json::from_str(payload).expect("JSON");
        let memories = payload["memories"].as_array().expect("memories");
        let texts: Vec<&str> = memories.iter().filter_map(Value::as_str).collect();
        let summary = json!({"model": "by hand", "summary": texts.join(" ")}).to_string();
        let answered = self.memory.answer(id, &summary, Caller::default());
        self.runtime.block_on(answered).expect("it is answered").follow_ups
    }
}

/// The result of an outcome.
fn result(outcome: &Outcome) -> Value {
    assert!(outcome.answer.is_ok(), "{outcome:?}");
    serde_json::from_str(outcome.json()).expect("a result is JSON")
}

fn add(memory: &str) -> Call {
    let arguments = json!({"agent_id": "ada", "memory": memory});
    Call { tool: "add_recent_memory", arguments }
}

/// The memories that a writer has added.
#[derive(Default)]
struct Added {
    acknowledged: Vec<String>,
    /// The memory that it was adding when it was killed.
    uncertain: Option<String>,
}

/// Adds all memories of one writer. After a kill, another process adds the rest.
fn run(mut writer: Writer, kind: Kind, name: &str, is_killed: bool, database: &Path) -> Added {
    let mut added = Added::default();
    for number in 0..ADDS {
        let memory = format!("{name}-{number}");
        let call = add(&memory);
        let answer = match writer {
            Writer::Process(mut process) if is_killed && number == ADDS / 2 => {
                process.send(0, &call);
                thread::sleep(Duration::from_millis(2));
                added.uncertain = process.kill().is_empty().then(|| memory.clone());
                writer = kind.start(database);
                if added.uncertain.is_none() {
                    added.acknowledged.push(memory);
                }
                continue;
            }
            Writer::Process(ref mut process) => process.call(&call),
            Writer::ByHand(ref by_hand) => by_hand.call(&call),
        };
        assert!(matches!(answer, Answer::Result(_)), "`{memory}`: {answer:?}");
        added.acknowledged.push(memory);
    }
    added
}

fn race(kinds: &[Kind]) {
    let _alone = ALONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let here = Host::all();
    let is_here = |kind: &Kind| *kind != Kind::Node || here.contains(&Host::Node);
    for medium in [Medium::Memory, Medium::Disk] {
        let (directory, _) = medium.directory();
        let database = directory.path().join("layers.db");
        let kinds = kinds.iter().copied().filter(is_here);
        let ready: Vec<_> = kinds.map(|kind| (kind, kind.start(&database))).collect();
        let added: Vec<Added> = thread::scope(|scope| {
            let running = ready.into_iter().enumerate().map(|(index, (kind, writer))| {
                let name = format!("w{index}");
                let database = &database;
                // A `ByHand` writer runs in this process, so it is not killed.
                scope.spawn(move || run(writer, kind, &name, index < 2, database))
            });
            let running: Vec<_> = running.collect();
            running.into_iter().map(|writer| writer.join().expect("no call fails")).collect()
        });
        check(&Stored::read(&database), &added);
    }
}

/// The recent layer and the compost, read without the product.
struct Stored {
    recent: Vec<String>,
    /// The text of each summary and how many memories it stands for.
    summaries: Vec<(String, u32)>,
    /// How many summaries each author has written.
    authors: Vec<(String, u32)>,
}

impl Stored {
    fn read(database: &Path) -> Self {
        let opened = Connection::open_with_flags(database, OpenFlags::SQLITE_OPEN_READ_WRITE);
        let connection = opened.expect("the database opens");
        let rows = |sql: &str| -> Vec<(String, u32)> {
            let mut statement = connection.prepare(sql).expect("a query");
            let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)));
            rows.expect("rows").collect::<Result<_, _>>().expect("texts and counts")
        };
        let recent = rows("SELECT memory, 1 FROM recent_memories");
        Self {
            recent: recent.into_iter().map(|(memory, _)| memory).collect(),
            summaries: rows("SELECT summary, original_count FROM memory_compost"),
            authors: rows("SELECT summarizer, count(*) FROM layers_summaries GROUP BY summarizer"),
        }
    }
}

/// The names of memories in a summary.
fn names(summary: &str) -> impl Iterator<Item = &str> {
    let words = summary.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
    words.filter(|word| word.starts_with('w') && word.contains('-'))
}

fn check(stored: &Stored, added: &[Added]) {
    println!("{} recent; summaries: {:?}", stored.recent.len(), stored.authors);
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    for memory in &stored.recent {
        *places.entry(memory).or_default() += 1;
    }
    for (summary, count) in &stored.summaries {
        assert_eq!(names(summary).count(), *count as usize, "`{summary}`");
        for memory in names(summary) {
            *places.entry(memory).or_default() += 1;
        }
    }
    let several: Vec<_> = places.iter().filter(|(_, count)| **count > 1).collect();
    assert!(several.is_empty(), "these are in several places: {several:?}");
    let acknowledged = added.iter().flat_map(|added| &added.acknowledged).map(String::as_str);
    let uncertain: BTreeSet<&str> =
        added.iter().filter_map(|added| added.uncertain.as_deref()).collect();
    let expected: BTreeSet<&str> = acknowledged.collect();
    let kept: BTreeSet<&str> = places.keys().copied().collect();
    let lost: Vec<_> = expected.difference(&kept).collect();
    assert!(lost.is_empty(), "these are lost: {lost:?}");
    let unknown: Vec<_> =
        kept.difference(&expected).filter(|memory| !uncertain.contains(*memory)).collect();
    assert!(unknown.is_empty(), "nobody has added {unknown:?}");
    let summarised: u32 = stored.summaries.iter().map(|(_, count)| count).sum();
    assert_eq!(stored.recent.len() + summarised as usize, kept.len());
    assert!(!stored.summaries.is_empty(), "nothing was summarised");
}
