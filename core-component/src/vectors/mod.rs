//! The vectors of entries: which texts wait for one, and how similar each is to a query.
//!
//! An entry of any toolset may have a vector for each embedder. It belongs to a text of a document in a
//! collection, as the index has collections and documents; a text is known by its number, see
//! [`number_of`]. The vectors lie in a derived database of their own, beside the index: an index costs
//! time alone, vectors may cost money. Without it, a search finds what its words find.
//!
//! No writer keeps vectors. A pass over the entries of an owner, which is a search for nothing, finds
//! the texts that wait, and drops the vectors of what is gone. It reads only documents whose version has
//! texts that wait. What is deleted for good leaves in the same call.

mod batch;
mod database;
mod noted;
mod similarity;
mod tables;
mod task;

use crate::budget::Budget;
use crate::storage::{Place, Storage};

pub(crate) use batch::{Answer, Answered, Of, answer};
pub(crate) use database::{drop_model, forget, forget_all, keep, models};
use noted::Noted;
use similarity::Similarities;
pub(crate) use similarity::Similarity;
pub(crate) use tables::DESCRIPTION;
pub(crate) use task::{Task, Waiting};

/// The vectors of one collection, for one pass over its entries.
pub(crate) enum OfCollection<'a> {
    /// There is no embedder.
    None,
    Compared(Similarities),
    Noted(Noted<'a>),
}

impl<'a> OfCollection<'a> {
    /// Opens those of a collection. `admits` says whether a document can be a hit, if that is known.
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
            // Vectors that cannot be read are not compared: an answer by words is better than none.
            Task::Compare(comparison) => {
                let read =
                    Similarities::read(storage, place, collection, comparison, budget, admits);
                read.map_or(Self::None, Self::Compared)
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

    /// The same for an entry of a document that is not read.
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

    /// Notes that a document is there.
    pub fn see(&mut self, document: i64) {
        if let Self::Noted(noted) = self {
            noted.see(document);
        }
    }

    /// Whether a document has to be read: it has texts that wait, or other texts than those that are
    /// known.
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

    /// Ends the pass. `is_whole` says that all documents of the collection were seen: the vectors of
    /// the others go.
    pub fn end(self, storage: &dyn Storage, place: &Place, collection: &str, is_whole: bool) {
        if let Self::Noted(noted) = self {
            noted.end(storage, place, collection, is_whole);
        }
    }
}
