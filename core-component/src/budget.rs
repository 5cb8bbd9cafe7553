//! The work that a search may do, so that it ends within the time of a call on every host.
//!
//! Work is counted and not timed, so that the same search reads the same texts on every host. The parts
//! of a search, such as its toolsets, share its work: each part gets an equal share of the work that
//! the parts before it have left.

use std::cell::Cell;

/// The work of one search, in bytes of English text.
const OF_SEARCH: u64 = 12 << 20;

/// The work that one search may spend on adding documents to indexes. It does not count towards
/// [`OF_SEARCH`]: an index changes no answer, so a search may leave documents out of it.
pub(crate) const OF_INDEXING: u64 = 3 << 20;

/// The vectors of one search, in bytes. They do not count towards [`OF_SEARCH`], because a search can
/// do without vectors.
const OF_VECTORS: u64 = 96 << 20;

/// The work to read a vector, in addition to the bytes of its numbers.
pub(crate) const OF_VECTOR: u64 = 512;

/// The work to open a document, in addition to the work for its text.
pub(crate) const OF_DOCUMENT: u64 = 768;

/// The work to count the stems of an entry, in addition to the work for its text. It also limits the
/// memory of a search, which takes about 1 KB for each entry that matches.
pub(crate) const OF_ENTRY: u64 = 192;

/// The work to take a document from an index.
pub(crate) const OF_INDEXED: u64 = 384;

/// The work to take a row from an index.
pub(crate) const OF_INDEXED_ROW: u64 = 12;

/// The work for each occurrence of a term of the query in a text, in addition to that of the text.
pub(crate) const OF_OCCURRENCE: u64 = 24;

/// The least work for a stem of a text that was read. A text of ids has a stem for every two bytes.
pub(crate) const OF_STEM: u64 = 6;

/// The work for each stem that is new in a segment of an index: it is hashed, and has a row.
pub(crate) const OF_NEW_STEM: u64 = 48;

/// The work for a digit in a text that is added to an index. It limits a document of ids, whose stems
/// are counted only after they were found.
pub(crate) const OF_DIGIT: u64 = 15;

/// The work that a search has left.
pub(crate) struct Budget {
    left: Cell<u64>,
    /// The work that is reserved for later parts: the current share ends when only this is left.
    floor: Cell<Reserve>,
    /// The work that is left for indexes.
    indexing: Cell<u64>,
    /// The work that is left for vectors.
    vectors: Cell<u64>,
}

/// Work that is reserved for later parts of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reserve(u64);

impl Budget {
    pub fn for_search() -> Self {
        Self::new(OF_SEARCH)
    }

    fn new(work: u64) -> Self {
        let left = Cell::new(work);
        let floor = Cell::new(Reserve(0));
        let indexing = Cell::new(OF_INDEXING);
        let vectors = Cell::new(OF_VECTORS);
        Self { left, floor, indexing, vectors }
    }

    /// The work that is reserved for the parts after the current share.
    pub fn reserve(&self) -> Reserve {
        self.floor.get()
    }

    /// Begins the share of the next part, of `parts` parts that are still to come. They share the work
    /// equally, except the reserve `whole`, which is for work after all of them.
    pub fn begin(&self, Reserve(whole): Reserve, parts: usize) {
        let left = self.left.get();
        let share = left.saturating_sub(whole) / parts.max(1) as u64;
        self.floor.set(Reserve(left - share));
    }

    /// The work that the share has left.
    pub fn left(&self) -> u64 {
        self.left.get().saturating_sub(self.floor.get().0)
    }

    /// Takes work from the current share. Returns false and takes nothing if less is left.
    pub fn take(&self, work: u64) -> bool {
        let fits = work <= self.left();
        if fits {
            self.left.set(self.left.get() - work);
        }
        fits
    }

    /// Takes work that is done already, at most what the share has left.
    pub fn spend(&self, work: u64) {
        self.left.set(self.left.get() - work.min(self.left()));
    }

    /// Takes work for vectors. Returns false and takes nothing if less is left.
    pub fn take_for_vectors(&self, work: u64) -> bool {
        let left = self.vectors.get().checked_sub(work);
        self.vectors.set(left.unwrap_or(self.vectors.get()));
        left.is_some()
    }

    /// Takes work for an index. Returns false and takes nothing if less is left.
    pub fn take_for_index(&self, work: u64) -> bool {
        let left = self.indexing.get().checked_sub(work);
        self.indexing.set(left.unwrap_or(self.indexing.get()));
        left.is_some()
    }

    /// Takes work for an index that is done already, at most what is left.
    pub fn spend_for_index(&self, work: u64) {
        self.indexing.set(self.indexing.get().saturating_sub(work));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_has_an_equal_share_of_what_is_left() {
        let budget = Budget::new(90);
        let whole = budget.reserve();
        budget.begin(whole, 3);
        assert_eq!(budget.left(), 30);
        assert!(budget.take(10) && !budget.take(21));
        // The second part has half of the 80 that are left. Its own parts share this half.
        budget.begin(whole, 2);
        let second = budget.reserve();
        assert_eq!(budget.left(), 40);
        budget.begin(second, 4);
        assert!(budget.take(10) && !budget.take(1));
        budget.begin(second, 3);
        assert_eq!(budget.left(), 10);
        budget.begin(second, 1);
        assert!(budget.take(30));
        budget.begin(whole, 1);
        assert!(budget.take(30) && !budget.take(11));
        budget.spend(50);
        assert!(!budget.take(1) && budget.take(0));
    }
}
