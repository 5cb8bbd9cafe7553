//! An agent's file: reading it, and finding one's way in it.

use std::cell::{Cell, OnceCell};
use std::collections::BTreeMap;
use std::ops::Range;
use std::string::FromUtf8Error;

use super::record::Record;
use super::scan::{Flaw, Member, Scanner, unquoted};
use super::write::record_text;
use crate::records::agent::file_path;
use crate::records::error::{Code, Error};
use crate::records::memory::{Kind, Memory};
use crate::records::query::{Page, Query};
use crate::records::stats::Stats;
use crate::records::store::{Imported, Reader};
use crate::storage::{Area, Document, MAX_DOCUMENT_BYTES, Tree};
use crate::text::line_of;
use crate::time::Timestamp;

/// An agent's file, passed over: every record is known by its place, none is a value yet.
pub(in crate::records) struct JsonFile {
    pub agent: String,
    pub text: String,
    /// None where there is no file.
    pub version: Option<String>,
    pub(super) members: Vec<Member>,
    arrays: [Option<Array>; 3],
    pub(super) metadata: Option<Vec<Member>>,
    /// Where each id first stands, and where again: made for whoever looks for a second one.
    places: OnceCell<BTreeMap<String, (Place, Option<Place>)>>,
    is_searched: Cell<bool>,
}

/// The array of one type.
pub(super) struct Array {
    pub range: Range<usize>,
    pub records: Vec<Record>,
}

/// Which record: its type, and its index in the array.
pub(super) type Place = (Kind, usize);

impl JsonFile {
    /// None where there is no file.
    ///
    /// # Errors
    ///
    /// `CORRUPTED_DATA` where it is not the JSON that it should be.
    pub fn read(tree: &dyn Tree, agent: &str) -> Result<Option<Self>, Error> {
        let document = tree.read(Area::Documents, &file_path(agent), MAX_DOCUMENT_BYTES)?;
        document.map(|document| Self::parse(agent, document)).transpose()
    }

    /// As `read`, of a document that was read.
    pub fn parse(agent: &str, document: Document) -> Result<Self, Error> {
        let text = utf8(document.contents).map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            let before = String::from_utf8_lossy(&error.as_bytes()[..at]).into_owned();
            corrupted(agent, &before, at, "not UTF-8")
        })?;
        let mut file = Self { version: Some(document.version), ..Self::of(agent, text) };
        file.scan().map_err(|flaw| file.corrupted(flaw.at, flaw.what))?;
        Ok(file)
    }

    /// An agent without a file.
    pub fn empty(agent: &str) -> Self {
        Self::of(agent, String::new())
    }

    pub(super) fn of(agent: &str, text: String) -> Self {
        Self {
            agent: agent.to_owned(),
            text,
            version: None,
            members: Vec::new(),
            arrays: [None, None, None],
            metadata: None,
            places: OnceCell::new(),
            is_searched: Cell::new(false),
        }
    }

    pub(super) fn scan(&mut self) -> Result<(), Flaw> {
        let mut arrays = [None, None, None];
        let mut metadata = None;
        let mut scanner = Scanner::of(&self.text);
        scanner.white_space();
        self.members = scanner.object(|scanner, key| {
            let start = scanner.position();
            let key = unquoted(&self.text, key);
            if let Some(kind) = Kind::ALL.into_iter().find(|kind| kind.array() == key) {
                let mut records = Vec::new();
                scanner.array(|scanner| {
                    let start = scanner.position();
                    let members = scanner.object(|scanner, _| scanner.value())?;
                    records.push(Record { range: start..scanner.position(), members });
                    Ok(())
                })?;
                arrays[kind as usize] = Some(Array { range: start..scanner.position(), records });
                Ok(())
            } else if key == "metadata" && scanner.peek() == Some(b'{') {
                metadata = Some(scanner.object(|scanner, _| scanner.value())?);
                Ok(())
            } else {
                scanner.value()
            }
        })?;
        scanner.end()?;
        (self.arrays, self.metadata) = (arrays, metadata);
        Ok(())
    }

    pub(super) fn array(&self, kind: Kind) -> Option<&Array> {
        self.arrays[kind as usize].as_ref()
    }

    /// Whether it has one of the arrays.
    pub(super) fn has_arrays(&self) -> bool {
        self.arrays.iter().any(Option::is_some)
    }

    /// All records, in the order of the types and then of the file.
    pub(super) fn records(&self) -> impl Iterator<Item = (Place, &Record)> {
        Kind::ALL.into_iter().flat_map(|kind| {
            let records = self.array(kind).map_or(&[][..], |array| &array.records);
            records.iter().enumerate().map(move |(index, record)| ((kind, index), record))
        })
    }

    pub(super) fn record(&self, (kind, index): Place) -> &Record {
        &self.array(kind).expect("a place of this file").records[index]
    }

    /// The place of the record with that id.
    ///
    /// # Errors
    ///
    /// `CORRUPTED_DATA` where two have it: a change of one could be taken for one of the other.
    pub(super) fn place_of(&self, id: &str) -> Result<Option<Place>, Error> {
        if self.is_searched.replace(true) {
            return self.place_in_index(id);
        }
        let has_id = |record: &Record| record.id(&self.text).is_some_and(|known| known == id);
        let mut places = self.records().filter(|(_, record)| has_id(record));
        let place = places.next().map(|(place, _)| place);
        match places.next() {
            None => Ok(place),
            Some((_, second)) => {
                Err(self.corrupted(second.range.start, "an `id` that another memory has, too"))
            }
        }
    }

    fn place_in_index(&self, id: &str) -> Result<Option<Place>, Error> {
        let places = self.places.get_or_init(|| {
            let mut places: BTreeMap<String, (Place, Option<Place>)> = BTreeMap::new();
            for (place, record) in self.records() {
                let Some(id) = record.id(&self.text) else { continue };
                let again = places.entry(id.into_owned()).or_insert((place, None));
                if again.0 != place {
                    again.1.get_or_insert(place);
                }
            }
            places
        });
        match places.get(id) {
            None => Ok(None),
            Some((place, None)) => Ok(Some(*place)),
            Some((_, Some(second))) => {
                let at = self.record(*second).range.start;
                Err(self.corrupted(at, "an `id` that another memory has, too"))
            }
        }
    }

    /// Whether another file has the same records, byte for byte and in the same order.
    pub fn has_same_records(&self, other: &Self) -> bool {
        let own = self.records().map(|(_, record)| &self.text[record.range.clone()]);
        own.eq(other.records().map(|(_, record)| &other.text[record.range.clone()]))
    }

    /// How many records it has.
    pub fn len(&self) -> usize {
        Kind::ALL.into_iter().filter_map(|kind| self.array(kind)).map(|of| of.records.len()).sum()
    }

    /// The records after so many others, each with all that it says.
    pub fn imported_after(&self, start: usize) -> impl Iterator<Item = Result<Imported, Error>> {
        self.records().skip(start).map(|(place, _)| self.imported(place))
    }

    fn imported(&self, place: Place) -> Result<Imported, Error> {
        let memory = self.memory(place)?;
        self.place_of(&memory.id)?;
        let text = &self.text[self.record(place).range.clone()];
        let says_all = memory.fits_columns() && record_text(&memory) == text;
        Ok(Imported { original: (!says_all).then(|| text.to_owned()), memory })
    }

    pub(super) fn memory(&self, place: Place) -> Result<Memory, Error> {
        let memory = self.record(place).memory(&self.text, place.0);
        memory.map_err(|misfit| self.corrupted(misfit.at, &misfit.what))
    }

    pub fn memories(&self) -> Result<Vec<Memory>, Error> {
        self.records().map(|(place, _)| self.memory(place)).collect()
    }

    /// Whether all records can be read, and none has the id of another.
    pub fn is_sound(&self) -> bool {
        let is_sound = |memory: Memory| self.place_of(&memory.id).is_ok();
        self.records().all(|(place, _)| self.memory(place).is_ok_and(is_sound))
    }

    pub fn corrupted(&self, at: usize, what: &str) -> Error {
        corrupted(&self.agent, &self.text, at, what)
    }
}

