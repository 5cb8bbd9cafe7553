//! The calls of the contestants, and the documents for them.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use agent_memory_core::context::Context;
use agent_memory_core::storage::{Area, Place};
use agent_memory_core::toolbox;
use agent_memory_storage_memory::MemoryStorage;
use serde_json::{Value, json};

pub const AGENT: &str = "ada";

/// The context of a call on the core, which a host would otherwise make.
pub fn context() -> Context {
    let context = json!({"settings": {"toolsets": ["sessions"]},
        "now": "2025-01-20T10:00:00.000Z", "seed": 1});
    serde_json::from_value(context).expect("a context")
}

/// The path of the repository in memory.
pub const NOWHERE: &str = "/repository";

/// The section to which entries are added, and the next section.
pub const SECTION: &str = "Decisions";
pub const NEXT_SECTION: &str = "Open Questions";

/// The entry that is appended.
pub const ENTRY: &str =
    "- One document a day holds the log, because a person opens one file: see `docs/tools.md`.";

/// The entries that fill the documents.
const FILLING: [&str; 4] = [
    "- The parser reads a line twice where a fence is open; `outline.rs` now looks at it once.\n",
    "We went through the failing cases with the **new** runner, and found that two of them had \
     been right all along: see [the list](docs/cases.md). The others were one mistake in how the \
     end of a section is found.\n",
    "1. measure before and after;\n2. keep what is faster;\n3. write down why:\n   - the figures,\n   \
     - the command.\n",
    "```rust\nlet section = log.section(name).ok_or(Missing(name))?;\n```\n",
];

/// An agent's documents: a schema, a summary, and a log of the same length for each of some days.
#[derive(Clone)]
pub struct Work {
    /// The documents by their path below `.github/agent-memory/`.
    documents: BTreeMap<String, String>,
    days: Vec<String>,
}

impl Work {
    /// Logs of about `log_bytes` bytes each, and a summary of 1 KB.
    pub fn new(log_bytes: usize, days: usize) -> Self {
        let days: Vec<String> = (1..=days).map(|day| format!("2025-01-{day:02}")).collect();
        let storage = MemoryStorage::new();
        storage.grant(Place::repository(NOWHERE));
        for day in &days {
            let session = json!({"agent_name": AGENT, "repo_root": NOWHERE, "date": day});
            call(&storage, "start_session", &session.to_string());
        }
        let started = storage.documents(&Place::repository(NOWHERE), Area::Documents);
        let filled = started.into_iter().map(|(path, contents)| {
            let text = String::from_utf8(contents).expect("documents are text");
            let text = match path.rsplit('/').next() {
                Some("_schema.md") => text,
                Some("_summary.md") => filled(&text, 1 << 10),
                _ => filled(&text, log_bytes),
            };
            (path, text)
        });
        Self { documents: filled.collect(), days }
    }

    /// One append to the log of each day, so that all logs have the same length.
    pub fn appends(&self, repository: &str) -> Calls {
        let append = |day: &String| {
            json!({"agent_name": AGENT, "repo_root": repository, "date": day, "section": SECTION,
                   "content": ENTRY})
        };
        Calls { tool: "append_entry", arguments: self.days.iter().map(append).collect() }
    }

    /// Writes the documents to storage in memory.
    pub fn lend(&self, storage: &MemoryStorage) {
        for (path, text) in &self.documents {
            storage.put(&Place::repository(NOWHERE), Area::Documents, path, text.as_str());
        }
    }

    /// Writes the documents to a repository and syncs them.
    pub fn put(&self, repository: &Path) -> io::Result<()> {
        for (path, text) in &self.documents {
            let path = tree(repository).join(path);
            fs::create_dir_all(path.parent().expect("a document is in a directory"))?;
            let mut file = File::create(path)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
        }
        Ok(())
    }

    /// The paths of the logs in a repository.
    pub fn logs(&self, repository: &Path) -> Vec<PathBuf> {
        let logs = tree(repository).join(AGENT).join("logs");
        self.days.iter().map(|day| logs.join(format!("{day}.md"))).collect()
    }
}

/// Calls of one tool, made one after another.
pub struct Calls {
    pub tool: &'static str,
    pub arguments: Vec<Value>,
}

impl Calls {
    /// Reads of the summary.
    pub fn reads(repository: &str, count: usize) -> Self {
        let read = json!({"agent_name": AGENT, "repo_root": repository});
        Self { tool: "read_summary", arguments: vec![read; count] }
    }

    /// The arguments as a host gets them.
    pub fn texts(&self) -> Vec<String> {
        self.arguments.iter().map(Value::to_string).collect()
    }
}

/// A repository on disk, without any document yet.
pub fn repository(within: &Path) -> io::Result<tempfile::TempDir> {
    let root = tempfile::Builder::new().prefix("bench-").tempdir_in(within)?;
    fs::create_dir(root.path().join(".git"))?;
    fs::write(root.path().join(".git/HEAD"), "ref: refs/heads/main\n")?;
    Ok(root)
}

/// The directory of a repository's documents.
pub fn tree(repository: &Path) -> PathBuf {
    repository.join(".github/agent-memory")
}

fn call(storage: &MemoryStorage, tool: &str, arguments: &str) {
    let outcome = toolbox::call_tool(storage, tool, arguments, &context()).expect("it is mounted");
    assert!(outcome.answer.is_ok(), "{tool} {arguments}: {}", outcome.json());
}

/// Fills a document below its second section, up to about `bytes` bytes. A log's first section is its
/// header.
fn filled(text: &str, bytes: usize) -> String {
    let (first, rest) = text.split_once("\n## ").expect("it has sections");
    let (second, rest) = rest.split_once("\n## ").expect("it has more than one");
    let mut filling = String::new();
    for entry in FILLING.iter().cycle() {
        if text.len() + filling.len() + entry.len() > bytes {
            break;
        }
        filling += &format!("\n{entry}");
    }
    let (third, rest) = rest.split_once('\n').expect("a heading ends");
    format!("{first}\n## {second}\n## {third}\n{filling}{rest}")
}
