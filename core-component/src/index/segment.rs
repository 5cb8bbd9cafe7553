//! A segment: documents that were indexed together, with the lengths of the parts of their entries.

use super::codes::{Codes, put, put_signed};
use super::facts::Facts;
use crate::ranking::Lengths;

/// The documents of a segment, with all of their entries and parts.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Segment {
    pub documents: Vec<Row>,
    entries: Vec<EntryRow>,
    /// The lengths of all parts, in the order of the documents and their entries.
    lengths: Lengths,
}

/// An indexed document.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Row {
    pub key: i64,
    pub stamp: i64,
    pub version: i64,
    pub facts: Facts,
    first_entry: u32,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct EntryRow {
    first_part: u32,
    begins_run: bool,
}

/// An entry of a document.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Entry<'s> {
    pub lengths: &'s [u8],
    /// The index of the entry's first part among all parts of the segment.
    pub first_part: u32,
    pub begins_run: bool,
}

impl Segment {
    /// Adds a document without entries. The next calls of [`add_entry`](Self::add_entry) add its
    /// entries.
    pub fn begin(&mut self, key: i64, stamp: i64, version: i64, facts: Facts) {
        let first_entry = self.entries.len() as u32;
        self.documents.push(Row { key, stamp, version, facts, first_entry });
    }

    /// Adds an entry to the document that was added last. `lengths` are the lengths of its parts.
    pub fn add_entry(&mut self, lengths: &[u8], begins_run: bool) {
        self.entries.push(EntryRow { first_part: self.parts(), begins_run });
        self.lengths.extend_from_slice(lengths);
    }

    /// The number of parts in the segment.
    pub fn parts(&self) -> u32 {
        self.lengths.len() as u32
    }

    /// The entries of a document.
    pub fn entries(&self, document: usize) -> impl Iterator<Item = Entry<'_>> {
        let end = self.documents.get(document + 1).map_or(self.entries.len(), Row::first_entry);
        (self.documents[document].first_entry()..end).map(|entry| {
            let EntryRow { first_part, begins_run } = self.entries[entry];
            let lengths = &self.lengths[first_part as usize..self.first_part(entry + 1)];
            Entry { lengths, first_part, begins_run }
        })
    }

    /// The indexes of the parts of a document.
    pub fn parts_of(&self, document: usize) -> std::ops::Range<u32> {
        let first = |document: usize| match self.documents.get(document) {
            Some(row) => self.first_part(row.first_entry()) as u32,
            None => self.parts(),
        };
        first(document)..first(document + 1)
    }

    fn first_part(&self, entry: usize) -> usize {
        self.entries.get(entry).map_or(self.lengths.len(), |entry| entry.first_part as usize)
    }

    /// The segment as bytes. For each document: the differences of its key and stamp to the key and
    /// stamp of the document before, the difference of its version to its stamp, its facts, and the
    /// number of its entries. For each entry: the number of its parts, and whether it begins a run of
    /// related entries. For each part: its length.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut key = 0_i64;
        let mut stamp = 0_i64;
        let mut moment = 0_i64;
        put(&mut bytes, self.documents.len() as u64);
        for (at, row) in self.documents.iter().enumerate() {
            put_signed(&mut bytes, row.key.wrapping_sub(key));
            put_signed(&mut bytes, row.stamp.wrapping_sub(stamp));
            put_signed(&mut bytes, row.version.wrapping_sub(row.stamp));
            (key, stamp) = (row.key, row.stamp);
            row.facts.put(&mut bytes, &mut moment);
            put(&mut bytes, self.entries(at).count() as u64);
            for entry in self.entries(at) {
                put(&mut bytes, (entry.lengths.len() as u64) << 1 | u64::from(entry.begins_run));
                bytes.extend_from_slice(entry.lengths);
            }
        }
        bytes
    }

    /// Reads a segment that [`encode`](Self::encode) wrote. `None` if the bytes have another form.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let mut segment = Self::default();
        let mut codes = Codes(bytes);
        let mut key = 0_i64;
        let mut stamp = 0_i64;
        let mut moment = 0_i64;
        for _ in 0..codes.small()? {
            key = key.wrapping_add(codes.signed()?);
            stamp = stamp.wrapping_add(codes.signed()?);
            let version = stamp.wrapping_add(codes.signed()?);
            segment.begin(key, stamp, version, Facts::read(&mut codes, &mut moment)?);
            for _ in 0..codes.small()? {
                let head = codes.small()?;
                let (lengths, rest) = codes.0.split_at_checked(head as usize >> 1)?;
                if lengths.is_empty() {
                    return None;
                }
                segment.add_entry(lengths, head & 1 == 1);
                codes.0 = rest;
            }
        }
        codes.is_empty().then_some(segment)
    }
}

impl Row {
    fn first_entry(&self) -> usize {
        self.first_entry as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment() -> Segment {
        let mut segment = Segment::default();
        segment.begin(i64::MIN, 7, i64::MAX, Facts { importance: 1, ..Facts::default() });
        segment.add_entry(&[64, 159, 0], true);
        segment.add_entry(&[3], false);
        segment.begin(5, i64::MAX, 9, Facts::default());
        segment.begin(6, 1, 1, Facts::default());
        segment.add_entry(&[5], true);
        segment
    }

    #[test]
    fn a_segment_is_read_as_it_was_written() {
        for segment in [Segment::default(), segment()] {
            assert_eq!(Segment::decode(&segment.encode()), Some(segment));
        }
    }

    #[test]
    fn a_document_has_its_entries_and_parts() {
        let segment = segment();
        let first: Vec<Entry<'_>> = segment.entries(0).collect();
        assert_eq!(first[0], Entry { lengths: &[64, 159, 0], first_part: 0, begins_run: true });
        assert_eq!(first[1], Entry { lengths: &[3], first_part: 3, begins_run: false });
        assert_eq!(segment.entries(1).count(), 0);
        let parts: Vec<_> = (0..3).map(|document| segment.parts_of(document)).collect();
        assert_eq!(parts, [0..4, 4..4, 4..5]);
    }

    #[test]
    fn other_bytes_are_no_segment() {
        let bytes = segment().encode();
        for end in 0..bytes.len() {
            assert_eq!(Segment::decode(&bytes[..end]), None, "{end}");
        }
        assert_eq!(Segment::decode(&[&bytes[..], &[0]].concat()), None);
    }
}
