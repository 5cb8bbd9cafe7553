//! Memories of 1 KB of text, and directories with many of them.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use agent_memory_host::Durability;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::engine::{Engine, Row};
use super::product::{DATABASE, builder, run_one};
use crate::texts::{FIRST_MOMENT, Moment, lengthened};

/// A word in one memory of every [`RARE_EVERY`].
pub const RARE: &str = "marzipan";
const RARE_EVERY: usize = 20_000;

/// The largest number of memories with which a directory is copied for each contestant.
const MOST_COPIED: usize = 100_000;

/// The number of memories of one agent in [`Filled::by_product`]: a file of more would be too long.
const OF_AGENT: usize = 10_000;

const KINDS: [&str; 3] = ["core", "learning", "task"];
const IMPORTANCES: [&str; 3] = ["low", "medium", "high"];
const CATEGORIES: [&str; 8] =
    ["fact", "preference", "pattern", "decision", "person", "tool", "place", "plan"];

/// A memory. Its number determines all its values.
pub struct Memory {
    number: usize,
    content: String,
}

impl Memory {
    pub fn new(number: usize) -> Self {
        let mut content = format!("Note {number}:");
        if number % RARE_EVERY == 7 {
            content = format!("{content} {RARE}");
        }
        Self { number, content: lengthened(content, number, 1020) }
    }

    fn importance(&self) -> usize {
        [1, 1, 1, 2, 0][self.number % 5]
    }

    fn category(&self) -> &'static str {
        CATEGORIES[self.number % CATEGORIES.len()]
    }

    fn tags(&self) -> [String; 2] {
        [format!("tag{}", self.number % 50), format!("area{}", self.number % 7)]
    }

    /// The texts of the first `memories` memories.
    pub fn texts(memories: usize) -> impl Iterator<Item = String> {
        (0..memories).map(|number| Self::new(number).content)
    }

    pub fn content(&self) -> &str {
        &self.content
    }

    /// The arguments of `store_memory`.
    pub fn arguments(&self) -> Value {
        json!({
            "type": KINDS[self.number % 3],
            "content": self.content,
            "category": self.category(),
            "tags": self.tags(),
            "importance": IMPORTANCES[self.importance()],
        })
    }

    /// The record of a JSON file, with fields in the order of the original program.
    pub fn record(&self) -> Value {
        let moment = Moment(FIRST_MOMENT + self.number as i64 * 1000).to_string();
        json!({
            "id": id(self.number),
            "type": KINDS[self.number % 3],
            "content": self.content,
            "category": self.category(),
            "created_at": moment,
            "updated_at": moment,
            "accessed_at": moment,
            "access_count": 0,
            "tags": self.tags(),
            "importance": IMPORTANCES[self.importance()],
            "archived": false,
        })
    }

    /// The values of the memory's columns in SQLite.
    pub fn row(&self) -> Row {
        let tags = self.tags();
        Row {
            kind: (self.number % 3) as i64,
            content: self.content.clone(),
            category: self.category(),
            moment: FIRST_MOMENT + self.number as i64 * 1000,
            tags: json!(tags).to_string(),
            importance: self.importance() as i64,
            bytes: self.record().to_string().len() as i64,
            folded: format!(
                "{}\n{}\n{}",
                self.content.to_lowercase(),
                self.category(),
                tags.join("\n")
            ),
        }
    }
}

/// A UUID v4 for a number. The ids of consecutive numbers are in random order.
pub fn id(number: usize) -> String {
    let scattered = (number as u128 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
    let hex = format!("{scattered:032x}");
    format!("{}-{}-4{}-8{}-{}", &hex[..8], &hex[8..12], &hex[13..16], &hex[17..20], &hex[20..])
}

/// The formats of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordsFormat {
    Json,
    Sqlite,
}

impl RecordsFormat {
    /// Its name as a setting.
    pub fn name(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Sqlite => "sqlite",
        }
    }

    /// Its name in a title.
    pub fn title(self) -> &'static str {
        match self {
            Self::Json => "JSON",
            Self::Sqlite => "SQLite",
        }
    }
}

/// A directory of records with `memories` memories, of the agent `default` if [`Filled::new`] made it.
#[derive(Clone)]
pub struct Filled {
    pub format: RecordsFormat,
    /// Removed with the last contestant that uses it.
    pub directory: Rc<TempDir>,
    within: PathBuf,
    memories: usize,
}