/// As `String::from_utf8`, with which an add to a file of 10,000 records that is not in ASCII takes
/// 1.3 times the processor time.
fn utf8(contents: Vec<u8>) -> Result<String, FromUtf8Error> {
    match simdutf8::basic::from_utf8(&contents) {
        // SAFETY: it is UTF-8.
        Ok(_) => Ok(unsafe { String::from_utf8_unchecked(contents) }),
        Err(_) => String::from_utf8(contents),
    }
}

fn corrupted(agent: &str, text: &str, at: usize, what: &str) -> Error {
    let file = file_path(agent);
    let at = at.min(text.len());
    let line = line_of(text, at);
    let column =
        1 + at - text.as_bytes()[..at].iter().rposition(|b| *b == b'\n').map_or(0, |n| n + 1);
    let message =
        format!("`{file}` line {line} column {column}: {what}; it was left as it is: mend it");
    Error::new(Code::CorruptedData, message)
}

/// Those of these memories that nobody has accessed or changed since a moment.
pub(super) fn unused(
    memories: Vec<Memory>,
    since: Timestamp,
    kind: Option<Kind>,
    most: u32,
) -> Vec<Memory> {
    let is_unused = |memory: &Memory| {
        !memory.archived
            && memory.accessed_at < since
            && memory.updated_at < since
            && kind.is_none_or(|kind| kind == memory.kind)
    };
    memories.into_iter().filter(is_unused).take(most as usize).collect()
}

impl Reader for JsonFile {
    fn find(&self, id: &str) -> Result<Option<Memory>, Error> {
        self.place_of(id)?.map(|place| self.memory(place)).transpose()
    }

    fn has(&self, id: &str) -> Result<bool, Error> {
        Ok(self.place_of(id)?.is_some())
    }

    fn query(&self, query: &Query) -> Result<Page, Error> {
        Ok(query.page(self.memories()?))
    }

    fn stats(&self) -> Result<Stats, Error> {
        Ok(Stats::of(&self.memories()?))
    }

    fn unused(
        &self,
        since: Timestamp,
        kind: Option<Kind>,
        most: u32,
    ) -> Result<Vec<Memory>, Error> {
        Ok(unused(self.memories()?, since, kind, most))
    }
}
