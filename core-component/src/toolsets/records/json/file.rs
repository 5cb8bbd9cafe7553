//! An agent's file: reading it and finding records in it.

use std::cell::{Cell, OnceCell};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::layout::{record_text, without_byte_order_mark};
use super::path::file_path;
use super::record::{Record, RecordError};
use super::scan::{Flaw, Member, Scanner, unquoted};
use crate::storage::{Area, Document, MAX_DOCUMENT_BYTES, Tree};
use crate::text::line_of;
use crate::time::Timestamp;
use crate::toolsets::records::error::{Code, Error};
use crate::toolsets::records::memory::{Kind, Memory};
use crate::toolsets::records::query::{Page, Query};
use crate::toolsets::records::stats::Stats;
use crate::toolsets::records::store::{Imported, Newest, Reader, WithAnyTerm};

/// An agent's file after the scan: the positions of all records are known, their values are not
/// read.
pub(in crate::toolsets::records) struct JsonFile {
    pub agent: String,
    /// The text of the file. A `?` stands for each byte that is not UTF-8, so that offsets in the
    /// text are offsets in the file.
    pub text: String,
    /// The version of the file. `None` if the text is not from a file.
    pub version: Option<String>,
    /// The offsets of the bytes that are not UTF-8, in ascending order.
    pub(super) not_utf8: Vec<usize>,
    pub(super) members: Vec<Member>,
    arrays: [Option<Array>; 3],
    /// The unknown keys whose values are arrays of objects. They may be misspelt keys of the three
    /// arrays.
    pub(super) other_arrays: Vec<String>,
    pub(super) metadata: Option<Vec<Member>>,
    /// For each id, the first and the second record with this id. Built at the second search for an
    /// id: for a single search, looking at every record is faster.
    id_index: OnceCell<BTreeMap<String, (RecordIndex, Option<RecordIndex>)>>,
    was_searched: Cell<bool>,
    /// The records that cannot be read. Set once all records were read.
    pub(super) unreadable: OnceCell<Vec<Unreadable>>,
    /// The places of the records by their keys in the index. `None` if the file is searched without it.
    pub(super) places: OnceCell<Option<Places>>,
}

/// The array of the records of one type.
pub(super) struct Array {
    pub range: Range<usize>,
    /// The records of the array. If the value is not an array, there is one record, which cannot be
    /// read.
    pub records: Vec<Record>,
    pub is_array: bool,
}

/// A record's type, and its index in the array of that type.
pub(super) type RecordIndex = (Kind, usize);

/// For the key of each record in the index, its position among all records, and its index in the file.
pub(super) type Places = BTreeMap<i64, (usize, RecordIndex)>;

/// A record that cannot be read, and why.
pub(super) type Unreadable = (RecordIndex, RecordError);

/// The error of a record with a byte that is not UTF-8.
const NOT_UTF8: &str = "not UTF-8";

/// The error of a record whose id an earlier record has.
const DUPLICATE_ID: &str = "an `id` that another memory has, too";

impl JsonFile {
    /// Reads an agent's file. Returns `None` if there is no file.
    ///
    /// # Errors
    ///
    /// `CORRUPTED_DATA` if the file is not JSON, or is not an object.
    pub fn read(tree: &dyn Tree, agent: &str) -> Result<Option<Self>, Error> {
        let document = tree.read(Area::Documents, &file_path(agent), MAX_DOCUMENT_BYTES)?;
        document.map(|document| Self::parse(agent, document)).transpose()
    }

    /// Like [`read`](Self::read), for a document that was read already.
    pub fn parse(agent: &str, document: Document) -> Result<Self, Error> {
        let (text, not_utf8) = decoded(document.contents);
        let version = Some(document.version);
        let mut file = Self { version, not_utf8, ..Self::unscanned(agent, text) };
        file.scan().map_err(|flaw| {
            let is_utf8 = file.not_utf8.binary_search(&flaw.at).is_err();
            file.corrupted(flaw.at, if is_utf8 { flaw.what } else { NOT_UTF8 })
        })?;
        Ok(file)
    }

    /// A file without any text, for an agent that has no file.
    pub fn empty(agent: &str) -> Self {
        Self::unscanned(agent, String::new())
    }

