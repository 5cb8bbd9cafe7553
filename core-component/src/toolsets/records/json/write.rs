//! Changing an agent's file: the splices of a call are collected and then applied together.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use serde_json::{Value, json};

use super::file::{JsonFile, RecordIndex, unused, with_any_term};
use super::layout::{RECORD_DEPTH, indented, record_text};
use super::path::file_path;
use super::record::Record;
use super::scan::{Member, Scanner, unquoted};
use super::search::key_of;
use crate::context::Context;
use crate::storage::{self, Area, Change, MAX_DOCUMENT_BYTES};
use crate::time::Timestamp;
use crate::toolsets::records::error::{Error, RAISE_LIMITS, convert};
use crate::toolsets::records::memory::{Kind, Memory};
use crate::toolsets::records::query::{Page, Query};
use crate::toolsets::records::settings::RecordsSettings;
use crate::toolsets::records::stats::Stats;
use crate::toolsets::records::store::{Imported, Purpose, Reader, WithAnyTerm, Writer};

const MAX_MEMORIES: u64 = 100_000;

/// The maximum number of memories and the maximum number of bytes of a file.
pub(in crate::toolsets::records) fn limits(settings: &RecordsSettings) -> (u64, u64) {
    let max_bytes = settings.max_bytes.unwrap_or(MAX_DOCUMENT_BYTES).min(MAX_DOCUMENT_BYTES);
    (settings.max_memories.unwrap_or(MAX_MEMORIES), max_bytes)
}

/// The changes that a call makes to an agent's file.
pub(in crate::toolsets::records) struct JsonWriter {
    file: JsonFile,
    settings: RecordsSettings,
    now: Timestamp,
    /// The changed records of the file, with their new values.
    changed: BTreeMap<RecordIndex, Memory>,
    /// The removed records of the file.
    removed: BTreeSet<RecordIndex>,
    /// The records to append to the arrays, as text and as memories.
    added: Vec<(String, Memory)>,
    /// The number of bytes by which the changes lengthen the file.
    bytes_added: u64,
}

impl JsonWriter {
    pub fn new(file: JsonFile, context: &Context) -> Self {
        Self {
            file,
            settings: RecordsSettings::from_context(context),
            now: context.now,
            changed: BTreeMap::new(),
            removed: BTreeSet::new(),
            added: Vec::new(),
            bytes_added: 0,
        }
    }

    /// The index keys of the records that the call neither removes nor changes. `None` if it
    /// removes no record.
    pub fn keys_if_removed(&self) -> Option<Vec<i64>> {
        let stays = |index: &RecordIndex| {
            !self.removed.contains(index) && !self.changed.contains_key(index)
        };
        let indexes = self.file.records().map(|(index, _)| index).filter(stays);
        (!self.removed.is_empty()).then(|| indexes.map(|index| key_of(&self.file, index)).collect())
    }

    /// Whether any record was changed, removed or added.
    pub fn has_changed(&self) -> bool {
        !(self.changed.is_empty() && self.removed.is_empty() && self.added.is_empty())
    }

    /// The changes of one commit. If the file has to be backed up, the copy comes before the change
    /// of the file.
    pub fn into_changes(self, purpose: Purpose) -> Vec<Change> {
        let path = file_path(&self.file.agent);
        let mut changes = Vec::new();
        if let (Some(version), Purpose::Change) = (&self.file.version, purpose) {
            changes.push(Change::Copy {
                area: Area::Documents,
                from: path.clone(),
                to: format!("{path}.backup"),
                expects: version.clone(),
            });
        }
        let area = Area::Documents;
        changes.push(match self.file.version.clone() {
            Some(expects) => Change::Edit { area, path, splices: self.splices(purpose), expects },
            None => {
                let contents = self.new_file().into_bytes();
                Change::Put { area, path, contents, expects: None }
            }
        });
        changes
    }

    /// The splices of all changes, sorted by position.
    pub(super) fn splices(&self, purpose: Purpose) -> Vec<storage::Splice> {
        let mut splices = Vec::new();
        for (index, after) in &self.changed {
            let record = self.file.record(*index);
            let before = record.memory(&self.file.text, index.0).expect("read before");
            edit(&self.file.text, record, &before, after, &mut splices);
        }
        for kind in Kind::ALL {
            self.splice_array(kind, &mut splices);
        }
        self.splice_new_arrays(&mut splices);
        if purpose != Purpose::Access {
            self.splice_updated_at(&mut splices);
        }
        sort_splices(&mut splices);
        let is_apart = |pair: &[Splice]| pair[0].0.end <= pair[1].0.start;
        assert!(splices.windows(2).all(is_apart), "splices must not overlap");
        let stored = |(range, text): Splice| storage::Splice { range, inserts: text.into_bytes() };
        splices.into_iter().map(stored).collect()
    }

