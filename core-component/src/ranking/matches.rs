//! Why an entry is a hit, and which entries are looked at first.

use std::cmp::Ordering;

/// Which candidates an entry makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Match {
    /// By words of the query: itself and the two entries beside it. If it has only words of the
    /// thesaurus, itself.
    Words,
    /// By its vector: itself.
    Vector,
    None,
}

impl Match {
    pub fn new(has_term: bool, is_nearest: bool) -> Self {
        if has_term {
            Self::Words
        } else if is_nearest {
            Self::Vector
        } else {
            Self::None
        }
    }
}

/// Why an entry is a hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FoundBy {
    /// It has a word of the query.
    Words,
    /// It means nearly the same, by the thesaurus or by its vector.
    Meaning,
    /// An entry beside it has a word of the query.
    Context,
}

/// The value of a match when matches are chosen. One with a word of the query comes before all others.
#[derive(Clone, Copy)]
pub(super) struct Value {
    pub has_own_term: bool,
    pub score: f64,
}

impl Value {
    pub fn order(&self, other: &Self) -> Ordering {
        let own_terms = self.has_own_term.cmp(&other.has_own_term);
        own_terms.then_with(|| self.score.total_cmp(&other.score))
    }

    pub fn is_at_least(&self, least: Self) -> bool {
        self.order(&least) != Ordering::Less
    }
}
