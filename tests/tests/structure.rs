//! No accepted entry changes the structure of a log. A CommonMark parser decides this, not the core's
//! own view of a document.

use agent_memory_conformance::core_runner::context_of;
use agent_memory_conformance::{case, workspace};
use agent_memory_core::storage::{Area, Place};
use agent_memory_core::toolbox::{self, Outcome};
use agent_memory_storage_memory::MemoryStorage;
use agent_memory_tests::markdown::{Target, damage};
use agent_memory_tests::random::{Random, replay, seed_or};
use agent_memory_tests::random_markdown::mixture;
use serde_json::{Value, json};

const MIXTURES: u64 = 10_000;
const SECTIONS: [&str; 5] =
    ["Context", "Discussion Summary", "Decisions", "Open Questions", "Next Actions"];
const LOG: &str = "aristotle/logs/2025-01-20.md";

/// A log to append to, under its schema.
#[derive(Clone, Debug)]
struct Log {
    sections: &'static [&'static str],
    text: String,
}

impl Log {
    fn new(text: String) -> Self {
        Self { sections: &SECTIONS, text }
    }

    fn schema(&self) -> String {
        let sections = self.sections.iter().map(|section| format!("\n## {section}\n"));
        format!("# Agent Memory Schema v1\n{}", sections.collect::<String>())
    }

    fn has(&self, section: &str) -> bool {
        self.text.lines().any(|line| line.strip_prefix("## ") == Some(section))
    }

    fn is_of_the_first_form(&self) -> bool {
        self.text.starts_with("# Agent Memory Session")
    }

    /// The place for an entry to the section, by the rules of `docs/decisions/sections.md`.
    fn target(&self, section: &str) -> Target {
        let heading = format!("## {section}");
        if self.has(section) {
            return Target::Below(heading);
        }
        let earlier = self.sections.iter().take_while(|earlier| **earlier != section);
        let after = match earlier.filter(|earlier| self.has(earlier)).last() {
            Some(nearest) => format!("## {nearest}"),
            None if self.is_of_the_first_form() => "# Agent Memory Session".into(),
            None => "## Header".into(),
        };
        Target::New { heading, after }
    }
}

fn document(name: &str) -> String {
    workspace::source(&format!("tests/conformance/documents/{name}"))
}

/// Logs of this program and of the earlier program whose files it reads: empty and full, with both
/// kinds of line ends, with all sections and without some.
fn logs() -> Vec<Log> {
    let full = document("log-v1.md")
        .replace("## Discussion", "See [spec], [it][ref] and [a\nb].\n\n## Discussion")
        .replace("## Decisions", "- one\n- two\n\n## Decisions")
        .replace("## Open", "1. first\n\n   more of it\n## Open")
        .replace("## Next", "> quoted\n\n## Next")
        + "\n    code\n\n[known]: /k\n";
    let ends = document("log-v1.md")
        .replace("## Discussion", "<div>\nhtml\n</div>\n\n## Discussion")
        .replace("## Decisions", "```\ncode\n```\n## Decisions")
        .replace("## Open", "* a\n  * b\n\n## Open")
        .replace("## Next", "text\n***\n## Next")
        + "\n-";
    let lacking = full.replace("## Context\n", "").replace("## Decisions\n", "");
    let first = document("log-first-program.md");
    let windows = [&full, &lacking, &first].map(|log| log.replace('\n', "\r\n"));
    let logs = [document("log-v1.md"), full, ends, lacking, first].into_iter().chain(windows);
    logs.map(Log::new).collect()
}

/// Contents of sections, as people and agents write them.
const FILLINGS: &[&str] = &[
    "A paragraph.",
    "hard  \nbreak",
    "see [spec], [it][ref] and [a\nb]",
    "[known]: /k",
    "- one\n- two",
    "* a\n  * b",
    "+ loose\n\n+ list",
    "1. first\n\n   more of it",
    "-",
    "### Three",
    "over\n***",
    "> quoted",
    "    code",
    "```\ncode\n```",
    "<div>\nhtml\n</div>\n",
    "<!-- a comment -->",
    "| a |\n|---|\n| 1 |",
];

