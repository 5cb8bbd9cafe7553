//! The note of a query that finds nothing: where its memories might be.

use super::error::Error;
use super::query::Query;
use super::store::{Reader, WithAnyTerm};
use crate::tool::Call;

/// Memories with some of the words are counted up to this number.
const MAX_COUNT: u32 = 100;

/// The most words that are looked for.
const MAX_WORDS: usize = 10;

/// The memories that a query has missed.
pub(super) enum Near {
    /// The query has no words.
    NoWords,
    /// So many memories have some of the words, counted up to one more than [`MAX_COUNT`].
    WithSomeWords(WithAnyTerm),
}

/// Counts the memories with some of the words, whatever the other filters.
pub(super) fn near(reader: &dyn Reader, query: &Query) -> Result<Near, Error> {
    if query.terms.is_empty() {
        return Ok(Near::NoWords);
    }
    let words = query.terms.iter().take(MAX_WORDS).cloned().collect();
    let any = Query { terms: words, archived: query.archived, ..Query::recent(MAX_COUNT + 1) };
    Ok(Near::WithSomeWords(reader.count_with_any_term(&any)?))
}

/// Says how many memories have some of the words, what `there_are` says of the agents, and which tool
/// finds other forms of the words.
pub(super) fn note(call: &Call<'_>, agent: &str, near: &Near, there_are: Option<String>) -> String {
    let mut parts = vec![format!("no memory of agent `{agent}` matches")];
    if let Near::WithSomeWords(with) = near {
        parts.push(with_some_words(*with));
    }
    parts.extend(there_are);
    if matches!(near, Near::WithSomeWords(_)) && call.has_tool("search_memory") {
        let tool = call.listed("search", "search_memory");
        parts.push(format!("`{tool}` finds other forms of words, too"));
    }
    parts.join("; ")
}

fn with_some_words(WithAnyTerm { count, of_newest }: WithAnyTerm) -> String {
    match (count, of_newest) {
        (0, None) => "none has any of the words".to_owned(),
        (0, Some(newest)) => format!("none of the newest {newest} has any of the words"),
        (1, None) => "1 has some of the words".to_owned(),
        (count, _) if count > MAX_COUNT => format!("more than {MAX_COUNT} have some of the words"),
        (count, None) => format!("{count} have some of the words"),
        (1, Some(newest)) => format!("of the newest {newest}, 1 has some of the words"),
        (count, Some(newest)) => {
            format!("of the newest {newest}, {count} have some of the words")
        }
    }
}
