//! A system call of a host fails, or the host is killed before it. The documents are then as before or
//! as after the tool call, no process hangs, and the tool call can be repeated.
//!
//! All system calls of the native host are tested. The Node host starts more slowly, so only a sample
//! of its system calls is tested. `AGENT_MEMORY_SYSCALLS=all` tests all, in about ten minutes.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::process::Output;

use agent_memory_conformance::case::Documents;
use agent_memory_conformance::core_runner::{answer, context_of};
use agent_memory_conformance::faults::{Attempt, Call, MAY_STAND, State};
use agent_memory_conformance::workspace::{repository_root, source};
use agent_memory_core::storage::{Place, Storage};
use agent_memory_core::toolbox;
use agent_memory_tests::product::{node_program, program};
use agent_memory_tests::random::{Random, seed_or};
use agent_memory_tests::scratch::Scratch;
use agent_memory_tests::skip::skip;
use agent_memory_tests::syscalls::{self, How, Injection, Traced};
use serde_json::{Value, json};
use tempfile::TempDir;

const SEED: u64 = 1;
/// Errors about the contents of documents, which a document that cannot be read must not cause.
const ABOUT_DOCUMENTS: [&str; 4] =
    ["SessionNotFound", "SchemaMissing", "SchemaInvalid", "MalformedLog"];
/// How often an injection is tried until it is reached.
const TRIES: usize = 4;
const LOCK: &str = ".git/agent-memory";
const LOCK_FILES: [&str; 2] = ["queue.sqlite", "turn.sqlite"];
/// The variable that selects one injection, as a failed test names it.
const REPLAY: &str = "AGENT_MEMORY_SYSCALL";

#[test]
fn the_native_host_survives_every_failing_system_call_of_an_append() {
    sweep(Host::Native, Tool::AppendEntry, usize::MAX);
}

#[test]
fn the_native_host_survives_every_failing_system_call_of_a_first_session() {
    sweep(Host::Native, Tool::StartSession, usize::MAX);
}

#[test]
fn the_node_host_survives_a_sample_of_failing_system_calls_of_an_append() {
    sweep(Host::Node, Tool::AppendEntry, 50);
}

#[test]
fn the_node_host_survives_a_sample_of_failing_system_calls_of_a_first_session() {
    sweep(Host::Node, Tool::StartSession, 30);
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Host {
    Native,
    Node,
}

/// A tool call with much work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tool {
    /// An append to an existing log, in a repository with lock files.
    AppendEntry,
    /// The first session in a repository without a memory.
    StartSession,
}

impl Tool {
    fn name(self) -> &'static str {
        match self {
            Self::AppendEntry => "append_entry",
            Self::StartSession => "start_session",
        }
    }

    fn given(self) -> Documents {
        let document = |path: &str, file: &str| {
            let text = source(&format!("tests/conformance/documents/{file}"));
            (format!("aristotle/{path}"), text.into_bytes())
        };
        match self {
            Self::StartSession => Documents::new(),
            Self::AppendEntry => Documents::from([
                document("_schema.md", "schema-v1.md"),
                document("_summary.md", "summary-template.md"),
                document("logs/2025-01-20.md", "log-v1.md"),
            ]),
        }
    }

    fn arguments(self, repo: &str) -> Value {
        let log = json!({"agent_name": "aristotle", "repo_root": repo, "date": "2025-01-20"});
        let mut arguments = log;
        if self == Self::AppendEntry {
            arguments["section"] = json!("Context");
            arguments["content"] = json!("We begin.");
        }
        arguments
    }
}

impl Host {
    fn command(self, tool: Tool, repo: &str) -> Option<Vec<String>> {
        match self {
            Self::Native => {
                let binary = program("agent-memory");
                let binary = binary.to_str().expect("build paths are UTF-8");
                let arguments = tool.arguments(repo).to_string();
                let words = [binary, "call", "--allow", repo, tool.name(), &arguments];
                Some(words.map(str::to_owned).to_vec())
            }
            Self::Node => {
                let (node, _) = node_program("index.js")?;
                let once = repository_root().join("host-node/test/programs/append-once.ts");
                let content = tool.arguments(repo)["content"].as_str().unwrap_or_default().into();
                let path = |path: std::path::PathBuf| path.to_str().map(str::to_owned);
                Some(vec![path(node)?, path(once)?, repo.to_owned(), content])
            }
        }
    }
}

/// The documents before and after a tool call, and after a second one.
struct Expected {
    /// The states before the call and after each change.
    states: Vec<Documents>,
    twice: Documents,
}