    fn new_file(&self) -> String {
        let mut text = String::from("{\n");
        for kind in Kind::ALL {
            let items: Vec<_> = self.added_to(kind).collect();
            text += &format!("  \"{}\": {},\n", kind.array(), array_text(&items));
        }
        text + &metadata(self.now, self.now)
    }

    fn added_to(&self, kind: Kind) -> impl Iterator<Item = &str> {
        let of_kind = self.added.iter().filter(move |(_, memory)| memory.kind == kind);
        of_kind.map(|(text, _)| text.as_str())
    }

    /// Adds the splices that remove the removed records of an array and append the added records.
    fn splice_array(&self, kind: Kind, splices: &mut Vec<Splice>) {
        let added: Vec<_> = self.added_to(kind).collect();
        let Some(array) = self.file.array(kind) else { return };
        let remains = |index: &usize| !self.removed.contains(&(kind, *index));
        let remaining: Vec<usize> = (0..array.records.len()).filter(remains).collect();
        let (Some(&first), Some(&last)) = (remaining.first(), remaining.last()) else {
            if !(added.is_empty() && array.records.is_empty()) {
                splices.push((array.range.clone(), array_text(&added)));
            }
            return;
        };
        // A removed record before the first remaining record takes along the comma after it. Any
        // other removed record takes along the comma before it.
        for (index, record) in array.records.iter().enumerate().filter(|(i, _)| !remains(i)) {
            let range = if index < first {
                record.range.start..array.records[index + 1].range.start
            } else {
                array.records[index - 1].range.end..record.range.end
            };
            splices.push((range, String::new()));
        }
        if !added.is_empty() {
            let end = if last + 1 < array.records.len() {
                array.records[array.records.len() - 1].range.end
            } else {
                array.records[last].range.end
            };
            let items: String = added.iter().map(|item| format!(",\n    {item}")).collect();
            splices.push((end..end, items));
        }
    }

    /// Adds a splice with the new arrays: those of the types that get records and have no array
    /// yet.
    fn splice_new_arrays(&self, splices: &mut Vec<Splice>) {
        let missing = Kind::ALL.into_iter().filter(|kind| self.file.array(*kind).is_none());
        let arrays = missing.map(|kind| (kind, self.added_to(kind).collect::<Vec<_>>()));
        let members = arrays
            .filter(|(_, items)| !items.is_empty())
            .map(|(kind, items)| format!("\"{}\": {}", kind.array(), array_text(&items)));
        let members: Vec<String> = members.collect();
        if !members.is_empty() {
            let members = members.join(",\n  ");
            let object = self.file.start()..self.file.text.len();
            splices.push(self.new_member(&self.file.members, object, &members, 1));
        }
    }

    fn splice_updated_at(&self, splices: &mut Vec<Splice>) {
        let Some(metadata) = &self.file.metadata else { return };
        let text = &self.file.text;
        let member = |name| metadata.iter().find(|member| unquoted(text, &member.key) == name);
        // `updated_at` is never before `created_at`, as in a memory, even if the clock was set
        // back.
        let created = member("created_at").map(|created| created.value.clone());
        let created = created.filter(|created| text[created.clone()].starts_with('"'));
        let created = created.and_then(|at| Timestamp::parse_stored(&unquoted(text, &at)));
        let now = json!(created.map_or(self.now, |created| created.max(self.now))).to_string();
        match member("updated_at") {
            Some(member) => splices.push((member.value.clone(), now)),
            None if metadata.is_empty() => {}
            None => {
                let member = format!("\"updated_at\": {now}");
                splices.push(self.new_member(metadata, 0..0, &member, 2));
            }
        }
    }

    /// The splice that adds a member after the last member of an object. If the object is empty,
    /// the splice replaces the range `object`.
    fn new_member(
        &self,
        members: &[Member],
        object: Range<usize>,
        member: &str,
        depth: usize,
    ) -> Splice {
        let indent = "  ".repeat(depth);
        match members.last() {
            Some(last) => (last.value.end..last.value.end, format!(",\n{indent}{member}")),
            None => (object, format!("{{\n{indent}{member}\n}}")),
        }
    }

