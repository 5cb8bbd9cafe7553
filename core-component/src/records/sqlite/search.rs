//! Search by substring: trigrams find candidates, the folded text confirms them.

/// So many trigrams of one term are asked for: the text itself decides in the end.
const MAX_TRIGRAMS: usize = 16;

/// What the trigram index is asked for: rows that may hold every term; none where all terms are
/// shorter than a trigram.
pub(super) fn candidates(terms: &[String]) -> Option<String> {
    let trigrams: Vec<String> = terms.iter().flat_map(|term| trigrams(term)).collect();
    (!trigrams.is_empty()).then(|| trigrams.join(" AND "))
}

/// Trigrams of a term, spread over all of it, as strings of the index's query language.
fn trigrams(term: &str) -> Vec<String> {
    let characters: Vec<char> = term.chars().collect();
    let all: Vec<&[char]> = characters.windows(3).collect();
    let step = all.len().div_ceil(MAX_TRIGRAMS).max(1);
    let quoted = |trigram: &[char]| {
        let text: String = trigram.iter().collect();
        format!("\"{}\"", text.replace('"', "\"\""))
    };
    let asked = all.iter().step_by(step);
    // To SQLite, a text of its query language ends at a NUL.
    asked.filter(|trigram| !trigram.contains(&'\0')).map(|trigram| quoted(trigram)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_are_asked_for_by_their_trigrams() {
        let ask = |terms: &[&str]| {
            candidates(&terms.iter().map(|term| (*term).to_owned()).collect::<Vec<_>>())
        };
        assert_eq!(ask(&["abcd", "x"]).as_deref(), Some(r#""abc" AND "bcd""#));
        assert_eq!(ask(&["a\"b"]).as_deref(), Some("\"a\"\"b\""));
        assert_eq!(ask(&["ab", "é"]), None);
        assert_eq!(ask(&["abc\0d"]).as_deref(), Some(r#""abc""#));
        let long = "a".repeat(200);
        assert_eq!(ask(&[&long]).map(|ask| ask.split(" AND ").count()), Some(16));
    }
}
