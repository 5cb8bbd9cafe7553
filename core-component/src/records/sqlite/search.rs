//! Search by substring: the trigram index finds candidates, the folded text confirms them.

/// The maximum number of trigrams of one term in a query. More are not needed: they only find
/// candidates.
const MAX_TRIGRAMS: usize = 16;

/// The FTS5 query for rows that may contain every term. Returns `None` if all terms are shorter than
/// a trigram.
pub(super) fn candidates(terms: &[String]) -> Option<String> {
    let trigrams: Vec<String> = terms.iter().flat_map(|term| trigrams(term)).collect();
    (!trigrams.is_empty()).then(|| trigrams.join(" AND "))
}

/// Trigrams from all parts of a term, as quoted strings of the FTS5 query language.
fn trigrams(term: &str) -> Vec<String> {
    let characters: Vec<char> = term.chars().collect();
    let all: Vec<&[char]> = characters.windows(3).collect();
    let step = all.len().div_ceil(MAX_TRIGRAMS).max(1);
    let quoted = |trigram: &[char]| {
        let text: String = trigram.iter().collect();
        format!("\"{}\"", text.replace('"', "\"\""))
    };
    let chosen = all.iter().step_by(step);
    // An FTS5 query ends at a NUL.
    chosen.filter(|trigram| !trigram.contains(&'\0')).map(|trigram| quoted(trigram)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_for_candidates_joins_the_trigrams_of_all_terms() {
        let query = |terms: &[&str]| {
            candidates(&terms.iter().map(|term| (*term).to_owned()).collect::<Vec<_>>())
        };
        assert_eq!(query(&["abcd", "x"]).as_deref(), Some(r#""abc" AND "bcd""#));
        assert_eq!(query(&["a\"b"]).as_deref(), Some("\"a\"\"b\""));
        assert_eq!(query(&["ab", "é"]), None);
        assert_eq!(query(&["abc\0d"]).as_deref(), Some(r#""abc""#));
        let long = "a".repeat(200);
        assert_eq!(query(&[&long]).map(|query| query.split(" AND ").count()), Some(16));
    }
}
