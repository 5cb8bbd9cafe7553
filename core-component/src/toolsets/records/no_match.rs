//! The note of a query that finds nothing: it says where the wanted memories might be.

use super::error::Error;
use super::query::Query;
use super::store::{Reader, WithAnyTerm};
use crate::listing::listed;
use crate::tool::Call;

/// Memories with some of the query's words are counted up to this number. If there are more, the
/// note says so.
const MAX_COUNT: u32 = 100;

/// The most words of the query for which memories are counted.
const MAX_WORDS: usize = 10;

/// The memories that a query nearly found.
pub(super) struct Near {
    /// The number of archived memories that match. 0 if the query includes archived memories.
    archived: u64,
    /// The memories that have some of the query's words, counted up to one more than [`MAX_COUNT`].
    /// `None` if the query has no words, or if archived memories match.
    with_some_words: Option<WithAnyTerm>,
}

/// Counts the archived memories that match. If there are none, counts the memories that have some
/// of the query's words and ignores the other filters.
pub(super) fn near(reader: &dyn Reader, query: &Query) -> Result<Near, Error> {
    let mut archived = 0;
    if !query.archived {
        let all = Query { archived: true, limit: 1, offset: 0, ..query.clone() };
        archived = reader.query(&all)?.total;
    }
    if query.terms.is_empty() || archived > 0 {
        return Ok(Near { archived, with_some_words: None });
    }
    let words = query.terms.iter().take(MAX_WORDS).cloned().collect();
    let any = Query { terms: words, archived: query.archived, ..Query::recent(MAX_COUNT + 1) };
    Ok(Near { archived, with_some_words: Some(reader.count_with_any_term(&any)?) })
}

/// The note of a query that finds nothing. It says how many archived memories match, how many
/// memories have some of the words, which agents there are (`there_are`), and which tool finds
/// other forms of the words.
pub(super) fn note(call: &Call<'_>, agent: &str, near: &Near, there_are: Option<String>) -> String {
    let mut parts = vec![format!("no memory of agent `{agent}` matches")];
    match near.archived {
        0 => {}
        1 => parts.push("1 archived memory does: `archived` shows it".to_owned()),
        archived => parts.push(format!("{archived} archived ones do: `archived` shows them")),
    }
    parts.extend(near.with_some_words.map(with_some_words));
    parts.extend(there_are);
    if near.with_some_words.is_some() && call.has_tool("search_memory") {
        let tool = call.listed("memory", "search_memory");
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

/// The note of an empty page, whose offset is beyond the last of `total` matches.
pub(super) fn past_the_end(offset: u64, total: u64) -> String {
    let matches = if total == 1 { "match" } else { "matches" };
    format!("`offset` {offset} is behind the last of {total} {matches}: begin with 0")
}

/// Returns the `ids` that no memory has, each with the id that was probably meant: the same id in
/// lower case, if a memory has it.
pub(super) fn unknown_ids(
    reader: &dyn Reader,
    ids: &[String],
) -> Result<Vec<(String, Option<String>)>, Error> {
    let mut unknown = Vec::new();
    for id in ids {
        if reader.has_id(id)? {
            continue;
        }
        let lower = id.trim().to_ascii_lowercase();
        let is_meant = reader.has_id(&lower)?;
        unknown.push((id.clone(), is_meant.then_some(lower)));
    }
    Ok(unknown)
}

/// The most ids that a warning names.
const MAX_NAMED: usize = 5;

/// The most characters of an id that a warning shows.
const MAX_ID: usize = 64;

pub(super) fn unknown_ids_warning(
    agent: &str,
    unknown: &[(String, Option<String>)],
) -> Option<String> {
    let shown =
        |id: &String| id.chars().take(MAX_ID).collect::<String>().escape_debug().to_string();
    let ids: Vec<String> = unknown.iter().map(|(id, _)| shown(id)).collect();
    let mut warning = match ids.len() {
        0 => return None,
        1 => format!("no memory of agent `{agent}` has the id `{}`", ids[0]),
        _ => format!("no memories of agent `{agent}` have the ids {}", listed(&ids, MAX_NAMED)),
    };
    let meant: Vec<&String> = unknown.iter().filter_map(|(_, meant)| meant.as_ref()).collect();
    if !meant.is_empty() {
        warning += &format!("; did you mean {}?", listed(&meant, MAX_NAMED));
    }
    Some(warning)
}
