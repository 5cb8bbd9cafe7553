//! The derived database of the index: reading and adding its segments and postings.

use std::collections::{BTreeMap, BTreeSet};

use super::codes::{Codes, put};
use super::postings::Postings;
use super::segment::Segment;
use super::tables::{DATABASE, other_version, version_of};
use crate::ranking::{Found, Language};
use crate::sql::{each_numbered, is_in_query, json, numbered_bytes, statement, text};
use crate::storage::database::{Statement, Transaction, Value};
use crate::storage::{Error, Place, Storage};

/// A segment as it is stored.
pub(super) struct Stored {
    pub number: i64,
    pub work: u64,
    pub segment: Segment,
    /// The indexes of the documents that were deleted, or were indexed again in a newer segment.
    pub gone: BTreeSet<usize>,
}

/// The segments of a collection at one moment, and where the terms of a query occur in them.
#[derive(Default)]
pub(super) struct Snapshot {
    pub segments: Vec<Stored>,
    /// For each segment, the terms of the query in its parts, ordered by part and then by term.
    pub found: Vec<Vec<Found>>,
}

impl Snapshot {
    /// Reads the segments of a collection, and the postings of a query. `terms` has the numbers of the
    /// stems of each term. Fails if the index has another version.
    pub fn read(
        storage: &dyn Storage,
        place: &Place,
        collection: &str,
        usual: Language,
        terms: &[Vec<i64>],
    ) -> Result<Self, Error> {
        let connection = DATABASE.open(storage, place, false)?;
        let stems: BTreeSet<i64> = terms.iter().flatten().copied().collect();
        let wanted = select_with_postings(collection, &stems);
        let contents = Contents::from_rows(connection.query(&wanted, u32::MAX)?.rows)?;
        if contents.version != Some(version_of(usual)) {
            return Err(other_version());
        }
        let Contents { segments, postings, .. } = contents;
        let at: BTreeMap<i64, usize> =
            segments.iter().enumerate().map(|(at, stored)| (stored.number, at)).collect();
        let mut terms_with: BTreeMap<i64, Vec<u32>> = BTreeMap::new();
        for (term, stems) in terms.iter().enumerate() {
            stems.iter().for_each(|stem| terms_with.entry(*stem).or_default().push(term as u32));
        }
        let mut found = vec![Vec::new(); segments.len()];
        for (segment, stem, parts) in postings {
            let Some(&at) = at.get(&segment) else { return Err(DATABASE.damaged()) };
            let most = segments[at].segment.parts();
            for &term in terms_with.get(&stem).into_iter().flatten() {
                let mut is_inside = true;
                let each = Postings::each(&parts, |part, count| {
                    is_inside &= part < most;
                    found[at].push(Found { part, term, count });
                });
                each.filter(|()| is_inside).ok_or_else(|| DATABASE.damaged())?;
            }
        }
        for found in &mut found {
            in_order(found);
        }
        Ok(Self { segments, found })
    }
}

/// Selects the version of the index, and the segments of a collection.
const SELECT: &str = "SELECT 0, version, 0, NULL, NULL FROM index_version UNION ALL \
                      SELECT 1, segment, work, documents, gone FROM segments WHERE collection = ?1";

/// The statement that reads the version, the segments of a collection, and the postings of `stems`. One
/// statement sees one snapshot and takes one round trip to a server. A subquery looks up each posting
/// by its key: without statistics, PostgreSQL might read all postings of a place for a join.
fn select_with_postings(collection: &str, stems: &BTreeSet<i64>) -> Statement {
    let sql = format!(
        "WITH found AS MATERIALIZED (SELECT s.segment, wanted.stem, \
         (SELECT p.parts FROM postings AS p WHERE p.segment = s.segment AND p.stem = wanted.stem) \
         AS parts FROM segments AS s CROSS JOIN \
         (SELECT CAST(value AS bigint) AS stem FROM json_each(?2)) AS wanted \
         WHERE s.collection = ?1) \
         {SELECT} UNION ALL SELECT 2, segment, stem, parts, NULL FROM found WHERE parts IS NOT NULL"
    );
    statement(&sql, [text(collection), json(stems)])
}