    pub(super) fn unscanned(agent: &str, text: String) -> Self {
        Self {
            agent: agent.to_owned(),
            text,
            version: None,
            not_utf8: Vec::new(),
            members: Vec::new(),
            arrays: [None, None, None],
            other_arrays: Vec::new(),
            metadata: None,
            id_index: OnceCell::new(),
            was_searched: Cell::new(false),
            unreadable: OnceCell::new(),
            places: OnceCell::new(),
        }
    }

    /// Finds the arrays, the records and the metadata in the text.
    pub(super) fn scan(&mut self) -> Result<(), Flaw> {
        let mut arrays = [None, None, None];
        let mut metadata = None;
        let mut other_arrays = Vec::new();
        let mut scanner = Scanner::new(&self.text);
        scanner.begin();
        self.members = scanner.object(|scanner, key| {
            let key = unquoted(&self.text, key);
            if let Some(kind) = Kind::ALL.into_iter().find(|kind| kind.array() == key) {
                arrays[kind as usize] = Some(self.scan_array(scanner)?);
                Ok(())
            } else if key == "metadata" && scanner.peek() == Some(b'{') {
                metadata = Some(scanner.object(|scanner, _| scanner.value())?);
                Ok(())
            } else {
                let start = scanner.position();
                scanner.value()?;
                if is_array_of_objects(&self.text[start..scanner.position()]) {
                    other_arrays.push(key.into_owned());
                }
                Ok(())
            }
        })?;
        scanner.end()?;
        (self.arrays, self.metadata) = (arrays, metadata);
        self.other_arrays = other_arrays;
        Ok(())
    }

    /// Scans the value of the array of a type. `null` counts as an empty array.
    fn scan_array(&self, scanner: &mut Scanner<'_>) -> Result<Array, Flaw> {
        let start = scanner.position();
        let is_array = matches!(scanner.peek(), Some(b'[' | b'n'));
        let mut records = Vec::new();
        match scanner.peek() {
            Some(b'n') => scanner.value()?,
            Some(b'[') => scanner.array(|scanner| {
                records.push(self.with_not_utf8(Record::scan(scanner)?));
                Ok(())
            })?,
            _ => records.push(Record::scan_other(scanner)?),
        }
        Ok(Array { range: start..scanner.position(), records, is_array })
    }

    /// If a byte of the record is not UTF-8, marks the record as one that cannot be read.
    fn with_not_utf8(&self, mut record: Record) -> Record {
        let next = self.not_utf8.partition_point(|at| *at < record.range.start);
        if let Some(&at) = self.not_utf8.get(next).filter(|at| record.range.contains(at)) {
            record.flaw = Some(RecordError { at, message: NOT_UTF8.to_owned() });
        }
        record
    }

    /// The length of the file's byte order mark in bytes, 0 if the file has none. Changes keep the
    /// mark.
    pub(super) fn start(&self) -> usize {
        self.text.len() - self.json().len()
    }

    /// The text without a byte order mark.
    pub fn json(&self) -> &str {
        without_byte_order_mark(&self.text)
    }

    pub(super) fn array(&self, kind: Kind) -> Option<&Array> {
        self.arrays[kind as usize].as_ref()
    }

    /// Whether the file has at least one of the three arrays.
    pub(super) fn has_arrays(&self) -> bool {
        self.arrays.iter().any(Option::is_some)
    }

    /// All records, sorted by type. Records of one type are in the order of the file.
    pub(super) fn records(&self) -> impl Iterator<Item = (RecordIndex, &Record)> {
        Kind::ALL.into_iter().flat_map(|kind| {
            let records = self.array(kind).map_or(&[][..], |array| &array.records);
            records.iter().enumerate().map(move |(index, record)| ((kind, index), record))
        })
    }

    pub(super) fn record(&self, (kind, index): RecordIndex) -> &Record {
        &self.array(kind).expect("an index of this file").records[index]
    }

    /// The index of the record with this id.
    ///
    /// # Errors
    ///
    /// `CORRUPTED_DATA` if two records have the id: a change could reach the wrong one.
    pub(super) fn index_of(&self, id: &str) -> Result<Option<RecordIndex>, Error> {
        match self.with_id(id) {
            (first, None) => Ok(first),
            (_, Some(second)) => Err(self.corrupted_record(second, &self.duplicate(second))),
        }
    }