impl Expected {
    /// The states of the core with storage in memory.
    fn new(tool: Tool) -> Self {
        let place = Place::repository("/repo");
        let context = context_of(&json!({
            "settings": {"toolsets": ["sessions"]}, "seed": 1,
            "now": "2025-01-20T10:00:00.000Z",
        }));
        let make = |storage: &dyn Storage, _: Attempt| {
            let arguments = tool.arguments("/repo").to_string();
            answer(toolbox::call_tool(storage, tool.name(), &arguments, &context)).expect("JSON")
        };
        let states = |before: State| {
            let writes = true;
            let idempotent = false;
            Call {
                place: &place,
                before,
                make: &make,
                writes,
                idempotent,
                reports: &[],
                besides: &[],
            }
            .states()
        };
        let first = states(State::given(tool.given()));
        let last = first.last().expect("there is a first one").clone();
        let second = states(last);
        let twice = second.last().expect("there is a first one").documents();
        Self { states: first.iter().map(State::documents).collect(), twice }
    }
}

/// A tool call on a host, with its system calls.
struct Subject {
    host: Host,
    tool: Tool,
    /// The paths that it uses below the repository.
    paths: BTreeSet<String>,
    expected: Expected,
}

fn sweep(host: Host, tool: Tool, sample: usize) {
    if let Err(why) = syscalls::available() {
        return skip(&why);
    }
    let run = |scratch: &Scratch| host.command(tool, &scratch.places().repo);
    let again = scratch(tool);
    let scratch = scratch(tool);
    let (Some(command), Some(command_again)) = (run(&scratch), run(&again)) else {
        return skip("the Node host is not built");
    };
    let paths = syscalls::paths(&command, &scratch.repo());
    let points = syscalls::points(&command_again, &again.repo(), &paths);
    let mut injections: Vec<Injection> =
        points.reached.iter().flat_map(syscalls::Point::injections).collect();
    let all = injections.len();
    let subject = Subject { host, tool, paths, expected: Expected::new(tool) };
    match (env::var(REPLAY), env::var("AGENT_MEMORY_SYSCALLS")) {
        (Ok(wanted), _) => {
            injections.retain(|injection| subject.name(injection) == wanted);
            let is_of_this = wanted.starts_with(&format!("{host:?}/{}/", tool.name()));
            assert!(!is_of_this || !injections.is_empty(), "`{wanted}`: not on this run's way");
        }
        (_, Ok(all)) if all == "all" => {}
        _ => shuffle_to(&mut injections, sample),
    }
    let outcomes = injections.iter().map(|injection| subject.goes_through(injection));
    let (reached, found): (Vec<_>, Vec<_>) = outcomes.partition(Result::is_ok);
    let missed = reached.iter().filter(|reached| **reached == Ok(false)).count();
    println!(
        "{host:?}, {}: {} of {all} injections at {} points, {} more points behind those of other \
         threads; {missed} were not reached",
        tool.name(),
        injections.len(),
        points.reached.len(),
        points.masked,
    );
    let found: Vec<String> = found.into_iter().filter_map(Result::err).collect();
    assert!(found.is_empty(), "{} of {}:\n{}", found.len(), injections.len(), found.join("\n"));
    assert!(missed * 10 <= injections.len(), "too many system calls were not reached");
}

/// Picks a random sample.
fn shuffle_to(injections: &mut Vec<Injection>, sample: usize) {
    if sample >= injections.len() {
        return;
    }
    let seed = seed_or(SEED);
    println!("a sample by AGENT_MEMORY_TEST_SEED={seed}; AGENT_MEMORY_SYSCALLS=all takes all");
    let mut random = Random::new(seed);
    for taken in 0..sample {
        let other = taken + random.below(injections.len() - taken);
        injections.swap(taken, other);
    }
    injections.truncate(sample);
}

fn scratch(tool: Tool) -> Scratch {
    // In memory, where a sync costs nothing.
    let directory = TempDir::new_in("/dev/shm").or_else(|_| TempDir::new());
    let scratch = Scratch::within(directory.expect("a temporary directory"), &tool.given());
    if tool == Tool::AppendEntry {
        fs::create_dir(scratch.repo().join(LOCK)).expect("a directory for the lock");
        for file in LOCK_FILES {
            fs::write(scratch.repo().join(LOCK).join(file), "").expect("a file of the lock");
        }
    }
    scratch
}

impl Subject {
    fn name(&self, injection: &Injection) -> String {
        format!("{:?}/{}/{injection}", self.host, self.tool.name())
    }