/// The version of the index, and the segments and some postings of a collection.
#[derive(Default)]
pub(super) struct Contents {
    pub version: Option<i64>,
    /// Ordered by number.
    pub segments: Vec<Stored>,
    /// The segment, the stem and the encoded parts of each posting that was selected.
    postings: Vec<(i64, i64, Vec<u8>)>,
}

impl Contents {
    pub fn read(transaction: &dyn Transaction, collection: &str) -> Result<Self, Error> {
        let select = statement(SELECT, [text(collection)]);
        Self::from_rows(transaction.query(&select, u32::MAX)?.rows)
    }

    fn from_rows(rows: Vec<Vec<Value>>) -> Result<Self, Error> {
        let mut contents = Self::default();
        for row in rows {
            contents.take(row).ok_or_else(|| DATABASE.damaged())?;
        }
        contents.segments.sort_unstable_by_key(|stored| stored.number);
        Ok(contents)
    }

    fn take(&mut self, row: Vec<Value>) -> Option<()> {
        let row: [Value; 5] = row.try_into().ok()?;
        match row {
            [Value::Integer(0), Value::Integer(version), ..] => self.version = Some(version),
            [
                Value::Integer(1),
                Value::Integer(number),
                Value::Integer(work),
                Value::Blob(documents),
                Value::Blob(gone),
            ] => self.segments.push(stored(number, work, &documents, &gone)?),
            [
                Value::Integer(2),
                Value::Integer(segment),
                Value::Integer(stem),
                Value::Blob(parts),
                _,
            ] => self.postings.push((segment, stem, parts)),
            _ => return None,
        }
        Some(())
    }
}

/// Sorts by part and then by term. Adds up the counts of the stems of one term in one part.
fn in_order(found: &mut Vec<Found>) {
    found.sort_by_key(|found| (found.part, found.term));
    found.dedup_by(|next, kept| {
        let is_same = (next.part, next.term) == (kept.part, kept.term);
        if is_same {
            kept.count = kept.count.saturating_add(next.count);
        }
        is_same
    });
}

fn stored(number: i64, work: i64, documents: &[u8], gone: &[u8]) -> Option<Stored> {
    let segment = Segment::decode(documents)?;
    let mut codes = Codes(gone);
    let mut gone = BTreeSet::new();
    while !codes.is_empty() {
        let document = codes.small()? as usize;
        if document >= segment.documents.len() {
            return None;
        }
        gone.insert(document);
    }
    Some(Stored { number, work: u64::try_from(work).ok()?, segment, gone })
}

impl Stored {
    fn gone_as_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.gone.iter().for_each(|document| put(&mut bytes, *document as u64));
        bytes
    }

    /// The number of parts of the documents that are gone.
    pub fn parts_gone(&self) -> u64 {
        self.gone.iter().map(|document| self.segment.parts_of(*document).len() as u64).sum()
    }

    /// The work of indexing the documents that are not gone, estimated by their share of the parts.
    pub fn work_left(&self) -> u64 {
        let parts = u64::from(self.segment.parts()).max(1);
        self.work * parts.saturating_sub(self.parts_gone()) / parts
    }

    /// The documents that are not gone, with these keys.
    fn with_keys<'s>(&'s self, keys: &'s BTreeSet<i64>) -> impl Iterator<Item = usize> + 's {
        let documents = self.segment.documents.iter().enumerate();
        let here = documents.filter(|(at, _)| !self.gone.contains(at));
        here.filter(|(_, row)| keys.contains(&row.key)).map(|(at, _)| at)
    }
}

/// Calls `read` with the postings of each stem of a segment.
pub(super) fn each_posting(
    transaction: &dyn Transaction,
    segment: i64,
    mut read: impl FnMut(i64, &[u8]) -> Option<()>,
) -> Result<(), Error> {
    let sql = "SELECT stem, parts FROM postings WHERE segment = ?1 AND stem > ?2 \
               ORDER BY stem LIMIT ?3";
    let mut last = i64::MIN;
    loop {
        let most = Value::Integer(i64::from(PAGE) + 1);
        let after = [Value::Integer(segment), Value::Integer(last), most];
        let page = transaction.query(&statement(sql, after), PAGE)?;
        for row in page.rows {
            let [Value::Integer(stem), Value::Blob(parts)] = &row[..] else {
                return Err(DATABASE.damaged());
            };
            read(*stem, parts).ok_or_else(|| DATABASE.damaged())?;
            last = *stem;
        }
        if !page.truncated {
            return Ok(());
        }
    }
}