    /// The index of the record from which a memory with this id was read: the first record with the
    /// id that can be read.
    pub(super) fn index_of_read(&self, id: &str) -> RecordIndex {
        let index = match self.with_id(id) {
            (first, None) => first,
            (_, Some(_)) => {
                let is_read = |(index, record): &(RecordIndex, &Record)| {
                    self.is_id_of(record, id) && self.memory(*index).is_ok()
                };
                self.records().find(is_read).map(|(index, _)| index)
            }
        };
        index.expect("read in this change")
    }

    fn is_id_of(&self, record: &Record, id: &str) -> bool {
        record.id(&self.text).is_some_and(|other| other == id)
    }

    /// The first and the second record with this id.
    fn with_id(&self, id: &str) -> (Option<RecordIndex>, Option<RecordIndex>) {
        if self.was_searched.replace(true) {
            return self.find_in_index(id);
        }
        let found = self.records().filter(|(_, record)| self.is_id_of(record, id));
        let mut found = found.map(|(index, _)| index);
        (found.next(), found.next())
    }

    fn find_in_index(&self, id: &str) -> (Option<RecordIndex>, Option<RecordIndex>) {
        let id_index = self.id_index.get_or_init(|| {
            let mut id_index: BTreeMap<String, (RecordIndex, Option<RecordIndex>)> =
                BTreeMap::new();
            for (index, record) in self.records() {
                let Some(id) = record.id(&self.text) else { continue };
                let (first, second) = id_index.entry(id.into_owned()).or_insert((index, None));
                if *first != index {
                    second.get_or_insert(index);
                }
            }
            id_index
        });
        id_index.get(id).map_or((None, None), |(first, second)| (Some(*first), *second))
    }

    /// Fails if a byte of the file is not UTF-8: an export of the whole text would lose that byte.
    pub fn check_utf8(&self) -> Result<(), Error> {
        self.not_utf8.first().map_or(Ok(()), |at| Err(self.corrupted(*at, NOT_UTF8)))
    }

    /// Whether another file has the same records, byte for byte and in the same order.
    pub fn has_same_records(&self, other: &Self) -> bool {
        if !(self.not_utf8.is_empty() && other.not_utf8.is_empty()) {
            return false;
        }
        let own = self.records().map(|(_, record)| &self.text[record.range.clone()]);
        own.eq(other.records().map(|(_, record)| &other.text[record.range.clone()]))
    }

    /// The number of records.
    pub fn len(&self) -> usize {
        Kind::ALL.into_iter().filter_map(|kind| self.array(kind)).map(|of| of.records.len()).sum()
    }

    /// All records, to be converted to rows.
    ///
    /// # Errors
    ///
    /// `CORRUPTED_DATA` for a record that cannot be read.
    pub fn imported(&self) -> impl Iterator<Item = Result<Imported, Error>> {
        self.records().map(|(index, _)| {
            let memory = self.memory(index)?;
            self.index_of(&memory.id)?;
            Ok(self.imported_record(index, memory))
        })
    }

    /// The records that can be read, in the form of [`imported`](Self::imported).
    pub fn readable_imported(&self) -> impl Iterator<Item = Imported> {
        let readable = self.readable().into_iter();
        readable.map(|(index, memory)| self.imported_record(index, memory))
    }

    fn imported_record(&self, index: RecordIndex, memory: Memory) -> Imported {
        let text = &self.text[self.record(index).range.clone()];
        let is_complete = memory.fits_columns() && record_text(&memory) == text;
        Imported { original: (!is_complete).then(|| text.to_owned()), memory }
    }

    pub(super) fn memory(&self, index: RecordIndex) -> Result<Memory, Error> {
        self.read_record(index).map_err(|error| self.corrupted_record(index, &error))
    }

    fn read_record(&self, index: RecordIndex) -> Result<Memory, RecordError> {
        self.record(index).memory(&self.text, index.0)
    }

    /// The records that can be read. Of several records with the same id, only the first that can
    /// be read.
    pub(super) fn readable(&self) -> Vec<(RecordIndex, Memory)> {
        let mut readable = Vec::new();
        let mut unreadable = Vec::new();
        let mut ids = BTreeSet::new();
        for (index, record) in self.records() {
            match self.read_record(index) {
                Ok(memory) if ids.insert(record.id(&self.text)) => readable.push((index, memory)),
                Ok(_) => unreadable.push((index, self.duplicate(index))),
                Err(error) => unreadable.push((index, error)),
            }
        }
        self.unreadable.get_or_init(|| unreadable);
        readable
    }

