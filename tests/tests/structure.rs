//! No text that a log takes in changes the log's structure. CommonMark's parser is the judge, not
//! the core's own view of a document.

use agent_memory_core::storage::{Place, Side, memory::MemoryStorage};
use agent_memory_core::toolbox::{self, Outcome};
use agent_memory_tests::markdown::damage;
use agent_memory_tests::random::{Random, replay, seed_or};
use agent_memory_tests::{case, product};
use serde_json::{Value, json};

const MIXTURES: u64 = 10_000;
const SECTIONS: [&str; 5] =
    ["Context", "Discussion Summary", "Decisions", "Open Questions", "Next Actions"];
const LOG: &str = "aristotle/logs/2025-01-20.md";

/// What may stand in an entry, good and bad.
const BLOCKS: &[&str] = &[
    "A paragraph.",
    "Two lines\nof a paragraph.",
    "  an indented paragraph",
    "see [spec] and [it][ref]",
    "- an item",
    "- one\n- two",
    "* star\n\n* loose",
    "+ plus",
    "1. first\n2. second",
    "7) seventh",
    "- outer\n  - inner\n\n    paragraph of the inner",
    "- [ ] a task",
    "-",
    "1.",
    "  - indented item",
    "   continued",
    "    continued or code",
    "\tafter a tab",
    "    code\n\n    more code",
    "# one",
    "## two",
    "## Decisions",
    "   ## two",
    "    ## code",
    "### three",
    "###### six",
    "####### text",
    "#not a heading",
    "##",
    "## two ##",
    "- # in an item",
    "> # in a quote",
    "> ## two",
    "- - ## deep",
    "over\n===",
    "over\n---",
    "over\n-",
    "over\n =",
    "> over\n> ---",
    "> over\n---",
    "- over\n---",
    "- over\n  ---",
    "===",
    "---",
    "***",
    "___",
    "- - -",
    "--",
    "=",
    "```\ncode\n```",
    "```rust\n## no heading\n```",
    "```",
    "```\ncode",
    "~~~\ncode\n~~~",
    "~~~",
    "~~~\n```",
    "````\n```\n````",
    "````\n```",
    "``` a`b",
    "- ```\n  code\n  ```",
    "- ```\n  code",
    "> ```\n> code",
    "> ```\n> c\n> ```",
    "   ```\n   code\n   ```",
    "    ```",
    "```\ncode\n    ```",
    "```\ncode\n``` x",
    "```\ncode\n```\u{a0}",
    "```\n\t```",
    "- ```\n  c\n      ```",
    ">\t```\n>\tc",
    "1. ```\n   c\n```",
    "<!-- a comment -->",
    "<!-- open",
    "-->",
    "<!-->",
    "<!--->",
    "text <!-- inline",
    "<div>\n## in html\n</div>",
    "<div>",
    "</div>",
    "<details>\n\ntext\n\n</details>",
    "<script>\n\n## s\n\n</script>",
    "<script>",
    "<SCRIPT",
    "<pre>",
    "<pre>\n\n</pre>",
    "<style>\nx",
    "<script>\n</pre>\n\n## h\n</script>",
    "<script>\n</SCRIPT>",
    "</script>",
    "</pre>",
    "<textarea>",
    "<?php",
    "<?php ?>",
    "<!DOCTYPE html>",
    "<!DOCTYPE",
    "<![CDATA[",
    "<![CDATA[ ]]>",
    "<a href='x'>",
    "<b>bold</b> text",
    "<br/>",
    "<x-y>\nz",
    "- <!-- in an item",
    "> <script>",
    "- <div>",
    "<table>",
    "<p",
    "[spec]: /elsewhere",
    "[SPEC]: <x> 'title'",
    "[new]: /n\n\nsee [new]",
    "[other]: /o",
    "[ref]:\n/r",
    "[a\nb]: /c",
    "[known]: /again",
    "- [spec]: /in-an-item",
    "> [it]: /q",
    "[x]: /x\n===",
    "[ref",
    "[spec]",
    "]: /x",
    "[^1]: note",
    "> quoted",
    "> quoted\nlazily",
    ">",
    "> - item\n> - item",
    "> a\n>\n> b",
    ">\tcode",
    "> > > deep",
    "| a | b |\n|---|---|\n| 1 | 2 |",
    "hard  \nbreak",
    "back\\\nslash",
    "\\# escaped",
    "&#35; entity",
    "`code`",
    "`` open",
    "*emphasis*",
    "**open",
    "![image](x)",
    "<https://example.org>",
    "Term\n: definition",
    "$$",
    ":::",
    "+++",
    "\u{a0}",
    "\u{3000}text",
    "é𝒳",
    "\\",
    "a\\",
    "- a\\",
];

const ENDS: &[&str] =
    &["\n\n", "\n\n", "\n\n", "\n", "\n", "\r\n", "\r", "\n\n\n", "\n \n", "\n\t\n", "", " "];

fn mixture(random: &mut Random) -> String {
    let mut text = String::new();
    for _ in 0..=random.below(5) {
        if random.below(12) == 0 {
            text.extend(
                (0..random.below(12))
                    .map(|_| *random.pick(b"#-=`~<>![]: \t\n\r*_+1.)a/|\\") as char),
            );
        } else {
            text += *random.pick(BLOCKS);
        }
        text += *random.pick(ENDS);
    }
    text
}

