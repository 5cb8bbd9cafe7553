//! Search by substring: the index of words finds candidates, the folded text confirms them.

use std::collections::BTreeSet;

use super::sql::{integer, statement, text};
use crate::ranking::{Fragment, fragments};
use crate::records::error::Error;
use crate::storage::database::{Transaction, Value};

/// The condition for rows that a search has to look at. `??` becomes the number of the parameter
/// with the FTS5 query.
pub(super) const CANDIDATES: &str = "m.key IN (\
    SELECT rowid FROM memories_words WHERE memories_words MATCH ?? \
    UNION ALL SELECT memory FROM unindexed)";

/// An FTS5 query that finds nothing: no word has this key.
pub(super) const NOTHING: &str = "0";

/// The maximum number of trigrams of a part. More are not needed: they only find candidates.
const MAX_TRIGRAMS: usize = 16;

/// The maximum number of fragments of all terms, for the same reason.
const MAX_FRAGMENTS: usize = 16;

/// If more words contain a part, it tells too little.
const MAX_WORDS: usize = 200;

/// The FTS5 query for memories of an agent that may contain every term. Returns `None` if every
/// memory may: the terms are too short, or too many words contain them.
pub(super) fn candidates(
    view: &dyn Transaction,
    agent: i64,
    terms: &[String],
) -> Result<Option<String>, Error> {
    let mut groups = BTreeSet::new();
    let fragments = terms.iter().flat_map(|term| fragments(term)).filter(is_telling);
    for fragment in fragments.take(MAX_FRAGMENTS) {
        let keys = words_with(view, agent, &fragment)?;
        if keys.len() <= MAX_WORDS {
            groups.insert(any_of(&keys));
        }
    }
    let all = groups.into_iter().map(|group| format!("({group})")).collect::<Vec<_>>();
    Ok((!all.is_empty()).then(|| all.join(" AND ")))
}

/// Whether the vocabulary can be searched for it: a part has a trigram.
fn is_telling(fragment: &Fragment) -> bool {
    match fragment {
        Fragment::Part(part) => part.chars().nth(2).is_some(),
        Fragment::Pair(_) => true,
    }
}

/// The FTS5 query for memories with any of these words.
fn any_of(keys: &[i64]) -> String {
    match keys.is_empty() {
        true => NOTHING.to_owned(),
        false => keys.iter().map(i64::to_string).collect::<Vec<_>>().join(" OR "),
    }
}

/// The keys of an agent's words with a fragment, but not many more than [`MAX_WORDS`].
fn words_with(view: &dyn Transaction, agent: i64, fragment: &Fragment) -> Result<Vec<i64>, Error> {
    let agent = Value::Integer(agent);
    let most = MAX_WORDS as u32 + 1;
    let find = match fragment {
        Fragment::Pair(pair) => {
            statement("SELECT key FROM words WHERE agent = ?1 AND word = ?2", [agent, text(pair)])
        }
        Fragment::Part(part) => {
            let sql = "SELECT w.key FROM words_text CROSS JOIN words AS w \
                       ON w.key = words_text.rowid WHERE words_text MATCH ?3 \
                       AND w.agent = ?1 AND instr(w.word, ?2) > 0 LIMIT ?4";
            let query = Value::Text(trigrams(part));
            statement(sql, [agent, text(part), query, Value::Integer(most.into())])
        }
    };
    let rows = view.query(&find, most)?.rows;
    rows.iter().map(|row| integer(&row[0])).collect()
}

/// The FTS5 query for words with trigrams from all over a part.
pub(super) fn trigrams(part: &str) -> String {
    let characters: Vec<char> = part.chars().collect();
    let all: Vec<&[char]> = characters.windows(3).collect();
    let step = all.len().div_ceil(MAX_TRIGRAMS).max(1);
    let quoted = |trigram: &[char]| {
        let text: String = trigram.iter().collect();
        format!("\"{}\"", text.replace('"', "\"\""))
    };
    all.iter().step_by(step).map(|trigram| quoted(trigram)).collect::<Vec<_>>().join(" AND ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_looked_for_by_its_trigrams() {
        assert_eq!(trigrams("abcd"), r#""abc" AND "bcd""#);
        assert_eq!(trigrams("a\"b"), "\"a\"\"b\"");
        assert_eq!(trigrams(&"a".repeat(200)).split(" AND ").count(), 16);
    }

    #[test]
    fn a_part_tells_something_from_three_characters_on() {
        let telling = |term: &str| fragments(term).into_iter().filter(is_telling).count();
        assert_eq!(telling("abc ab é"), 1);
        assert_eq!(telling("éàü"), 1);
        assert_eq!(telling("東京"), 1);
        assert_eq!(telling("v1.2 東"), 0);
    }
}
