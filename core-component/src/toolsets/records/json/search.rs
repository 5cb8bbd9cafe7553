//! The records of a file, as entries of a search.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use super::file::{JsonFile, Places, RecordIndex};
use super::record::{Record, RecordError};
use crate::index::RowIndex;
use crate::rows::{Row, Sum, Table, add_rows, read_rows};
use crate::source::{Collector, ReadDocuments};
use crate::toolsets::records::entries::{Search, facts};
use crate::toolsets::records::error::Error;
use crate::toolsets::records::memory::Memory;
use crate::toolsets::records::store::View;

/// The members that an access changes. The index does not have them.
const OF_ACCESS: [&str; 2] = ["accessed_at", "access_count"];

/// The version of every record in the index. It is constant: a record whose text changes has
/// another key.
const VERSION: i64 = 0;

/// The records of a file. The key of a record in the index is a hash of the record's text.
pub(super) struct Records<'a> {
    file: &'a JsonFile,
    search: &'a Search<'a>,
    places: &'a Places,
}

impl<'a> Records<'a> {
    /// `None` if a record is visibly damaged or has no id, or if two records have the same id. Then
    /// the file is searched without the index.
    pub fn new(file: &'a JsonFile, search: &'a Search<'a>) -> Option<Self> {
        let places = file.places.get_or_init(|| places(file)).as_ref()?;
        Some(Self { file, search, places })
    }

    /// Adds the records as entries of the owner that was last passed to `collector.begin`. If the
    /// budget of the search is used up, adds only the newest records and reports the others as
    /// skipped.
    ///
    /// # Errors
    ///
    /// If a record cannot be read. Then no record was added.
    pub fn add_to(
        &self,
        index: &mut RowIndex<'_>,
        collector: &mut Collector<'_>,
    ) -> Result<(), RecordError> {
        let skipped = add_rows(self, index, collector)?;
        collector.skip_some(self.search.owner(), skipped, "memory", "memories");
        Ok(())
    }

    fn memory(&self, key: i64) -> Result<Memory, RecordError> {
        let no_record = || RecordError { at: 0, message: "no record".to_owned() };
        let (_, index) = self.places.get(&key).ok_or_else(no_record)?;
        self.file.record(*index).memory(&self.file.text, index.0)
    }

    fn created_at(&self, key: i64) -> Option<&str> {
        let (_, index) = self.places.get(&key)?;
        let text = &self.file.text;
        let member = self.file.record(*index).member(text, "created_at")?;
        Some(&text[member.value.clone()])
    }
}

impl Table for Records<'_> {
    type Error = RecordError;

    const NUMBER: u8 = 0;

    /// No sum is needed: a record whose text changes gets another key, so the keys alone show all
    /// changes.
    fn sum(&self, _last: i64) -> Result<Option<Sum>, RecordError> {
        Ok(None)
    }

    fn stamps(&self, after: i64) -> Result<Vec<(i64, i64)>, RecordError> {
        Ok(self.places.keys().filter(|key| **key > after).map(|key| (*key, 0)).collect())
    }

    fn position(&self, key: i64) -> i64 {
        self.places.get(&key).map_or(i64::MAX, |(position, _)| *position as i64)
    }

    fn newest_first(&self, mut keys: Vec<i64>) -> Vec<i64> {
        keys.sort_by_cached_key(|key| (Reverse(self.created_at(*key)), self.position(*key)));
        keys
    }

    fn each(
        &self,
        keys: &[i64],
        read: &mut dyn FnMut(i64, Row) -> bool,
    ) -> Result<(), RecordError> {
        for key in keys {
            let memory = self.memory(*key)?;
            let facts = facts(&memory);
            let entry = self.search.entry(memory);
            if !read(*key, Row { entry, facts, stamp: 0, version: VERSION }) {
                break;
            }
        }
        Ok(())
    }
}

impl View for JsonFile {
    fn add_to(
        &self,
        search: &Search<'_>,
        index: &mut RowIndex<'_>,
        collector: &mut Collector<'_>,
    ) -> Result<(), Error> {
        let by_index = Records::new(self, search).map(|records| records.add_to(index, collector));
        match by_index {
            Some(Ok(())) => drop(self.unreadable.get_or_init(Vec::new)),
            // Reads all records without the index, so that a warning names the damaged ones.
            Some(Err(_)) | None => search.add_all(self.memories(), collector),
        }
        Ok(())
    }

    fn read_rows(&self, search: &Search<'_>, keys: &[i64]) -> Result<ReadDocuments, Error> {
        // A file with a damaged record is searched without the index. Then no hit has to be read
        // here.
        let records = Records::new(self, search);
        Ok(records.and_then(|records| read_rows(&records, keys).ok()).unwrap_or_default())
    }
}

/// `None` if a record is visibly damaged or has no id, or if two records have the same id.
fn places(file: &JsonFile) -> Option<Places> {
    let mut places = BTreeMap::new();
    let mut ids = BTreeSet::new();
    for (position, (index, record)) in file.records().enumerate() {
        let is_new = ids.insert(record.id(&file.text)?);
        if record.flaw.is_some() || !is_new || !record.has_readable_access(&file.text) {
            return None;
        }
        places.insert(key(record, index, &file.text), (position, index));
    }
    Some(places)
}

/// The key of a record in the index.
pub(super) fn key_of(file: &JsonFile, index: RecordIndex) -> i64 {
    key(file.record(index), index, &file.text)
}

/// A hash of the parts of a record that the index uses. If a later version of the standard library
/// has another hash, all records are indexed anew.
fn key(record: &Record, (kind, _): RecordIndex, text: &str) -> i64 {
    let mut hasher = DefaultHasher::new();
    (kind as u8).hash(&mut hasher);
    for member in &record.members {
        let name = text[member.key.clone()].trim_matches('"');
        if !OF_ACCESS.contains(&name) {
            name.hash(&mut hasher);
            text[member.value.clone()].hash(&mut hasher);
        }
    }
    hasher.finish().cast_signed()
}
