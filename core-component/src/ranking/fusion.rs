//! The fusion of the scores by words with the similarities of vectors.

use super::constants::SIMILARITY;
use super::scorer::Ranked;

/// Divides the scores of candidates by the largest one, and adds the weighted similarity of their
/// vectors to that of the query. Changes nothing if no candidate has a positive similarity.
pub(crate) fn fuse<T>(candidates: &mut [Ranked<T>], similarity: impl Fn(&T) -> Option<f64>) {
    let most_similar = candidates.iter().filter_map(|ranked| similarity(&ranked.entry));
    let Some(most_similar) = most_similar.reduce(f64::max).filter(|most| *most > 0.0) else {
        return;
    };
    let best = candidates.iter().map(|ranked| ranked.score).fold(0.0, f64::max);
    for ranked in candidates {
        let by_words = if best > 0.0 { ranked.score / best } else { 0.0 };
        let by_vector = similarity(&ranked.entry).unwrap_or_default().max(0.0) / most_similar;
        ranked.score = by_words + SIMILARITY * by_vector;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranking::FoundBy;

    fn fused(candidates: &[(f64, Option<f64>)]) -> Vec<f64> {
        let candidates = candidates.iter();
        let mut candidates: Vec<_> = candidates
            .map(|(score, similarity)| Ranked {
                score: *score,
                coverage: 0.0,
                unnamed_days: 0.0,
                found_by: FoundBy::Words,
                entry: *similarity,
            })
            .collect();
        fuse(&mut candidates, |similarity| *similarity);
        candidates.into_iter().map(|ranked| ranked.score).collect()
    }

    #[test]
    fn each_part_counts_in_proportion_to_the_largest() {
        let candidates = [(8.0, Some(0.25)), (4.0, None), (0.0, Some(0.5)), (2.0, Some(-0.5))];
        assert_eq!(fused(&candidates), [1.25, 0.5, 0.5, 0.25]);
    }

    #[test]
    fn scores_stay_as_they_are_without_a_similar_vector() {
        assert_eq!(fused(&[(8.0, None), (4.0, None)]), [8.0, 4.0]);
        assert_eq!(fused(&[(8.0, Some(-0.5)), (4.0, Some(0.0))]), [8.0, 4.0]);
        assert_eq!(fused(&[]), [0.0; 0]);
    }

    #[test]
    fn vectors_alone_give_an_order() {
        assert_eq!(fused(&[(0.0, Some(0.5)), (0.0, Some(1.0))]), [0.25, 0.5]);
    }
}
