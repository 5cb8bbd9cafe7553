//! The tools of `records` in JSON: an input is the number of a call, a text for it, and the bytes of
//! the agent's file.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Value, json};

use crate::case::{self, Format};
use crate::document::{joined, line_count, parts};
use crate::records_file::{BACKUP, FILE, FIRST, GOLDEN, SECOND};
use crate::repository::{Answer, RECORDS_CONTEXT, Repository, ToolError};

use super::{HARMLESS, mixtures};

/// The arrays of the file.
const ARRAYS: [&str; 3] = ["core_memories", "learnings", "tasks"];
/// The fields of a memory. Other fields belong to other programs.
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
/// The maximum nesting of a file.
const MAX_DEPTH: usize = 64;

/// The error if the file has another value where an array must be.
const NO_ARRAY: &str = "expected an array";

/// Makes a call from a text: the tool and its arguments.
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

/// Checks a call. If it is refused, the file does not change. Otherwise the rest of the file does not
/// change, and the backup is the file before the call. Only a valid file is read, and it accepts
/// another memory. Records that cannot be read are left out with a warning.
pub fn run(input: &[u8]) {
    let [which, text, file] = parts(input);
    let which = usize::from(which.first().copied().unwrap_or_default());
    let (tool, arguments) = CALLS[which % CALLS.len()](&String::from_utf8_lossy(text));

    let store = Repository::with_records(FILE, file);
    let shape = shape(file);
    let memories = all_memories(&store);
    match &memories {
        Ok(_) => assert!(shape != Shape::Invalid, "an invalid file is read"),
        Err(error) => {
            assert_eq!(error.code, "CORRUPTED_DATA", "{error:?}");
            let line = error.line().expect("a line is named");
            assert!((1..=line_count(file)).contains(&line), "no such line: {error:?}");
        }
    }
    let before: Option<Value> = serde_json::from_str(&text_of(file)).ok();
    if let (Ok((memories, is_partial)), Some(before)) = (&memories, &before) {
        let all = texts(records(before));
        if *is_partial {
            assert!(memories.iter().all(|memory| all.contains(memory)), "a text that is read");
        } else {
            assert_eq!(*memories, all, "the texts that are read");
        }
    }

    match call(&store, tool, &arguments) {
        Err(error) => {
            let is_input = ["INVALID_INPUT", "LIMIT_EXCEEDED"].contains(&&*error.code);
            let is_known = is_input || ["CORRUPTED_DATA", "NOT_FOUND"].contains(&&*error.code);
            assert!(is_known, "{error:?}");
            let must_add = tool == "add_core_memory" && shape == Shape::Valid;
            assert!(!must_add || is_input, "a valid file accepts no memory: {error:?}");
        }
        Ok(_) => {
            let after = store.documents();
            let has_changed = after[FILE] != file;
            // An import without records does not read the file.
            let is_used = tool != "import_records" || has_changed;
            assert!(shape != Shape::Invalid || !is_used, "{tool} uses an invalid file");
            assert!(memories.is_err() || all_memories(&store).is_ok(), "{tool} damages the file");
            if has_changed && tool != "recall_context" {
                assert_eq!(after.get(BACKUP).map(Vec::as_slice), Some(file), "the backup");
            }
            if let (true, Some(before)) = (has_changed, &before) {
                let after = text_of(&after[FILE]);
                serde_json::from_str::<IgnoredAny>(&after).expect("JSON is written");
                // A number may be out of range for `Value`.
                if let Ok(after) = serde_json::from_str(&after) {
                    check_untouched(tool, before, &after);
                }
            }
        }
    }
    if shape != Shape::Unknown {
        let added = call(&store, "add_core_memory", &json!({"content": HARMLESS}));
        // The file may already have the id that the new memory gets.
        let is_duplicate = |error: &ToolError| error.message.contains("that another memory has");
        let is_expected = added.is_ok() == (shape == Shape::Valid);
        assert!(
            is_expected || added.as_ref().is_err_and(is_duplicate),
            "another memory: {added:?}"
        );
    }
}

fn call(store: &Repository, tool: &str, arguments: &Value) -> Answer {
    let answer = store.call_as(tool, &arguments.to_string(), RECORDS_CONTEXT);
    answer.expect("the request is not refused")
}

/// The text of a file after its byte order mark, with a `?` for each byte that is not UTF-8.
fn text_of(file: &[u8]) -> String {
    let file = file.strip_prefix("\u{feff}".as_bytes()).unwrap_or(file);
    let chunks = file.utf8_chunks();
    chunks.map(|chunk| chunk.valid().to_owned() + &"?".repeat(chunk.invalid().len())).collect()
}

/// The ids and contents of all memories, sorted by id, and whether records are left out.
fn all_memories(store: &Repository) -> Result<(Vec<(String, String)>, bool), ToolError> {
    let page = call(store, "query_memories", &json!({"archived": true, "limit": 100}))?;
    assert_eq!(page["has_more"], false, "a short file has at most 100 memories");
    let texts = texts(page["memories"].as_array().expect("memories"));
    Ok((texts, page["warnings"].is_array()))
}

/// The ids and contents of records that have both.
fn texts<'a>(records: impl IntoIterator<Item = &'a Value>) -> Vec<(String, String)> {
    let text = |record: &Value, field| record[field].as_str().map(str::to_owned);
    let texts = records.into_iter().map(|record| text(record, "id").zip(text(record, "content")));
    let mut texts: Vec<_> = texts.flatten().collect();
    texts.sort();
    texts
}