/// How many postings one query reads. All postings of a large segment would exceed the limit of a
/// result.
const PAGE: u32 = 10_000;

/// The most bytes of postings that one statement writes. In a parameter they are twice as long, as
/// hexadecimal digits.
const MAX_WRITTEN: usize = 4 << 20;

/// Runs a statement on the rows of a segment, in batches of about [`MAX_WRITTEN`] bytes. The parameters
/// of the statement are the number of the segment and one batch.
pub(super) fn for_each_numbered<'p>(
    transaction: &dyn Transaction,
    sql: &str,
    segment: i64,
    rows: impl Iterator<Item = (i64, &'p [u8])>,
) -> Result<(), Error> {
    let run = |rows: &[(i64, &[u8])]| {
        let parameters = [Value::Integer(segment), numbered_bytes(rows.iter().copied())];
        transaction.execute(&[statement(sql, parameters)]).map(drop)
    };
    let mut some = Vec::new();
    let mut bytes = 0;
    for (number, of_number) in rows {
        bytes += of_number.len() + size_of::<i64>();
        some.push((number, of_number));
        if bytes >= MAX_WRITTEN {
            run(&some)?;
            some.clear();
            bytes = 0;
        }
    }
    if some.is_empty() { Ok(()) } else { run(&some) }
}

/// Marks the documents with these keys as gone in their segments.
pub(super) fn note_gone(
    transaction: &dyn Transaction,
    segments: &mut [Stored],
    keys: &BTreeSet<i64>,
) -> Result<(), Error> {
    let mut statements = Vec::new();
    for stored in segments {
        let documents: Vec<usize> = stored.with_keys(keys).collect();
        if documents.is_empty() {
            continue;
        }
        stored.gone.extend(documents);
        let parameters = [Value::Blob(stored.gone_as_bytes()), Value::Integer(stored.number)];
        statements.push(statement("UPDATE segments SET gone = ?1 WHERE segment = ?2", parameters));
    }
    if !statements.is_empty() {
        transaction.execute(&statements)?;
    }
    Ok(())
}

/// Removes the segments for which a condition on the table `segments` is true, with their postings. The
/// condition has one parameter.
pub(super) fn delete_segments(
    transaction: &dyn Transaction,
    condition: &str,
    parameter: &Value,
) -> Result<(), Error> {
    let segments = format!("SELECT segment FROM segments WHERE {condition}");
    let are = is_in_query(transaction.dialect(), "segment", &segments);
    let delete =
        |table: &str| statement(&format!("DELETE FROM {table} WHERE {are}"), [parameter.clone()]);
    transaction.execute(&[delete("postings"), delete("segments")])?;
    Ok(())
}

/// Adds a segment with its postings to a collection.
pub(super) fn add<'p>(
    transaction: &dyn Transaction,
    collection: &str,
    segment: Segment,
    work: u64,
    postings: impl Iterator<Item = (i64, &'p [u8])>,
) -> Result<Stored, Error> {
    // The table may have postings whose segment is missing. If the new segment got the number of that
    // segment, they would count as its postings.
    let next = "SELECT coalesce(max(segment), 0) + 1 FROM (SELECT max(segment) AS segment \
                FROM segments UNION ALL SELECT max(segment) FROM postings) AS used";
    let next = transaction.query(&statement(next, []), 1)?.rows;
    let Some([Value::Integer(number)]) = next.first().map(Vec::as_slice) else {
        return Err(DATABASE.damaged());
    };
    let of_segment = [
        Value::Integer(*number),
        text(collection),
        Value::Integer(work as i64),
        Value::Blob(segment.encode()),
        Value::Blob(Vec::new()),
    ];
    let insert = format!(
        "INSERT INTO postings (segment, stem, parts) SELECT ?1, new.number, new.bytes FROM {} AS new",
        each_numbered(transaction.dialect(), "?2")
    );
    transaction.execute(&[statement(
        "INSERT INTO segments (segment, collection, work, documents, gone) \
         VALUES (?1, ?2, ?3, ?4, ?5)",
        of_segment,
    )])?;
    for_each_numbered(transaction, &insert, *number, postings)?;
    Ok(Stored { number: *number, work, segment, gone: BTreeSet::new() })
}
