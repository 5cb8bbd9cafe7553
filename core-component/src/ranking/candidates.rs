//! The choice of the entries that a search looks at, where there are too many to look at each.

use std::collections::BTreeSet;

/// Chooses the matches. The rarest term comes first, and the first in byte order among equals. Each
/// term brings its newest entries until there are `most`.
///
/// `newest` gives at most `most` of a term's entries that can be hits, the newest.
pub(crate) fn choose<K: Ord, E>(
    with_term: &[u64],
    most: usize,
    mut newest: impl FnMut(usize) -> Result<Vec<K>, E>,
) -> Result<BTreeSet<K>, E> {
    let mut terms: Vec<usize> = (0..with_term.len()).filter(|term| with_term[*term] > 0).collect();
    terms.sort_by_key(|term| with_term[*term]);
    let mut chosen = BTreeSet::new();
    for term in terms {
        for entry in newest(term)? {
            if chosen.len() == most {
                return Ok(chosen);
            }
            chosen.insert(entry);
        }
    }
    Ok(chosen)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    /// The entries of each term, the newest first, as [`choose`] takes them.
    fn chosen(most: usize, terms: &[&[u32]]) -> Vec<u32> {
        let with_term: Vec<u64> = terms.iter().map(|entries| entries.len() as u64).collect();
        let newest = |term: usize| Ok(terms[term].iter().copied().take(most).collect());
        let chosen: Result<_, Infallible> = choose(&with_term, most, newest);
        chosen.expect("chosen").into_iter().collect()
    }

    #[test]
    fn every_entry_is_a_match_as_long_as_there_are_few() {
        assert_eq!(chosen(5, &[&[3, 2, 1], &[], &[5, 3, 4]]), [1, 2, 3, 4, 5]);
    }

    #[test]
    fn rare_terms_come_first_and_the_newest_of_the_next_fill_the_rest() {
        assert_eq!(chosen(4, &[&[9, 8, 7, 6, 5], &[1], &[3, 2]]), [1, 2, 3, 9]);
        assert_eq!(chosen(4, &[&[9, 8, 7, 6, 5], &[9, 1]]), [1, 7, 8, 9]);
    }

    #[test]
    fn among_equally_rare_terms_the_first_one_comes_first() {
        assert_eq!(chosen(3, &[&[5, 4], &[2, 1]]), [2, 4, 5]);
    }

    #[test]
    fn the_newest_of_the_rarest_term_are_matches_if_it_alone_has_too_many() {
        assert_eq!(chosen(2, &[&[9, 8, 7], &[6, 5, 4, 3]]), [8, 9]);
    }
}