    /// Fails if the agent would exceed a limit with the new memories and bytes.
    fn check_limits(&self, new_memories: u64, new_bytes: u64) -> Result<(), Error> {
        let remaining = self.file.records().count() - self.removed.len();
        let memories = remaining as u64 + self.added.len() as u64 + new_memories;
        let bytes = self.file.text.len() as u64 + self.bytes_added + new_bytes;
        let (max_memories, max_bytes) = limits(&self.settings);
        let (size, limit, is_set) = if memories > max_memories {
            let limit = format!("{max_memories} memories in JSON");
            (memories, limit, self.settings.max_memories.is_some())
        } else if bytes > max_bytes {
            (bytes, format!("{max_bytes} bytes in JSON"), max_bytes < MAX_DOCUMENT_BYTES)
        } else {
            return Ok(());
        };
        let agent = &self.file.agent;
        let remedy = if is_set { RAISE_LIMITS.to_owned() } else { convert(agent) };
        Err(Error::over_limit(agent, size, &limit, &remedy))
    }

    /// Adds a record. If it replaces a removed record, `replaced_bytes` is the length of the
    /// removed record.
    fn add(&mut self, text: String, memory: Memory, replaced_bytes: usize) -> Result<(), Error> {
        self.file.check_array(memory.kind)?;
        let bytes = text.len().saturating_sub(replaced_bytes) as u64;
        if bytes > 0 {
            self.check_limits(1, bytes)?;
        }
        self.bytes_added += bytes;
        self.added.push((text, memory));
        Ok(())
    }

    /// The index in `added` of the memory with this id.
    fn added_index(&self, id: &str) -> Option<usize> {
        self.added.iter().position(|(_, memory)| memory.id == id)
    }
}

impl Reader for JsonWriter {
    fn find(&self, id: &str) -> Result<Option<Memory>, Error> {
        if let Some(index) = self.added_index(id) {
            return Ok(Some(self.added[index].1.clone()));
        }
        match self.file.index_of(id)? {
            Some(index) if self.removed.contains(&index) => Ok(None),
            Some(index) => match self.changed.get(&index) {
                Some(memory) => Ok(Some(memory.clone())),
                None => self.file.memory(index).map(Some),
            },
            None => Ok(None),
        }
    }

    fn has_id(&self, id: &str) -> Result<bool, Error> {
        let remains = |index: RecordIndex| !self.removed.contains(&index);
        Ok(self.added_index(id).is_some() || self.file.index_of(id)?.is_some_and(remains))
    }

    fn unreadable(&self) -> Option<String> {
        self.file.left_out_warning()
    }

    fn query(&self, query: &Query) -> Result<Page, Error> {
        Ok(query.page(self.memories()))
    }

    fn count_with_any_term(&self, query: &Query) -> Result<WithAnyTerm, Error> {
        Ok(with_any_term(self.memories(), query))
    }

    fn stats(&self) -> Result<Stats, Error> {
        Ok(Stats::from_memories(&self.memories()))
    }

    fn unused(
        &self,
        since: Timestamp,
        kind: Option<Kind>,
        limit: u32,
    ) -> Result<Vec<Memory>, Error> {
        Ok(unused(self.memories(), since, kind, limit))
    }
}

impl JsonWriter {
    fn memories(&self) -> Vec<Memory> {
        let mut memories = self.file.readable();
        memories.retain(|(index, _)| !self.removed.contains(index));
        let present = memories
            .into_iter()
            .map(|(index, memory)| self.changed.get(&index).cloned().unwrap_or(memory));
        present.chain(self.added.iter().map(|(_, memory)| memory.clone())).collect()
    }
}

impl Writer for JsonWriter {
    fn insert(&mut self, memory: &Memory) -> Result<(), Error> {
        self.add(record_text(memory), memory.clone(), 0)
    }

    fn insert_all(&mut self, records: &[&Imported]) -> Result<(), Error> {
        for Imported { memory, original } in records {
            let text = original.clone().unwrap_or_else(|| record_text(memory));
            self.add(text, memory.clone(), 0)?;
        }
        Ok(())
    }

    fn update(&mut self, before: &Memory, after: &Memory) -> Result<(), Error> {
        if let Some(index) = self.added_index(&before.id) {
            let text = rewritten(&self.added[index].0, before, after);
            self.added[index] = (text, after.clone());
            return Ok(());
        }
        let index = self.file.index_of_read(&before.id);
        if before.kind == after.kind {
            self.changed.insert(index, after.clone());
            if after.bytes() > before.bytes() {
                self.check_limits(0, after.bytes() - before.bytes())?;
                self.bytes_added += after.bytes() - before.bytes();
            }
            return Ok(());
        }
        let record = self.file.record(index);
        let stored = self.file.memory(index)?;
        let old = &self.file.text[record.range.clone()];
        let new = rewritten(old, &stored, after);
        let replaced_bytes = old.len();
        self.changed.remove(&index);
        self.removed.insert(index);
        self.add(new, after.clone(), replaced_bytes)
    }