/// A random log: either form, either schema, some of its sections, filled or empty, and sometimes a
/// section that is not in the schema.
fn generated(random: &mut Random) -> Log {
    let head = *random.pick(&["log-v1.md", "log-first-program.md"]);
    let sections = *random.pick(&[SECTIONS.as_slice(), &["Risks", "Q & A", "Décisions"]]);
    let head = document(head);
    let (head, _) = head.split_once("## Context").expect("the first section");
    let mut text = head.to_owned();
    for section in sections.iter().flat_map(|section| [*section, "Ours"]) {
        let most = if section == "Ours" { 1 } else { 3 };
        if random.below(4) >= most || text.contains(&format!("## {section}\n")) {
            continue;
        }
        text += &format!("## {section}\n");
        for _ in 0..random.below(3) {
            text += &format!("\n{}\n", random.pick(FILLINGS));
        }
        text += *random.pick(&["", "\n", "\n", "\n\n"]);
    }
    let end = *random.pick(&["", "\n", "\n\n"]);
    text.truncate(text.trim_end().len());
    text += end;
    if random.below(2) == 0 {
        text = text.replace('\n', "\r\n");
    }
    Log { sections, text }
}

struct Repository {
    storage: MemoryStorage,
    place: Place,
}

impl Repository {
    fn with_log(log: &Log) -> Self {
        let storage = MemoryStorage::new();
        let place = Place::repository("/project");
        storage.put(&place, Area::Documents, "aristotle/_schema.md", log.schema());
        storage.put(&place, Area::Documents, LOG, log.text.as_str());
        Self { storage, place }
    }

    fn log(&self) -> String {
        let mut documents = self.storage.documents(&self.place, Area::Documents);
        String::from_utf8(documents.remove(LOG).expect("the log is there")).expect("UTF-8")
    }

    fn append(&self, section: &str, content: &str) -> Outcome {
        let arguments = json!({
            "agent_name": "aristotle", "repo_root": "/project", "date": "2025-01-20",
            "section": section, "content": content,
        });
        let context = json!({
            "settings": {"toolsets": ["sessions"]}, "now": "2025-01-20T10:00:00.000Z",
            "seed": 1,
        });
        let arguments = arguments.to_string();
        let context = context_of(&context);
        toolbox::call_tool(&self.storage, "append_entry", &arguments, &context).expect("a call")
    }
}

fn code(outcome: &Outcome) -> String {
    let error: Value = serde_json::from_str(outcome.json()).expect("JSON");
    error["error"].as_str().unwrap_or_default().to_owned()
}

/// Appends a text and checks the log; returns whether the text was accepted.
fn try_append(log: &Log, section: &str, content: &str) -> Result<bool, String> {
    let repository = Repository::with_log(log);
    let outcome = repository.append(section, content);
    let after = repository.log();
    if outcome.answer.is_err() {
        let code = code(&outcome);
        return match (code.as_str(), after == log.text) {
            ("InvalidContent" | "InvalidInput", true) => Ok(false),
            (_, true) => Err(format!("refused as {code}: {}", outcome.json())),
            (_, false) => Err("the text was refused, but the log has changed".into()),
        };
    }
    if let Some(damage) = damage(&log.text, &after, &log.target(section)) {
        return Err(format!("{damage}\nthe log afterwards: {after:?}"));
    }
    let again = repository.append(section, "and on");
    if again.answer.is_err() {
        return Err(format!("the log accepts no further entry: {}\nit is {after:?}", again.json()));
    }
    Ok(true)
}