/// Logs to append to: empty ones, full ones, of both header forms and line ends.
fn logs() -> Vec<String> {
    let document = |name| product::source(&format!("tests/conformance/documents/{name}"));
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
    let windows = full.replace('\n', "\r\n");
    vec![document("log-v1.md"), full, ends, document("log-first-program.md"), windows]
}

struct Repository {
    storage: MemoryStorage,
    place: Place,
}

impl Repository {
    fn with_log(log: &str) -> Self {
        let (storage, place) = (MemoryStorage::new(), Place::repository("/project"));
        let schema = product::source("tests/conformance/documents/schema-v1.md");
        storage.put(&place, Side::Documents, "aristotle/_schema.md", schema);
        storage.put(&place, Side::Documents, LOG, log);
        Self { storage, place }
    }

    fn log(&self) -> String {
        let mut documents = self.storage.documents(&self.place, Side::Documents);
        String::from_utf8(documents.remove(LOG).expect("the log is there")).expect("UTF-8")
    }

    fn append(&self, section: &str, content: &str) -> Outcome {
        let arguments = json!({
            "agent_name": "aristotle", "repo_root": "/project", "date": "2025-01-20",
            "section": section, "content": content,
        });
        let context = json!({
            "settings": {"toolsets": ["sessions"]}, "now": "2025-01-20T10:00:00.000Z",
            "utc_offset_minutes": 0, "seed": 1,
        });
        let (arguments, context) = (arguments.to_string(), context.to_string());
        toolbox::call_tool(&self.storage, "append_entry", &arguments, &context).expect("a call")
    }
}

fn code(outcome: &Outcome) -> String {
    let error: Value = serde_json::from_str(&outcome.result).expect("JSON");
    error["error"].as_str().unwrap_or_default().to_owned()
}

/// Appends and judges; whether the text was accepted, or what is wrong.
fn try_append(log: &str, section: &str, content: &str) -> Result<bool, String> {
    let repository = Repository::with_log(log);
    let outcome = repository.append(section, content);
    let after = repository.log();
    if outcome.is_error {
        let code = code(&outcome);
        return match (code.as_str(), after == log) {
            ("InvalidContent" | "InvalidInput", true) => Ok(false),
            (_, true) => Err(format!("refused as {code}: {}", outcome.result)),
            (_, false) => Err("refused, and yet the log has changed".into()),
        };
    }
    if let Some(damage) = damage(log, &after, &format!("## {section}")) {
        return Err(format!("{damage}\nthe log afterwards: {after:?}"));
    }
    let again = repository.append(section, "and on");
    if again.is_error {
        return Err(format!("the log takes no more: {}\nit is {after:?}", again.result));
    }
    Ok(true)
}

#[test]
fn no_mixture_of_blocks_changes_a_log() {
    let seed = seed_or(20_250_120);
    let logs = logs();
    let mut accepted = 0;
    for number in 0..MIXTURES {
        let mut random = Random::new(seed.wrapping_add(number));
        let (log, section) = (random.pick(&logs).clone(), *random.pick(&SECTIONS));
        let content = mixture(&mut random);
        match try_append(&log, section, &content) {
            Ok(true) => accepted += 1,
            Ok(false) => {}
            Err(error) => panic!(
                "mixture {number}, {content:?} to {section} of\n{log:?}\n{error}\nreplay: {}",
                replay("structure", "no_mixture", seed.wrapping_add(number))
            ),
        }
    }
    println!("{accepted} of {MIXTURES} mixtures were accepted, from seed {seed}");
    assert!(accepted > MIXTURES / 10, "so few accepted texts show nothing: {accepted}");
}

#[test]
fn whatever_is_harmless_is_accepted() {
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
    for number in 0..1000 {
        let mut random = Random::new(seed.wrapping_add(number));
        let texts: Vec<&str> = (0..=random.below(4)).map(|_| *random.pick(HARMLESS)).collect();
        // A definition that stands twice is not harmless.
        let own = texts.iter().filter(|text| text.starts_with("[own]")).count();
        if own > 1 {
            continue;
        }
        let (content, section) = (texts.join("\n\n"), *random.pick(&SECTIONS));
        let log = random.pick(&logs()).clone();
        assert_eq!(
            try_append(&log, section, &content),
            Ok(true),
            "{content:?} to {section} of {log:?}\nreplay: {}",
            replay("structure", "whatever_is", seed.wrapping_add(number))
        );
    }
}

#[test]
fn no_hostile_text_of_a_case_changes_any_section_of_any_log() {
    let cases = case::load_all();
    let hostile = cases.iter().filter(|case| case.name.contains("/hostile-content/"));
    let contents: Vec<&str> = hostile
        .flat_map(|case| &case.text.steps)
        .filter(|step| step.error.as_ref().is_some_and(|error| error["error"] == "InvalidContent"))
        .filter_map(|step| step.arguments["content"].as_str())
        .collect();
    assert!(contents.len() >= 24, "only {} hostile texts", contents.len());
    for log in logs() {
        for section in SECTIONS {
            for content in &contents {
                let judged = try_append(&log, section, content);
                // A text may be harmless elsewhere, as one that joins a list is where none stands.
                assert!(judged.is_ok(), "{content:?} to {section} of {log:?}: {judged:?}");
            }
        }
    }
}
