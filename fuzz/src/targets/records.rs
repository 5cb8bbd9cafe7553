//! The file of an agent's records: an input is which call, a text for it, and the file, of any
//! bytes.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Value, json};

use crate::case::{self, Format};
use crate::document::{joined, line_count, parts};
use crate::records_file::{BACKUP, FILE, FIRST, GOLDEN, SECOND};
use crate::repository::{Answer, RECORDS_CONTEXT, Refusal, Repository};

use super::{HARMLESS, mixtures};

/// The arrays of the file.
const ARRAYS: [&str; 3] = ["core_memories", "learnings", "tasks"];
/// What is known of a memory: anything else belongs to another program.
const FIELDS: [&str; 11] = [
    "id",
    "type",
    "content",
    "category",
    "created_at",
    "updated_at",
    "accessed_at",
    "access_count",
    "tags",
    "importance",
    "archived",
];
/// How deep a file may nest.
const MAX_DEPTH: usize = 64;

/// A tool, and its arguments with a text in them.
type CallOf = fn(&str) -> (&'static str, Value);

const CALLS: [CallOf; 9] = [
    |text| ("query_memories", json!({"archived": true, "search": text})),
    |_| ("get_memory_stats", json!({})),
    |_| ("recall_context", json!({"limit": 1})),
    |text| ("add_core_memory", json!({"content": text})),
    |text| ("store_memory", json!({"id": FIRST, "type": "task", "content": text})),
    |text| ("update_memory", json!({"id": FIRST, "tags": [text], "category": null})),
    |_| ("delete_memory", json!({"id": SECOND, "permanent": true})),
    |text| ("import_records", json!({"records": text})),
    |_| ("export_records", json!({})),
];

/// Whatever the file is, a call is refused and leaves it as it is, or everything that the call does
/// not concern is there afterwards, and the version before it beside it. A file is read only if it
/// is JSON, and one that is takes another memory.
pub fn run(input: &[u8]) {
    let [which, text, file] = parts(input);
    let which = usize::from(which.first().copied().unwrap_or_default());
    let (tool, arguments) = CALLS[which % CALLS.len()](&String::from_utf8_lossy(text));

    let store = Repository::with_records(FILE, file);
    let shape = shape(file);
    let memories = all_memories(&store);
    match &memories {
        Ok(_) => assert!(shape != Shape::Unsound, "what is no such file is read"),
        Err(refusal) => {
            assert_eq!(refusal.code, "CORRUPTED_DATA", "{refusal:?}");
            let line = refusal.line().expect("a line is named");
            assert!((1..=line_count(file)).contains(&line), "no such line: {refusal:?}");
        }
    }
    let before: Option<Value> = serde_json::from_slice(file).ok();
    if let (Ok(memories), Some(before)) = (&memories, &before) {
        assert_eq!(*memories, texts(records(before)), "the texts that are read");
    }

    match call(&store, tool, &arguments) {
        Err(refusal) => {
            let is_input = ["INVALID_INPUT", "LIMIT_EXCEEDED"].contains(&&*refusal.code);
            let is_known = is_input || ["CORRUPTED_DATA", "NOT_FOUND"].contains(&&*refusal.code);
            assert!(is_known, "{refusal:?}");
            let may_add = tool == "add_core_memory" && shape == Shape::Sound;
            assert!(!may_add || is_input, "a sound file takes no memory: {refusal:?}");
        }
        Ok(_) => {
            let after = store.documents();
            let has_changed = after[FILE] != file;
            // An import of nothing looks at nothing.
            let is_used = tool != "import_records" || has_changed;
            assert!(shape != Shape::Unsound || !is_used, "{tool} uses what is no such file");
            assert!(memories.is_err() || all_memories(&store).is_ok(), "{tool} damages the file");
            if has_changed && tool != "recall_context" {
                assert_eq!(after.get(BACKUP).map(Vec::as_slice), Some(file), "the backup");
            }
            if let (true, Some(before)) = (has_changed, &before) {
                let after = &after[FILE];
                serde_json::from_slice::<IgnoredAny>(after).expect("JSON is written");
                // A number can be one that no `Value` holds.
                if let Ok(after) = serde_json::from_slice(after) {
                    check_untouched(tool, before, &after);
                }
            }
        }
    }
    if shape != Shape::Unknown {
        let added = call(&store, "add_core_memory", &json!({"content": HARMLESS}));
        // The id that the seed gives may stand there twice already.
        let meets_twins = |refusal: &Refusal| refusal.message.contains("that another memory has");
        let is_expected = added.is_ok() == (shape == Shape::Sound);
        assert!(is_expected || added.as_ref().is_err_and(meets_twins), "another memory: {added:?}");
    }
}

fn call(store: &Repository, tool: &str, arguments: &Value) -> Answer {
    let answer = store.call_as(tool, &arguments.to_string(), RECORDS_CONTEXT);
    answer.expect("a request that is understood")
}

/// The ids and contents of all memories, in the order of the ids.
fn all_memories(store: &Repository) -> Result<Vec<(String, String)>, Refusal> {
    let page = call(store, "query_memories", &json!({"archived": true, "limit": 100}))?;
    assert_eq!(page["has_more"], false, "no short file has as many");
    Ok(texts(page["memories"].as_array().expect("memories")))
}

fn texts<'a>(records: impl IntoIterator<Item = &'a Value>) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let mut texts: Vec<_> =
        records.into_iter().map(|record| (text(&record["id"]), text(&record["content"]))).collect();
    texts.sort();
    texts
}

fn records(file: &Value) -> impl Iterator<Item = &Value> {
    ARRAYS.into_iter().filter_map(|array| file[array].as_array()).flatten()
}

