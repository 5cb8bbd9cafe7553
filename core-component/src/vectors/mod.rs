//! The vectors of entries: which texts wait for a vector, and how similar the vector of each text is to
//! that of a query.
//!
//! An entry of any toolset may have a vector for each embedder. The vector belongs to a text of a
//! document in a collection. Documents and collections are those of the index. A text has a number, see
//! [`number_of`](crate::digest::number_of). The vectors are not in the index's database: making the
//! index again costs only time, but making vectors again may cost money. Without vectors, a search
//! finds entries by words only.
//!
//! A tool that writes entries stores no vectors. A pass over the entries of an owner (a search without
//! a query) finds the texts that wait, and removes the vectors of documents that are gone. The pass
//! reads only documents whose version has texts that wait. A call that deletes something for good
//! removes its vectors at once.

mod batch;
mod database;
mod noted;
mod similarity;
mod tables;
mod task;

use crate::budget::Budget;
use crate::derived::is_damaged;
use crate::storage::{Place, Storage};

pub(crate) use batch::{Answer, Answered, Of, answer};
pub(crate) use database::{drop_model, forget, forget_all, keep, models};
use noted::Noted;
use similarity::Similarities;
pub(crate) use similarity::Similarity;
pub(crate) use tables::DATABASE;
pub(crate) use task::{Task, Waiting};

/// The vectors of one collection, for one pass over its entries.
pub(crate) enum OfCollection<'a> {
    /// There is no embedder.
    None,
    Compared(Similarities),
    Noted(Noted<'a>),
}

impl<'a> OfCollection<'a> {
    /// Opens the vectors of a collection. `admits` says whether a document can be a hit; `None` if that
    /// is not known.
    pub fn open(
        storage: &dyn Storage,
        place: &Place,
        collection: &str,
        task: &'a Task,
        budget: &Budget,
        admits: impl Fn(i64) -> Option<bool>,
    ) -> Self {
        match task {
            Task::None => Self::None,
            Task::Compare(comparison) => {
                match Similarities::read(storage, place, collection, comparison, budget, admits) {
                    Ok(similarities) => Self::Compared(similarities),
                    // A search by words alone is better than an error.
                    Err(error) => {
                        if is_damaged(&error) {
                            comparison.warn(format!("no vectors were compared: {}", error.message));
                        }
                        Self::None
                    }
                }
            }
            Task::Collect(waiting) => {
                Noted::open(storage, place, collection, waiting).map_or(Self::None, Self::Noted)
            }
        }
    }

    /// How similar a text is to the query, if it has a vector.
    pub fn of_text(&self, text: &str) -> Option<Similarity> {
        match self {
            Self::Compared(similarities) => similarities.of_text(text),
            _ => None,
        }
    }

    /// How similar the entry with the index `at` is to the query, if it has a vector. The document is
    /// not read.
    pub fn of_entry(&self, document: i64, version: i64, at: usize) -> Option<Similarity> {
        match self {
            Self::Compared(similarities) => similarities.of_entry(document, version, at),
            _ => None,
        }
    }

    /// Whether a document has an entry that can be a hit without a word of the query.
    pub fn has_nearest(&self, document: i64, version: i64) -> bool {
        match self {
            Self::Compared(similarities) => similarities.has_nearest(document, version),
            _ => false,
        }
    }

    /// Notes that a document exists, so that its vectors are kept.
    pub fn see(&mut self, document: i64) {
        if let Self::Noted(noted) = self {
            noted.see(document);
        }
    }

    /// Whether a document has to be read although the index has it: some of its texts wait for vectors,
    /// or its vectors are of another version.
    pub fn has_to_read(&mut self, document: i64, version: i64) -> bool {
        match self {
            Self::Noted(noted) => noted.has_to_read(document, version),
            Self::Compared(similarities) => similarities.is_outdated(document, version),
            Self::None => false,
        }
    }

    /// Notes the texts of a document that was read, one for each of its entries.
    pub fn note<'t>(&mut self, document: i64, version: i64, texts: impl Iterator<Item = &'t str>) {
        if let Self::Noted(noted) = self {
            noted.note(document, version, texts);
        }
    }

    /// Ends the pass. If `is_whole`, all documents of the collection were seen, and the vectors of all
    /// others are removed.
    pub fn end(self, storage: &dyn Storage, place: &Place, collection: &str, is_whole: bool) {
        if let Self::Noted(noted) = self {
            noted.end(storage, place, collection, is_whole);
        }
    }
}
