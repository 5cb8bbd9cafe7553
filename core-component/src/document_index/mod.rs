//! A derived index of the documents of a place, so that a search reads only those with hits.
//!
//! The index has no text. For each document that it knows, it has the stamp and the version, the
//! lengths of the entries, and a posting for each stem: which entries have it, and how often. A stem
//! is a number, see [`Stem`]. From these, a search computes the same scores as from the texts.
//!
//! A search uses the index of a document whose stamp is still the same. It reads the others directly,
//! and afterwards writes what it has read into the index, without waiting and as far as
//! [`OF_INDEXING`](crate::work::OF_INDEXING) goes. A hit is read in its document, whose version must be that
//! of the index, see [`Unread`](crate::source::Unread). So the index only saves time: without it, or
//! if it fails in any way, the answer is the same.
//!
//! Documents that are indexed together are a segment. A document that changes is in a new segment, and
//! its old postings stay until most of their segment is old. A document that is deleted takes its
//! segment along: the next search indexes the others again.

mod database;
mod postings;
mod segment;
mod stamp;

use std::collections::BTreeSet;

use crate::source::Request;
use crate::storage::{Place, Status, Storage};
use crate::time::Timestamp;
use crate::tool::Call;
use crate::work::Work;

use database::Snapshot;
pub(crate) use postings::Indexed;
use postings::Stem;
use segment::Segment;
pub(crate) use segment::{Document, Part};

/// Smaller places have no index: reading them takes no longer. In bytes, where each document counts
/// as [`BYTES_OF_READ`] more.
const MIN_BYTES: u64 = 64 << 10;
/// As many bytes take as long to search as a document takes to be opened.
const BYTES_OF_READ: u64 = 4 << 10;

/// Removes documents that were deleted for good from the index of a place. If another search is
/// writing, the next search removes them.
pub(crate) fn forget(call: &Call<'_>, place: &Place, paths: &[&str]) {
    if !paths.is_empty() {
        let _ = database::write(call.storage, place, paths, &Segment::default(), false);
    }
}

/// The index of one place, for one search.
pub(crate) struct DocumentIndex<'a> {
    storage: &'a dyn Storage,
    place: Place,
    now: Timestamp,
    work: &'a Work,
    snapshot: Option<Snapshot>,
    /// The paths of the documents that are there.
    seen: BTreeSet<String>,
    bytes: u64,
    /// The documents that the search has read directly.
    segment: Segment,
}

impl<'a> DocumentIndex<'a> {
    /// Reads the index of a place. If the request ignores it, it knows no document, but is brought up
    /// to date.
    pub fn open(call: &'a Call<'_>, place: Place, request: &'a Request) -> Self {
        let (storage, now, work) = (call.storage, call.context.now, &request.work);
        let stems = |term: &Vec<String>| term.iter().map(|stem| Stem::of(stem)).collect();
        let terms: Vec<Vec<Stem>> = request.query.terms().iter().map(stems).collect();
        let snapshot = match request.ignores_indexes {
            true => None,
            false => Snapshot::read(storage, &place, &terms).ok(),
        };
        let (seen, segment) = (BTreeSet::new(), Segment::default());
        Self { storage, place, now, work, snapshot, seen, bytes: 0, segment }
    }

    /// The entries of a document, or none if it has to be read. Takes note that it is there.
    pub fn find(&mut self, path: &str, status: &Status) -> Option<Indexed> {
        self.seen.insert(path.to_owned());
        self.bytes = self.bytes.saturating_add(status.size.saturating_add(BYTES_OF_READ));
        self.snapshot.as_mut()?.take(path, &status.stamp)
    }

    /// Takes note of a document that the search has read.
    pub fn add(&mut self, document: Document<'_>, parts: impl Iterator<Item = Part>) {
        let is_full = self.snapshot.as_ref().is_some_and(Snapshot::is_full);
        let is_settled = stamp::is_settled(&document.status.stamp, self.now);
        if !is_full && is_settled && self.work.take_for_index(document.work) {
            self.segment.add(document, parts);
        }
    }

    /// Brings the index up to date. The documents that it knows in the scope of this search, but that
    /// the search did not find, are gone.
    pub fn update(self, is_in_scope: impl Fn(&str) -> bool) {
        let known = self.snapshot.as_ref().map(Snapshot::paths).unwrap_or_default();
        let gone = known.into_iter().filter(|path| !self.seen.contains(*path) && is_in_scope(path));
        let gone: Vec<&str> = gone.collect();
        if gone.is_empty() && self.segment.is_empty() {
            return;
        }
        let creates = self.bytes >= MIN_BYTES;
        // Another search may be writing. An index that stays as it is costs time only.
        let _ = database::write(self.storage, &self.place, &gone, &self.segment, creates);
    }
}