    /// Returns whether the system call was reached, or what was wrong and how to repeat it.
    fn goes_through(&self, injection: &Injection) -> Result<bool, String> {
        // `strace` counts system calls by thread, and any thread of a pool may make this one. So a
        // run may not reach it.
        for _ in 0..TRIES {
            let survived = self.survives(injection).map_err(|what| {
                let name = self.name(injection);
                let command = "cargo test --release -p agent-memory-tests --test syscalls";
                format!("{name}: {what}\n  replay: {REPLAY}='{name}' {command}")
            })?;
            if survived {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn survives(&self, injection: &Injection) -> Result<bool, String> {
        let scratch = scratch(self.tool);
        let command = self.host.command(self.tool, &scratch.places().repo).expect("it is built");
        let traced = injection.run(&command, &scratch.repo(), &self.paths);
        let Files { documents, temporary } = Files::new(&scratch);
        let states = &self.expected.states;
        let said = said(&traced.output);
        let all = states.len() - 1;
        let stand = states.iter().position(|state| *state == documents);
        let stand =
            stand.ok_or_else(|| format!("the documents are {documents:?}; said: {said}"))?;
        ended_well(injection, &traced, stand, all, &said)?;
        // A killed process leaves its temporary files, and so does one that cannot remove files.
        let left = if matches!(injection.how, How::Once(_)) { 0 } else { all - stand };
        ensure(temporary.len() <= left, || format!("left behind: {temporary:?}; said: {said}"))?;

        let again = syscalls::run(&command);
        ensure(again.status.success(), || {
            format!("the repeated call fails: {}", self::said(&again))
        })?;
        let Files { documents, temporary } = Files::new(&scratch);
        let wanted = if stand == all { &self.expected.twice } else { &states[all] };
        ensure(documents == *wanted, || format!("the repeated call leaves {documents:?}"))?;
        let strays = [temporary, scratch.strays()].concat();
        ensure(strays.is_empty(), || format!("the next writer leaves {strays:?}"))?;
        lock_files_are_empty(&scratch)?;
        Ok(traced.is_injected())
    }
}

fn ended_well(
    injection: &Injection,
    traced: &Traced,
    stand: usize,
    all: usize,
    said: &str,
) -> Result<(), String> {
    if traced.is_killed() {
        return ensure(injection.how == How::Kill, || "killed by nobody".into());
    }
    if traced.output.status.success() {
        ensure(stand == all, || format!("a success with {stand} of {all} changes: {said}"))?;
        // If only the first thread is traced, the trace lacks the lock: a tool call has another thread.
        let has_lock = injection.point.first_thread || traced.took_lock("turn.sqlite");
        return ensure(has_lock, || "the call succeeded without the lock".into());
    }
    ensure(matches!(traced.output.status.code(), Some(1..=3)), || {
        format!("{}: {said}", traced.output.status)
    })?;
    let lie = ABOUT_DOCUMENTS.iter().find(|code| said.contains(**code));
    ensure(lie.is_none(), || {
        format!("a failed read is reported as an error of the contents: {said}")
    })?;
    ensure(said.contains(MAY_STAND) == (stand > 0), || {
        format!("{stand} of {all} changes stand, and it said: {said}")
    })
}

/// The contents of a tree.
struct Files {
    documents: Documents,
    temporary: Vec<String>,
}

impl Files {
    fn new(scratch: &Scratch) -> Self {
        let is_temporary = |path: &String| path.ends_with(".agent-memory-tmp");
        let (temporary, documents): (Documents, Documents) =
            scratch.documents().into_iter().partition(|(path, _)| is_temporary(path));
        Self { documents, temporary: temporary.into_keys().collect() }
    }
}

/// Checks that the lock directory has two empty files and nothing else.
fn lock_files_are_empty(scratch: &Scratch) -> Result<(), String> {
    let entries =
        fs::read_dir(scratch.repo().join(LOCK)).map_err(|error| error.to_string())?.flatten();
    let files: BTreeSet<(String, u64)> = entries
        .map(|entry| {
            let size = entry.metadata().map_or(u64::MAX, |metadata| metadata.len());
            (entry.file_name().to_string_lossy().into_owned(), size)
        })
        .collect();
    ensure(files == LOCK_FILES.map(|file| (file.to_owned(), 0)).into(), || {
        format!("beside the lock: {files:?}")
    })
}

fn said(output: &Output) -> String {
    let texts = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    texts.join("\n").trim().to_owned()
}

fn ensure(holds: bool, what: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what()) }
}
