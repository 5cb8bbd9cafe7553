//! The words of a thesaurus that stand for words of a query.

use std::collections::BTreeMap;

use super::constants::{MAX_NEIGHBOURS, MEANING, NEIGHBOURS};
use super::thesaurus::{LEAST_COSINE, neighbours};

/// A word of the thesaurus that stands for a term of a query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Neighbour {
    /// The index of the query's own term that this word stands for.
    pub of: usize,
    /// The index of this word among the terms of the query: words of the thesaurus follow the query's
    /// own terms there.
    pub term: usize,
    /// The weight of an occurrence. It is lowered later if this word is more common than the query's
    /// word.
    pub weight: f64,
}

/// Returns the stems of the thesaurus that stand for `terms`, and which term each stands for, nearest
/// first. Leaves out stems for which `is_of_query` is true. The first stem gets the term index `first`,
/// and each further stem the next one.
pub(super) fn neighbours_of(
    terms: &[(usize, &str)],
    first: usize,
    is_of_query: impl Fn(&str) -> bool,
) -> (Vec<String>, Vec<Neighbour>) {
    let most = (MAX_NEIGHBOURS / terms.len().max(1)).clamp(1, NEIGHBOURS);
    let mut stems = Vec::new();
    let mut indexes: BTreeMap<String, usize> = BTreeMap::new();
    let mut found = Vec::new();
    for (of, stem) in terms {
        let others = neighbours(stem).filter(|(stem, _)| !is_of_query(stem)).take(most);
        for (stem, cosine) in others {
            if stems.len() == MAX_NEIGHBOURS && !indexes.contains_key(&stem) {
                continue;
            }
            let term = *indexes.entry(stem).or_insert_with_key(|stem| {
                stems.push(stem.clone());
                first + stems.len() - 1
            });
            let weight = MEANING * (cosine - LEAST_COSINE) / (1.0 - LEAST_COSINE);
            found.push(Neighbour { of: *of, term, weight });
        }
    }
    (stems, found)
}