#[test]
fn no_random_text_changes_the_structure_of_a_log() {
    let seed = seed_or(20_250_120);
    let logs = logs();
    let mut accepted = Accepted::default();
    for number in 0..MIXTURES {
        let mut random = Random::new(seed.wrapping_add(number));
        let log = match random.below(3) {
            0 => random.pick(&logs).clone(),
            _ => generated(&mut random),
        };
        let section = *random.pick(log.sections);
        let content = mixture(&mut random);
        match try_append(&log, section, &content) {
            Ok(true) => accepted.count(&log, section),
            Ok(false) => {}
            Err(error) => panic!(
                "mixture {number}, {content:?} to {section} of\n{log:?}\n{error}\nreplay: {}",
                replay("structure", "no_random_text", seed.wrapping_add(number))
            ),
        }
    }
    println!("of {MIXTURES} mixtures from seed {seed}: {accepted:?}");
    let Accepted { all, below_a_new_heading, first_form, windows } = accepted;
    let least = all.min(below_a_new_heading).min(first_form).min(windows);
    assert!(least > MIXTURES / 20, "too few texts were accepted: {least}");
}

/// How many texts were accepted, of all and of some kinds.
#[derive(Debug, Default)]
struct Accepted {
    all: u64,
    below_a_new_heading: u64,
    first_form: u64,
    windows: u64,
}

impl Accepted {
    fn count(&mut self, log: &Log, section: &str) {
        self.all += 1;
        self.below_a_new_heading += u64::from(!log.has(section));
        self.first_form += u64::from(log.is_of_the_first_form());
        self.windows += u64::from(log.text.contains('\r'));
    }
}

#[test]
fn harmless_texts_are_accepted() {
    const HARMLESS: &[&str] = &[
        "A paragraph.",
        "Two lines\nof it.",
        "- an item\n- another",
        "1. first\n2. second",
        "### three",
        "```rust\n# code\n```",
        "~~~\n## code\n~~~",
        "> a quote",
        "<details>\n\ntext\n\n</details>",
        "<!-- a comment -->",
        "| a |\n|---|\n| 1 |",
        "***",
        "`# code`",
        "\\# escaped",
        "[own]: /own",
        "- outer\n  - inner",
        "- ```\n  code\n  ```",
        "#hash",
        "https://example.org/#fragment",
        "a — b … 𝒳",
    ];
    let seed = seed_or(7);
    let logs = logs();
    for number in 0..1000 {
        let mut random = Random::new(seed.wrapping_add(number));
        let texts: Vec<&str> = (0..=random.below(4)).map(|_| *random.pick(HARMLESS)).collect();
        // A second definition of the same link is not harmless.
        let own = texts.iter().filter(|text| text.starts_with("[own]")).count();
        if own > 1 {
            continue;
        }
        let log = match random.below(3) {
            0 => random.pick(&logs).clone(),
            _ => generated(&mut random),
        };
        let content = texts.join("\n\n");
        let section = *random.pick(log.sections);
        assert_eq!(
            try_append(&log, section, &content),
            Ok(true),
            "{content:?} to {section} of {log:?}\nreplay: {}",
            replay("structure", "whatever_is", seed.wrapping_add(number))
        );
    }
}

#[test]
fn no_hostile_text_of_a_case_changes_the_structure_of_a_log() {
    let cases = case::load_all();
    let hostile = cases.iter().filter(|case| case.name.contains("/hostile-content/"));
    let contents: Vec<&str> = hostile
        .flat_map(|case| &case.text.steps)
        .filter(|step| step.error.as_ref().is_some_and(|error| error["error"] == "InvalidContent"))
        .filter_map(|step| step.arguments()["content"].as_str())
        .collect();
    assert!(contents.len() >= 24, "only {} hostile texts", contents.len());
    for log in logs() {
        for section in log.sections {
            for content in &contents {
                let judged = try_append(&log, section, content);
                // The text may also be accepted without damage: one that joins a list is harmless
                // without a list.
                assert!(judged.is_ok(), "{content:?} to {section} of {log:?}: {judged:?}");
            }
        }
    }
}
