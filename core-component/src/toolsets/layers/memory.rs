//! The entries of the layers, as callers get them.
//!
//! A moment is null if the database has none that can be read: other programs write to it, too.

use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::cut_list;
use crate::time::Timestamp;

/// A core or a recent memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Memory {
    pub id: i64,
    pub memory: String,
    pub created_at: Option<Timestamp>,
}

/// A page of memories.
pub(super) struct Page {
    pub memories: Vec<Memory>,
    /// The id of the first memory of the next page. `None` on the last page.
    pub next: Option<i64>,
}

/// The first page of these memories: at most `limit` memories, and only as many as fit in an
/// answer.
pub(super) fn page(mut memories: Vec<Memory>, limit: u32) -> Page {
    let ids: Vec<i64> = memories.iter().map(|memory| memory.id).collect();
    memories.truncate(limit as usize);
    cut_list(&mut memories);
    Page { next: ids.get(memories.len()).copied(), memories }
}

/// An episodic memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Episode {
    pub id: i64,
    pub memory: String,
    pub tags: Vec<String>,
    pub created_at: Option<Timestamp>,
}

/// A summary of what was recent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Compost {
    pub id: i64,
    pub summary: String,
    /// How many memories it sums up.
    pub original_count: i64,
    pub archived_at: Option<Timestamp>,
}

/// The current task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Task {
    pub task: String,
    pub started_at: Option<Timestamp>,
    pub updated_at: Option<Timestamp>,
}

/// How many memories there are in each layer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub core: i64,
    pub recent: i64,
    pub episodic: i64,
    pub compost: i64,
}

/// A moment as the columns of spec 002 have it: `YYYY-MM-DD HH:MM:SS` in UTC.
pub(super) fn column_text(moment: Timestamp) -> String {
    let text = moment.to_string();
    format!("{} {}", &text[..10], &text[11..19])
}

/// A moment without the fraction of its second, as a column would hold it.
pub(super) fn cut_to_seconds(moment: Timestamp) -> Timestamp {
    Timestamp::parse_stored(&column_text(moment)).unwrap_or(moment)
}

/// The warning about memories without a readable date, which a search between dates leaves out.
/// `None` if there are none. `one` and `several` are the nouns for the memories.
pub(super) fn undated_warning(count: usize, one: &str, several: &str) -> Option<String> {
    let (memories, them) = match count {
        0 => return None,
        1 => (format!("1 {one} has"), "it"),
        _ => (format!("{count} {several} have"), "them"),
    };
    Some(format!(
        "{memories} no date that can be read, so `from_date` and `to_date` leave {them} out: search \
         without dates to find {them}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_holds_whole_seconds_in_utc() {
        let moment = Timestamp::parse("2025-01-20T10:00:59.999+02:00").expect("a moment");
        assert_eq!(column_text(moment), "2025-01-20 08:00:59");
        assert_eq!(cut_to_seconds(moment).to_string(), "2025-01-20T08:00:59.000Z");
    }
}