fn records(file: &Value) -> impl Iterator<Item = &Value> {
    ARRAYS.into_iter().filter_map(|array| file[array].as_array()).flatten()
}

fn id(record: &Value) -> &str {
    record["id"].as_str().unwrap_or_default()
}

/// Checks that a call has changed neither other memories nor the fields of other programs.
fn check_untouched(tool: &str, before: &Value, after: &Value) {
    let known: BTreeSet<&str> = records(before).map(id).collect();
    let is_touched = |id: &str| match tool {
        "add_core_memory" | "import_records" => !known.contains(id),
        "store_memory" | "update_memory" => id == FIRST,
        "delete_memory" => id == SECOND,
        _ => false,
    };
    let rest = |file| rest(file, is_touched, tool == "recall_context");
    assert_eq!(rest(before), rest(after), "the rest of the file after {tool}");
    // Two memories may have this id, and a call may move one of them to another array.
    let foreign = |file| -> Vec<String> {
        let kept = records(file).filter(|record| id(record) == FIRST && known.contains(FIRST));
        let mut kept: Vec<_> = kept.map(|record| without(record, &FIELDS).to_string()).collect();
        kept.sort();
        kept
    };
    assert_eq!(foreign(before), foreign(after), "the fields of other programs");
}

/// The file without the memories that the call changes, and without the timestamps and counts that it
/// sets.
fn rest(file: &Value, is_touched: impl Fn(&str) -> bool, is_recalled: bool) -> Value {
    let mut rest = without(file, &ARRAYS);
    for array in ARRAYS {
        // A value that is not an array stays.
        if !(file[array].is_null() || file[array].is_array()) {
            rest[array] = file[array].clone();
            continue;
        }
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
    // A record need not be an object.
    let Some(members) = object.as_object() else { return object.clone() };
    let left = members.iter().filter(|(name, _)| !fields.contains(&name.as_str()));
    Value::Object(left.map(|(name, value)| (name.clone(), value.clone())).collect())
}

/// Whether bytes are a file of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    /// JSON without duplicate keys outside of records, and without too deep nesting.
    Valid,
    Invalid,
    /// Valid, apart from a number for which `serde_json` has no type, half of a surrogate pair, or a
    /// value where an array must be.
    Unknown,
}

fn shape(file: &[u8]) -> Shape {
    let text = text_of(file);
    let is_unknown = |error: &str| {
        ["number out of range", "hex escape", NO_ARRAY].iter().any(|reason| error.contains(reason))
    };
    let mut deserializer = serde_json::Deserializer::from_str(&text);
    let root = Node { part: Part::File, depth: 0 };
    match root.deserialize(&mut deserializer).and_then(|()| deserializer.end()) {
        Ok(()) => Shape::Valid,
        Err(error) if is_unknown(&error.to_string()) => Shape::Unknown,
        Err(_) => Shape::Invalid,
    }
}

/// Where in the file a value is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    File,
    Array,
    /// A record or a value in it.
    Record,
    Other,
}

/// Checks a value without storing it.
#[derive(Clone, Copy)]
struct Node {
    part: Part,
    depth: usize,
}

impl Node {
    /// A value within this one.
    fn child<E: Error>(self, part: Part) -> Result<Self, E> {
        let depth = self.depth + 1;
        if depth > MAX_DEPTH {
            return Err(E::custom("too deep"));
        }
        Ok(Self { part, depth })
    }

    fn scalar<E: Error>(self) -> Result<(), E> {
        match self.part {
            Part::Record | Part::Other => Ok(()),
            Part::File => Err(E::custom("expected an object")),
            Part::Array => Err(E::custom(NO_ARRAY)),
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
        formatter.write_str("a value of a file of records")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        if self.part == Part::Array {
            return Err(A::Error::custom(NO_ARRAY));
        }
        let mut names = BTreeSet::new();
        let is_record = self.part == Part::Record;
        let other = self.child(if is_record { Part::Record } else { Part::Other })?;
        while let Some(name) = map.next_key::<String>()? {
            let is_array = self.part == Part::File && ARRAYS.contains(&name.as_str());
            map.next_value_seed(if is_array { self.child(Part::Array)? } else { other })?;
            if !names.insert(name) && !is_record {
                return Err(A::Error::custom("a duplicate key"));
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        let child = match self.part {
            Part::Array | Part::Record => self.child(Part::Record)?,
            Part::Other => self.child(Part::Other)?,
            Part::File => return Err(A::Error::custom("expected an object")),
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
        if self.part == Part::Array { Ok(()) } else { self.scalar() }
    }
}

/// All calls on the golden file and on the files of the cases, with random Markdown as texts. Then the
/// imports of the cases.
pub fn seeds() -> Vec<Vec<u8>> {
    let cases = case::load_all();
    let cases = cases.iter().filter(|case| case.format == Some(Format::Json));
    let mut files = vec![GOLDEN.as_bytes().to_vec()];
    let mut texts = Vec::new();
    for case in cases {
        files.extend(case.given().into_values());
        let imported =
            case.text.steps.iter().filter_map(|step| step.arguments()["records"].as_str());
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
