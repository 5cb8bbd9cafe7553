//! How a pass over entries uses vectors. A pass is a search, or it only collects texts for an embedder.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

use super::batch::Batch;
use crate::ranking::Vector;
use crate::storage::Error;
use crate::time::Timestamp;

/// How a pass over entries uses vectors.
pub(crate) enum Task {
    /// Not at all: there is no embedder.
    None,
    /// A search compares stored vectors with the vector of its query.
    Compare(Comparison),
    /// The pass collects the texts that wait for a vector.
    Collect(Waiting),
}

impl Task {
    /// The task of a search. `model` is the embedder and `vector` its vector of the query, if the host
    /// has them.
    pub fn for_search(model: Option<String>, vector: Option<Vector>) -> Self {
        let compare = |model| Comparison {
            model,
            vector,
            wants: Cell::new(false),
            warnings: RefCell::default(),
        };
        model.map_or(Self::None, |model| Self::Compare(compare(model)))
    }

    /// Whether a pass looks at the entries of an owner with this number.
    pub fn is_for(&self, owner: i64) -> bool {
        match self {
            Self::Collect(waiting) => waiting.only.is_none_or(|only| only == owner),
            _ => true,
        }
    }

    /// Notes that the next entries are those of this owner.
    pub fn begin(&self, owner: i64) {
        if let Self::Collect(waiting) = self {
            waiting.owner.set(owner);
        }
    }

    /// Whether the pass collects texts. It then looks at all entries, also those that a search looks at
    /// only on request.
    pub fn is_collecting(&self) -> bool {
        matches!(self, Self::Collect(_))
    }

    /// The embedder, if there are vectors to compare but the search has no vector of its query.
    pub fn wanted_of(&self) -> Option<&str> {
        match self {
            Self::Compare(comparison) if comparison.wants.get() => Some(&comparison.model),
            _ => None,
        }
    }

    /// Why some vectors were not compared.
    pub fn warnings(&self) -> Vec<String> {
        match self {
            Self::Compare(comparison) => comparison.warnings.take().into_iter().collect(),
            _ => Vec::new(),
        }
    }
}

/// A comparison of all vectors of an embedder with the vector of a query.
pub(crate) struct Comparison {
    pub(super) model: String,
    /// The vector of the query, if the host has got it.
    pub(super) vector: Option<Vector>,
    wants: Cell<bool>,
    warnings: RefCell<BTreeSet<String>>,
}

impl Comparison {
    /// Notes that there are vectors to compare, but no vector of the query.
    pub(super) fn want(&self) {
        self.wants.set(true);
    }

    pub(super) fn warn(&self, warning: String) {
        self.warnings.borrow_mut().insert(warning);
    }
}

/// A collection of texts that wait for the vectors of an embedder.
pub(crate) struct Waiting {
    pub(super) model: String,
    pub(super) now: Timestamp,
    /// The number of the only owner to look at.
    only: Option<i64>,
    /// For how many seconds a claimed batch is leased. `None` if the pass claims no batch, and only
    /// finds the owners with texts that wait.
    pub(super) lease: Option<u32>,
    /// Whether texts that the embedder refused count as waiting.
    pub(super) takes_failed: bool,
    owner: Cell<i64>,
    owners: RefCell<BTreeSet<i64>>,
    pub(super) has_failed: Cell<bool>,
    pub(super) has_noted: Cell<bool>,
    pub(super) batch: RefCell<Option<Batch>>,
    pub(super) error: RefCell<Option<Error>>,
}

impl Waiting {
    fn new(model: &str, now: Timestamp) -> Self {
        Self {
            model: model.to_owned(),
            now,
            only: None,
            lease: None,
            takes_failed: true,
            owner: Cell::new(0),
            owners: RefCell::default(),
            has_failed: Cell::new(false),
            has_noted: Cell::new(false),
            batch: RefCell::new(None),
            error: RefCell::new(None),
        }
    }

    /// A pass that finds the owners with texts that wait.
    pub fn for_owners(model: &str, now: Timestamp) -> Self {
        Self::new(model, now)
    }

    /// A pass that claims a batch of an owner with a lease of `seconds`. If `takes_failed` is false,
    /// texts that the embedder refused are left out.
    pub fn for_batch(
        model: &str,
        now: Timestamp,
        owner: i64,
        seconds: u32,
        takes_failed: bool,
    ) -> Self {
        Self { only: Some(owner), lease: Some(seconds), takes_failed, ..Self::new(model, now) }
    }

    /// Notes that a text of the current owner waits.
    pub(super) fn wait(&self) {
        self.owners.borrow_mut().insert(self.owner.get());
    }

    /// The numbers of the owners with texts that wait.
    pub fn owners(&self) -> Vec<i64> {
        self.owners.borrow().iter().copied().collect()
    }

    /// Whether texts were left out because the embedder refused them.
    pub fn has_failed(&self) -> bool {
        self.has_failed.get()
    }

    /// Whether documents were read. If no batch was chosen from these documents, the next pass reads
    /// further documents.
    pub fn has_noted(&self) -> bool {
        self.has_noted.get()
    }

    /// The batch that was claimed.
    ///
    /// # Errors
    ///
    /// `Busy` if another host changes vectors, and other errors of storage.
    pub fn into_batch(self) -> Result<Option<Batch>, Error> {
        match (self.batch.into_inner(), self.error.into_inner()) {
            (Some(batch), _) => Ok(Some(batch)),
            (None, Some(error)) => Err(error),
            (None, None) => Ok(None),
        }
    }
}
