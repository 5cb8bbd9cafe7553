//! Why an entry is a hit, and which matches are chosen if there are too many.

use std::cmp::Ordering;

/// How an entry matches. This decides which entries become candidates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Match {
    /// The entry has words of the query: the entry and the two beside it are candidates. If it has only
    /// words of the thesaurus, only the entry itself is a candidate.
    Words,
    /// The vector of the entry is one of the nearest: the entry itself is a candidate.
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
    /// The entry has a word of the query.
    Words,
    /// The entry has no word of the query, but a word of the thesaurus or a near vector.
    Meaning,
    /// Only an entry beside this one has a word of the query.
    Context,
}

/// The value by which matches are chosen if there are too many. Matches with a word of the query come
/// before all others.
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
