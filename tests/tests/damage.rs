//! Damaged documents: truncated at every length, and with every byte changed in several ways. Every
//! tool answers a result or a helpful error. An error changes nothing, and a success keeps every byte
//! that it was not asked to change.

use std::fmt;
use std::thread;
use std::time::Duration;

use agent_memory_conformance::case::Documents;
use agent_memory_conformance::in_memory::InMemory;
use agent_memory_conformance::runner::Answer;
use agent_memory_conformance::workspace::source;
use agent_memory_host::AgentMemory;
use agent_memory_host::storage::Durability;
use agent_memory_tests::scratch::Scratch;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

const SCHEMA: &str = "aristotle/_schema.md";
const SUMMARY: &str = "aristotle/_summary.md";
const LOG: &str = "aristotle/logs/2025-01-20.md";
const ENTRY: &str = "- an entry that is new";
/// One in this many damages is also tried on the component in the native host.
const SAMPLE: usize = 61;

/// Changes of a byte.
const FLIPS: [fn(u8) -> u8; 9] = [
    |byte| byte ^ 0x01,
    |byte| byte ^ 0x02,
    |byte| byte ^ 0x10,
    |byte| byte ^ 0x20,
    |byte| byte ^ 0x80,
    |byte| byte ^ 0xff,
    |_| b'\n',
    |_| b'#',
    |_| b'`',
];

#[test]
fn a_damaged_log_is_refused_or_keeps_every_other_byte() {
    damage(LOG, &repository("log-v1.md"));
}

#[test]
fn a_damaged_log_of_the_first_program_is_refused_or_keeps_every_other_byte() {
    damage(LOG, &repository("log-first-program.md"));
}

#[test]
fn a_damaged_schema_is_refused_or_applies_to_a_log_that_keeps_every_byte() {
    damage(SCHEMA, &repository("log-v1.md"));
}

#[test]
fn a_damaged_summary_is_refused_or_keeps_every_other_byte() {
    damage(SUMMARY, &repository("log-v1.md"));
}

/// Valid documents with all kinds of contents.
fn repository(log: &str) -> Documents {
    let text = |name: &str| source(&format!("tests/conformance/documents/{name}"));
    let decisions = "## Decisions\n\n- we keep <b>it</b>\n\n```\n## code\n```\n\n> quoted\n";
    let known = "## Key Knowledge\n\nWhat is known, see [it].\n\n[it]: /there\n";
    let log = text(log).replacen("## Decisions\n", decisions, 1);
    let summary = text("summary-template.md").replacen("## Key Knowledge\n", known, 1);
    let documents = [(SCHEMA, text("schema-v1.md")), (SUMMARY, summary), (LOG, log)];
    documents.map(|(path, text)| (path.to_owned(), text.into_bytes())).into()
}

#[derive(Clone, Copy, Debug)]
enum Damage {
    Cut { at: usize },
    Changed { at: usize, to: u8 },
}

impl Damage {
    fn all(contents: &[u8]) -> impl Iterator<Item = Damage> {
        let cuts = (0..contents.len()).map(|at| Damage::Cut { at });
        let changed = contents.iter().enumerate().flat_map(|(at, byte)| {
            let to = FLIPS.iter().map(|flip| flip(*byte)).filter(move |to| to != byte);
            to.map(move |to| Damage::Changed { at, to })
        });
        cuts.chain(changed)
    }

    fn apply(self, contents: &mut Vec<u8>) {
        match self {
            Damage::Cut { at } => contents.truncate(at),
            Damage::Changed { at, to } => contents[at] = to,
        }
    }
}

/// A call on a damaged repository; it is printed if the test fails.
struct Trial<'a> {
    path: &'a str,
    damage: Damage,
    documents: Documents,
    tool: &'a str,
    arguments: Value,
}

impl Drop for Trial<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            println!("{self}");
        }
    }
}

impl fmt::Display for Trial<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = String::from_utf8_lossy(&self.documents[self.path]);
        let Trial { path, damage, tool, arguments, .. } = self;
        write!(f, "{damage:?} in `{path}`: {text:?}; `{tool}` with {arguments}")
    }
}

/// Calls of every tool, with every kind of change.
fn calls() -> Vec<(&'static str, Value)> {
    let entry = |section| json!({"agent_name": "aristotle", "section": section, "content": ENTRY});
    let summary = |section, mode| {
        let mut arguments = entry(section);
        arguments["mode"] = json!(mode);
        ("update_summary", arguments)
    };
    vec![
        ("start_session", json!({"agent_name": "aristotle"})),
        ("start_session", json!({"agent_name": "aristotle", "date": "2025-01-21"})),
        ("append_entry", entry("Context")),
        ("append_entry", entry("Decisions")),
        ("append_entry", entry("Next Actions")),
        ("read_summary", json!({"agent_name": "aristotle"})),
        summary("Key Knowledge", "append"),
        summary("Key Knowledge", "replace"),
        summary("Important Patterns", "append"),
        summary("New", "append"),
        ("list_sessions", json!({"agent_name": "aristotle"})),
        ("validate", json!({})),
    ]
}