impl Filled {
    pub fn new(within: &Path, format: RecordsFormat, memories: usize) -> io::Result<Self> {
        let directory = Rc::new(empty(within)?);
        match format {
            RecordsFormat::Json => write_file(&directory.path().join("default.json"), 0..memories)?,
            RecordsFormat::Sqlite => {
                // The product adds the first memory, which makes the tables.
                let memory = builder(directory.path(), format).durability(Durability::Relaxed);
                let memory = memory.build().map_err(io::Error::other)?;
                run_one(&memory, "store_memory", &Memory::new(0).arguments())?;
                drop(memory);
                let engine = Engine::open(directory.path()).map_err(io::Error::other)?;
                engine.fill((1..memories).map(Memory::new)).map_err(io::Error::other)?;
            }
        }
        Ok(Self { format, directory, within: within.to_owned(), memories })
    }

    /// Memories that the product has written, of an agent for each [`OF_AGENT`]. A search takes a row from
    /// its index only if the row has the stamp that the product computes.
    pub fn by_product(within: &Path, format: RecordsFormat, memories: usize) -> io::Result<Self> {
        let directory = Rc::new(empty(within)?);
        let memory = builder(directory.path(), format).durability(Durability::Relaxed);
        let memory = memory.build().map_err(io::Error::other)?;
        for start in (0..memories).step_by(OF_AGENT) {
            let agent = format!("agent{start}");
            let path = directory.path().join(format!("{agent}.json"));
            write_file(&path, start..memories.min(start + OF_AGENT))?;
            if format == RecordsFormat::Sqlite {
                let arguments = json!({"agent_id": agent, "to": "sqlite"});
                run_one(&memory, "convert_records", &arguments)?;
                fs::remove_file(directory.path().join(format!("{agent}.json.converted")))?;
            }
        }
        Ok(Self { format, directory, within: within.to_owned(), memories })
    }

    /// The number of its memories.
    pub fn memories(&self) -> usize {
        self.memories
    }

    /// A copy of the directory. A directory that is too large to copy is shared: a few more memories
    /// make no difference there.
    pub fn copy(&self) -> io::Result<Self> {
        if self.memories > MOST_COPIED {
            return Ok(self.clone());
        }
        let directory = Rc::new(empty(&self.within)?);
        let name = match self.format {
            RecordsFormat::Json => "default.json",
            RecordsFormat::Sqlite => DATABASE,
        };
        let to = directory.path().join(name);
        fs::copy(self.directory.path().join(name), &to)?;
        File::open(to)?.sync_all()?;
        Ok(Self { directory, ..self.clone() })
    }
}

fn empty(within: &Path) -> io::Result<TempDir> {
    tempfile::Builder::new().prefix("bench-records-").tempdir_in(within)
}

/// Writes a JSON file of records with the memories of these numbers.
fn write_file(path: &Path, memories: Range<usize>) -> io::Result<()> {
    let arrays = [("core_memories", 0), ("learnings", 1), ("tasks", 2)];
    let of_kind = |kind: usize| -> Vec<Value> {
        let of_kind = memories.clone().filter(|number| number % 3 == kind);
        of_kind.map(|number| Memory::new(number).record()).collect()
    };
    let mut file = serde_json::Map::new();
    for (name, kind) in arrays {
        file.insert(name.to_owned(), of_kind(kind).into());
    }
    let moment = Moment(FIRST_MOMENT).to_string();
    file.insert("metadata".to_owned(), json!({"created_at": moment, "updated_at": moment}));
    let mut out = BufWriter::new(File::create(path)?);
    serde_json::to_writer_pretty(&mut out, &file)?;
    out.flush()?;
    out.get_ref().sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_formats_hold_what_the_tools_then_find() {
        let within = tempfile::tempdir().expect("a directory");
        for format in [RecordsFormat::Json, RecordsFormat::Sqlite] {
            let filled = Filled::new(within.path(), format, 30).expect("it is filled");
            let filled = filled.copy().expect("it is copied");
            let memory = builder(filled.directory.path(), format).build().expect("it opens");
            let ask = |arguments: Value| {
                let answer = run_one(&memory, "query_memories", &arguments).expect("an answer");
                serde_json::from_str::<Value>(&answer).expect("JSON")
            };
            assert_eq!(ask(json!({}))["total"], 30, "{format:?}");
            assert_eq!(ask(json!({"type": "learning"}))["total"], 10, "{format:?}");
            assert_eq!(ask(json!({"importance": "high"}))["total"], 6, "{format:?}");
            assert_eq!(ask(json!({"category": "fact"}))["total"], 4, "{format:?}");
            assert_eq!(ask(json!({"tags": ["area3"]}))["total"], 4, "{format:?}");
            let found = ask(json!({"search": RARE}));
            assert_eq!(found["total"], 1, "{format:?}");
            let content = found["memories"][0]["content"].as_str().expect("text");
            assert!((1000..1040).contains(&content.len()) && content.starts_with("Note 7: "));
        }
    }
}