fn id(record: &Value) -> &str {
    record["id"].as_str().unwrap_or_default()
}

/// What a call does not concern is what it was: the other memories, and what is not known of any.
fn check_untouched(tool: &str, before: &Value, after: &Value) {
    let known: BTreeSet<&str> = records(before).map(id).collect();
    let is_touched = |id: &str| match tool {
        "add_core_memory" | "import_records" => !known.contains(id),
        "store_memory" | "update_memory" => id == FIRST,
        "delete_memory" => id == SECOND,
        _ => false,
    };
    let rest = |file| rest(file, is_touched, tool == "recall_context");
    assert_eq!(rest(before), rest(after), "what {tool} leaves alone");
    let foreign = |file| -> Vec<Value> {
        let kept = records(file).filter(|record| id(record) == FIRST && known.contains(FIRST));
        kept.map(|record| without(record, &FIELDS)).collect()
    };
    assert_eq!(foreign(before), foreign(after), "what others keep of a memory");
}

/// A file without the memories that a call touches, and without what it notes of itself.
fn rest(file: &Value, is_touched: impl Fn(&str) -> bool, is_recalled: bool) -> Value {
    let mut rest = without(file, &ARRAYS);
    for array in ARRAYS {
        let records = file[array].as_array().into_iter().flatten();
        let left = records.filter(|record| !is_touched(id(record)));
        let noted: &[&str] = if is_recalled { &["accessed_at", "access_count"] } else { &[] };
        rest[array] = left.map(|record| without(record, noted)).collect();
    }
    if file["metadata"].is_object() {
        rest["metadata"] = without(&file["metadata"], &["updated_at"]);
    }
    rest
}

fn without(object: &Value, fields: &[&str]) -> Value {
    let members = object.as_object().expect("an object").iter();
    let left = members.filter(|(name, _)| !fields.contains(&name.as_str()));
    Value::Object(left.map(|(name, value)| (name.clone(), value.clone())).collect())
}

/// What bytes are, beside what a file of records should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    /// JSON without a key that stands twice, not too deep, and the arrays hold objects.
    Sound,
    Unsound,
    /// Sound but for a number that the judge's parser has no type for.
    Unknown,
}

fn shape(file: &[u8]) -> Shape {
    let Ok(text) = std::str::from_utf8(file) else { return Shape::Unsound };
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let root = Node { part: Part::File, depth: 0 };
    match root.deserialize(&mut deserializer).and_then(|()| deserializer.end()) {
        Ok(()) => Shape::Sound,
        Err(error) if error.to_string().contains("number out of range") => Shape::Unknown,
        Err(_) => Shape::Unsound,
    }
}

/// Which part of the file a value is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    File,
    Array,
    Record,
    Other,
}

/// A value that is looked at and not kept.
#[derive(Clone, Copy)]
struct Node {
    part: Part,
    depth: usize,
}

impl Node {
    /// A value in it, if it may hold any.
    fn child<E: Error>(self, part: Part) -> Result<Self, E> {
        let depth = self.depth + 1;
        if depth > MAX_DEPTH {
            return Err(E::custom("too deep"));
        }
        Ok(Self { part, depth })
    }

    fn scalar<E: Error>(self) -> Result<(), E> {
        match self.part {
            Part::Other => Ok(()),
            _ => Err(E::custom("no scalar goes here")),
        }
    }
}

impl<'de> DeserializeSeed<'de> for Node {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Node {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("what a file of records has here")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        if self.part == Part::Array {
            return Err(A::Error::custom("an array goes here"));
        }
        let mut names = BTreeSet::new();
        let other = self.child(Part::Other)?;
        while let Some(name) = map.next_key::<String>()? {
            let is_array = self.part == Part::File && ARRAYS.contains(&name.as_str());
            map.next_value_seed(if is_array { self.child(Part::Array)? } else { other })?;
            if !names.insert(name) {
                return Err(A::Error::custom("a key stands twice"));
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        let child = match self.part {
            Part::Array => self.child(Part::Record)?,
            Part::Other => self.child(Part::Other)?,
            Part::File | Part::Record => return Err(A::Error::custom("an object goes here")),
        };
        while seq.next_element_seed(child)?.is_some() {}
        Ok(())
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        self.scalar()
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<(), E> {
        self.scalar()
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<(), E> {
        self.scalar()
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<(), E> {
        self.scalar()
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<(), E> {
        self.scalar()
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.scalar()
    }
}

/// Every call on the golden file, and the files of the cases; the texts are such as an import takes,
/// and mixtures.
pub fn seeds() -> Vec<Vec<u8>> {
    let cases = case::load_all();
    let cases = cases.iter().filter(|case| case.format == Some(Format::Json));
    let (mut files, mut texts) = (vec![GOLDEN.as_bytes().to_vec()], Vec::new());
    for case in cases {
        files.extend(case.given().into_values());
        let imported = case.text.steps.iter().filter_map(|step| step.arguments["records"].as_str());
        texts.extend(imported.map(|text| text.as_bytes().to_vec()));
    }
    let import = CALLS.iter().position(|of| of("").0 == "import_records").expect("a call") as u8;
    let imports = texts.iter().map(|text| joined(&[&[import], text, GOLDEN.as_bytes()]));
    let calls = mixtures().zip(0_u8..CALLS.len() as u8).collect::<Vec<_>>();
    let used = files.iter().flat_map(|file| {
        calls.iter().map(move |(text, which)| joined(&[&[*which], text.as_bytes(), file]))
    });
    used.chain(imports).collect()
}
