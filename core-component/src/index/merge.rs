//! Merging segments, so that a collection has few of them.

use std::collections::BTreeMap;

use super::database::{Contents, Stored, add, delete_segments, each_posting};
use super::postings::Postings;
use super::segment::Segment;
use super::tables::DATABASE;
use crate::sql::{is_in_integers, json};
use crate::storage::Error;
use crate::storage::database::{Connection, Transaction};

/// When a size class has this many segments, they are merged into one. The segments of a class are
/// `SIZE` times as large as those of the class below.
const MAX_OF_SIZE: usize = 8;
const SIZE: u64 = 8;
/// Segments with less work than this are the smallest size class. Work is counted in bytes of English
/// text.
const SMALLEST: u64 = 64 << 10;
/// A segment of this much work or more is not merged with others, so that a merge takes a bounded time.
const MOST: u64 = 4 << 20;

/// Merges the segments of each size class that has too many. A segment whose documents are mostly gone
/// is written anew without these documents.
pub(super) fn merge(
    connection: &dyn Connection,
    version: i64,
    collection: &str,
    segments: Vec<Stored>,
) -> Result<(), Error> {
    if groups(segments).is_empty() {
        return Ok(());
    }
    DATABASE.change(connection, version, |transaction| {
        // Another search may have changed the segments since they were read.
        let Contents { segments, .. } = Contents::read(transaction, collection)?;
        for group in groups(segments) {
            join(transaction, collection, group)?;
        }
        Ok(())
    })
}

/// The groups of segments to merge: each group becomes one segment.
fn groups(segments: Vec<Stored>) -> Vec<Vec<Stored>> {
    let mut groups = Vec::new();
    let mut of_size: BTreeMap<u64, Vec<Stored>> = BTreeMap::new();
    for stored in segments {
        match size_of(stored.work_left()) {
            _ if is_mostly_gone(&stored) => groups.push(vec![stored]),
            Some(size) => of_size.entry(size).or_default().push(stored),
            None => {}
        }
    }
    groups.extend(of_size.into_values().filter(|segments| segments.len() >= MAX_OF_SIZE));
    groups
}

fn is_mostly_gone(stored: &Stored) -> bool {
    stored.gone.len() * 2 > stored.segment.documents.len()
        || stored.parts_gone() * 2 > u64::from(stored.segment.parts())
}

/// The size class of a segment. `None` if the segment is too large to be merged with others.
fn size_of(work: u64) -> Option<u64> {
    (work < MOST).then(|| (work / SMALLEST).checked_ilog(SIZE).map_or(0, |log| 1 + u64::from(log)))
}

/// Replaces segments by one segment, without the documents that are gone.
fn join(
    transaction: &dyn Transaction,
    collection: &str,
    segments: Vec<Stored>,
) -> Result<(), Error> {
    let mut joined = Segment::default();
    let mut work = 0;
    let mut postings: BTreeMap<i64, Postings> = BTreeMap::new();
    for stored in &segments {
        work += stored.work_left();
        let Stored { number, segment, gone, .. } = stored;
        // For each part of this segment, its index in the joined segment. `None` if its document is
        // gone.
        let mut moved: Vec<Option<u32>> = vec![None; segment.parts() as usize];
        for (at, row) in segment.documents.iter().enumerate().filter(|(at, _)| !gone.contains(at)) {
            joined.begin(row.key, row.stamp, row.version, row.facts);
            for entry in segment.entries(at) {
                let first = joined.parts();
                for part in 0..entry.lengths.len() as u32 {
                    moved[(entry.first_part + part) as usize] = Some(first + part);
                }
                joined.add_entry(entry.lengths, entry.begins_run);
            }
        }
        each_posting(transaction, *number, |stem, bytes| {
            let mut is_inside = true;
            Postings::each(bytes, |part, count| match moved.get(part as usize) {
                Some(Some(part)) => postings.entry(stem).or_default().push(*part, count),
                Some(None) => {}
                None => is_inside = false,
            })?;
            is_inside.then_some(())
        })?;
    }
    let numbers: Vec<i64> = segments.iter().map(|stored| stored.number).collect();
    let are_joined = is_in_integers(transaction.dialect(), "segment", "?1");
    delete_segments(transaction, &are_joined, &json(&numbers))?;
    if !joined.documents.is_empty() {
        let postings = postings.iter().map(|(stem, postings)| (*stem, &postings.bytes[..]));
        add(transaction, collection, joined, work, postings)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::index::facts::Facts;

    /// A long document of 4 parts and a note of one.
    fn stored(gone: &[usize]) -> Stored {
        let mut segment = Segment::default();
        for (key, lengths) in [(1, &[100_u8; 4][..]), (2, &[5])] {
            segment.begin(key, 0, 0, Facts::default());
            segment.add_entry(lengths, true);
        }
        Stored { number: 1, work: MOST, segment, gone: BTreeSet::from_iter(gone.iter().copied()) }
    }

    #[test]
    fn a_long_document_that_is_gone_leaves_little_work() {
        assert_eq!(
            [&[][..], &[0], &[1]].map(|gone| stored(gone).work_left()),
            [MOST, MOST / 5, MOST * 4 / 5,]
        );
        assert_eq!(
            [&[][..], &[0], &[1]].map(|gone| is_mostly_gone(&stored(gone))),
            [false, true, false]
        );
        let grouped = |gone: &[usize], count| {
            groups((0..count).map(|_| stored(gone)).collect())
                .iter()
                .map(Vec::len)
                .collect::<Vec<_>>()
        };
        assert_eq!(grouped(&[], MAX_OF_SIZE), [0; 0], "each is too large to be merged");
        assert_eq!(grouped(&[1], MAX_OF_SIZE), [MAX_OF_SIZE]);
        assert_eq!(grouped(&[1], MAX_OF_SIZE - 1), [0; 0]);
        assert_eq!(grouped(&[0], 2), [1, 1], "each is written anew by itself");
    }
}