    fn duplicate(&self, index: RecordIndex) -> RecordError {
        RecordError { at: self.record(index).range.start, message: DUPLICATE_ID.to_owned() }
    }

    pub(super) fn memories(&self) -> Vec<Memory> {
        self.readable().into_iter().map(|(_, memory)| memory).collect()
    }

    pub(super) fn unreadable_records(&self) -> &[Unreadable] {
        if self.unreadable.get().is_none() {
            self.readable();
        }
        self.unreadable.get().map_or(&[], Vec::as_slice)
    }

    /// Whether all records can be read and all ids differ.
    pub fn is_valid(&self) -> bool {
        self.unreadable_records().is_empty()
    }

    pub fn corrupted(&self, at: usize, message: &str) -> Error {
        corrupted(&self.agent, &self.text, at, message)
    }

    /// The line and the column of an offset in the text, both from 1. The column counts bytes.
    pub(super) fn place(&self, at: usize) -> (usize, usize) {
        place(&self.text, at)
    }
}

/// Decodes the contents of a file. Returns the text, with a `?` for each byte that is not UTF-8,
/// and the offsets of these bytes.
///
/// With `String::from_utf8` instead of `simdutf8`, adding a memory to a file of 10,000 records that
/// is not ASCII takes 1.3 times the processor time.
fn decoded(contents: Vec<u8>) -> (String, Vec<usize>) {
    if simdutf8::basic::from_utf8(&contents).is_ok() {
        // SAFETY: `simdutf8` has just found that the bytes are UTF-8.
        return (unsafe { String::from_utf8_unchecked(contents) }, Vec::new());
    }
    let mut text = String::with_capacity(contents.len());
    let mut not_utf8 = Vec::new();
    for chunk in contents.utf8_chunks() {
        text += chunk.valid();
        for _ in chunk.invalid() {
            not_utf8.push(text.len());
            text.push('?');
        }
    }
    (text, not_utf8)
}

fn corrupted(agent: &str, text: &str, at: usize, message: &str) -> Error {
    let file = file_path(agent);
    let (line, column) = place(text, at);
    let message = format!(
        "`{file}` line {line} column {column}: {message}; the file was not changed: repair it"
    );
    Error::new(Code::CorruptedData, message)
}

fn place(text: &str, at: usize) -> (usize, usize) {
    let at = at.min(text.len());
    let start = text.as_bytes()[..at].iter().rposition(|b| *b == b'\n').map_or(0, |n| n + 1);
    (line_of(text, at), 1 + at - start)
}

/// See [`Reader::count_with_any_term`].
pub(super) fn with_any_term(mut memories: Vec<Memory>, query: &Query) -> WithAnyTerm {
    memories.retain(|memory| query.archived || !memory.archived);
    memories.sort_by(|a, b| b.created_at.cmp(&a.created_at).then_with(|| a.id.cmp(&b.id)));
    let newest = Newest::from_memories(memories.iter().map(|memory| (memory, memory.bytes())));
    let matching = newest.keys.iter().filter(|memory| query.matches_any_term(memory));
    let count = matching.take(query.limit as usize).count() as u32;
    WithAnyTerm { count, of_newest: newest.number() }
}

/// At most `limit` unarchived memories of this type, or of any type, whose last access and last
/// change were before `since`.
pub(super) fn unused(
    memories: Vec<Memory>,
    since: Timestamp,
    kind: Option<Kind>,
    limit: u32,
) -> Vec<Memory> {
    let is_unused = |memory: &Memory| {
        !memory.archived
            && memory.accessed_at < since
            && memory.updated_at < since
            && kind.is_none_or(|kind| kind == memory.kind)
    };
    memories.into_iter().filter(is_unused).take(limit as usize).collect()
}

/// Whether the JSON text of a value is an array whose first item is an object.
fn is_array_of_objects(text: &str) -> bool {
    let items = text.strip_prefix('[');
    items.is_some_and(|items| items.trim_start().starts_with('{'))
}

impl Reader for JsonFile {
    fn find(&self, id: &str) -> Result<Option<Memory>, Error> {
        self.index_of(id)?.map(|index| self.memory(index)).transpose()
    }

    fn has_id(&self, id: &str) -> Result<bool, Error> {
        Ok(self.index_of(id)?.is_some())
    }

    fn unreadable(&self) -> Option<String> {
        self.left_out_warning()
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