/// Damages one document in every way, and makes every call after each damage.
fn damage(path: &str, sound: &Documents) {
    let mut tried = 0;
    let mut errors = 0;
    let mut on_the_component = 0;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("a runtime");
    for (number, damage) in Damage::all(&sound[path]).enumerate() {
        let mut documents = sound.clone();
        damage.apply(documents.get_mut(path).expect("it is there"));
        for (tool, mut arguments) in calls() {
            arguments["repo_root"] = json!("/repo");
            let documents = documents.clone();
            let mut trial = Trial { path, damage, documents, tool, arguments };
            let core = InMemory::new("/repo", &trial.documents);
            let answer = core.call(tool, &trial.arguments);
            let after = core.documents();
            check(&trial, &answer, &core);
            tried += 1;
            errors += usize::from(matches!(answer, Answer::Error(_)));
            if number % SAMPLE == 0 {
                compare(&mut trial, &answer, &after, &runtime);
                on_the_component += 1;
            }
        }
    }
    println!(
        "{tried} calls, {errors} with errors; {on_the_component} of them on the component, too"
    );
    assert!(errors > 0 && errors < tried);
}

fn check(trial: &Trial<'_>, answer: &Answer, core: &InMemory) {
    let before = &trial.documents;
    let after = core.documents();
    let result = match answer {
        Answer::Result(result) => result,
        Answer::Error(error) => {
            let expected = ["MalformedLog", "SchemaInvalid", "InvalidSection", "InvalidContent"];
            let code = error["error"].as_str().expect("a code");
            assert!(expected.contains(&code), "{error}");
            assert_eq!(after, *before, "an error changes nothing");
            return;
        }
        Answer::Refused(_) => panic!("the request is understood"),
    };
    for (path, old) in before {
        let new = &after[path];
        if old == new {
            continue;
        }
        match (trial.tool, path.as_str()) {
            ("append_entry", LOG) => assert_added(old, new),
            ("update_summary", SUMMARY) if trial.arguments["mode"] == "append" => {
                assert_added(old, new);
            }
            ("update_summary", SUMMARY) => assert_replaced(old, new, result),
            _ => panic!("`{path}` is changed"),
        }
        let again = core.call(trial.tool, &trial.arguments);
        assert!(matches!(again, Answer::Result(_)), "what it wrote is not sound: {again:?}");
    }
    let is_new = |path: &&String| !before.contains_key(*path);
    let new: Vec<&String> = after.keys().filter(is_new).collect();
    let next_day = trial.tool == "start_session" && !trial.arguments["date"].is_null();
    let expected: &[&str] = if next_day { &["aristotle/logs/2025-01-21.md"] } else { &[] };
    assert_eq!(new, expected);
}

/// Checks that the old text is still there around the new one.
fn assert_added(old: &[u8], new: &[u8]) {
    let (head, tail) = around(old, new);
    assert!(head + tail >= old.len(), "a part of the old text is missing");
    assert!(String::from_utf8_lossy(new).matches(ENTRY).count() == 1);
}

/// Checks that only the section's body has changed.
fn assert_replaced(old: &[u8], new: &[u8], result: &Value) {
    let (head, tail) = around(old, new);
    if result["created_section"] == true {
        return assert_added(old, new);
    }
    let text = std::str::from_utf8(old).expect("what is not UTF-8 is refused");
    let (before, rest) = text.split_once("Key Knowledge").expect("its heading is there");
    let body = rest.find("\n## ").or(rest.find("\n# ")).unwrap_or(rest.len());
    assert!(head >= before.len() + "Key Knowledge".len(), "the text before the section is changed");
    assert!(tail >= rest.len() - body, "the text after the section is changed");
}

/// How many bytes are equal at the beginning and at the end.
fn around(old: &[u8], new: &[u8]) -> (usize, usize) {
    let head = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let tail = old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count();
    (head, tail)
}

/// Checks that the component in the native host does the same as the core in memory.
fn compare(trial: &mut Trial<'_>, expected: &Answer, after: &Documents, runtime: &Runtime) {
    let scratch = Scratch::new(&trial.documents);
    trial.arguments["repo_root"] = json!(scratch.repo());
    let memory = AgentMemory::builder()
        .allow(scratch.repo())
        .durability(Durability::Relaxed)
        .lock_wait(Duration::ZERO)
        .utc_offset(0)
        .clock(agent_memory_host::Clock::Fixed {
            start: "2025-01-20T10:00:00Z".parse().expect("a time"),
            step: Duration::ZERO,
        })
        .build()
        .expect("the memory opens");
    let arguments = trial.arguments.to_string();
    let outcome = runtime.block_on(memory.call(trial.tool, &arguments));
    let outcome = outcome.expect("the call has an outcome");
    let value = serde_json::from_str(outcome.json()).expect("JSON");
    let answer = if outcome.answer.is_err() { Answer::Error(value) } else { Answer::Result(value) };
    assert_eq!(answer, *expected);
    assert!(scratch.end().as_ref() == Ok(after), "the host writes other documents");
}