    fn remove(&mut self, memory: &Memory) -> Result<(), Error> {
        if let Some(index) = self.added_index(&memory.id) {
            self.added.remove(index);
            return Ok(());
        }
        let index = self.file.index_of_read(&memory.id);
        self.changed.remove(&index);
        self.removed.insert(index);
        Ok(())
    }

    fn keeps_backup(&self) -> bool {
        true
    }
}

/// A range of the text, in bytes, and the text that replaces it.
pub(super) type Splice = (Range<usize>, String);

/// Sorts splices by position. At the same position, an insertion comes before a replacement.
fn sort_splices(splices: &mut [Splice]) {
    splices.sort_by_key(|(range, _)| (range.start, range.end));
}

/// Applies all splices to a text. The splices must not overlap.
pub(super) fn spliced(text: &str, mut splices: Vec<Splice>) -> String {
    sort_splices(&mut splices);
    let mut result = String::new();
    let mut at = 0;
    for (range, replacement) in splices {
        result += &text[at..range.start];
        result += &replacement;
        at = range.end;
    }
    result + &text[at..]
}

/// Adds the splices that change a record from `before` to `after`.
fn edit(text: &str, record: &Record, before: &Memory, after: &Memory, splices: &mut Vec<Splice>) {
    let mut missing = String::new();
    for (name, value) in changed_fields(before, after) {
        let value = indented(&value, RECORD_DEPTH);
        match record.member(text, name) {
            Some(member) => splices.push((member.value.clone(), value)),
            None => {
                let indent = "  ".repeat(RECORD_DEPTH);
                missing += &format!(",\n{indent}\"{name}\": {value}");
            }
        }
    }
    // The record of a memory has at least one member, so a comma before the new members is right.
    let end = record.members.last().map_or(record.range.end, |last| last.value.end);
    if !missing.is_empty() {
        splices.push((end..end, missing));
    }
}

/// The text of a record after a change of its memory from `before` to `after`.
pub(in crate::toolsets::records) fn rewritten(
    text: &str,
    before: &Memory,
    after: &Memory,
) -> String {
    let members = Scanner::new(text).object(|scanner, _| scanner.value());
    let members = members.expect("scanned before");
    let record = Record { range: 0..text.len(), members, flaw: None };
    let mut splices = Vec::new();
    edit(text, &record, before, after, &mut splices);
    spliced(text, splices)
}

/// The fields in which `after` differs from `before`, with their new values.
fn changed_fields(before: &Memory, after: &Memory) -> Vec<(&'static str, Value)> {
    let fields = [
        ("type", before.kind != after.kind, json!(after.kind)),
        ("content", before.content != after.content, json!(after.content)),
        ("category", before.category != after.category, json!(after.category)),
        ("updated_at", before.updated_at != after.updated_at, json!(after.updated_at)),
        ("accessed_at", before.accessed_at != after.accessed_at, json!(after.accessed_at)),
        ("access_count", before.access_count != after.access_count, json!(after.access_count)),
        ("tags", before.tags != after.tags, json!(after.tags)),
        ("importance", before.importance != after.importance, json!(after.importance)),
        ("archived", before.archived != after.archived, json!(after.archived)),
    ];
    fields.into_iter().filter(|(_, differs, _)| *differs).map(|(name, _, v)| (name, v)).collect()
}

/// The text of a file without memories.
pub(in crate::toolsets::records) fn empty_document(
    created_at: Timestamp,
    updated_at: Timestamp,
) -> String {
    let arrays = Kind::ALL.map(|kind| format!("  \"{}\": [],\n", kind.array()));
    format!("{{\n{}{}", arrays.concat(), metadata(created_at, updated_at))
}

/// The member `metadata` of a file and the end of the file's text.
fn metadata(created_at: Timestamp, updated_at: Timestamp) -> String {
    let metadata = json!({ "created_at": created_at, "updated_at": updated_at });
    format!("  \"metadata\": {}\n}}", indented(&metadata, 1))
}

fn array_text(items: &[&str]) -> String {
    match items {
        [] => "[]".to_owned(),
        items => format!("[\n    {}\n  ]", items.join(",\n    ")),
    }
}
