//! The warning about documents without a date, which a search between dates leaves out.

use super::skipped::name;
use crate::listing::first_of;
use crate::source::{Owner, Request, Undated};

/// The maximum number of documents that the warning names.
const MAX_NAMED: usize = 10;

/// Says which documents were left out, and how to find them. `None` if there are none.
pub(super) fn without_date(
    request: &Request,
    owners: &[(Owner, u64)],
    undated: &[Undated],
) -> Option<String> {
    if undated.is_empty() {
        return None;
    }
    // Sorted, because a search reads documents that are not in the index last: the warning should
    // not depend on the index.
    let mut undated: Vec<&Undated> = undated.iter().collect();
    undated.sort_by_key(|one| (one.owner, &one.path));
    let named = undated
        .iter()
        .map(|Undated { owner, path }| format!("`{path}` of {}", name(&owners[*owner].0)));
    let names = first_of(named, MAX_NAMED);
    let (count, have, them) = match undated.len() {
        1 => ("1 document".to_owned(), "has", "it"),
        many => (format!("{many} documents"), "have", "them"),
    };
    let with_words = if request.is_for_newest() { "" } else { " with words of the query" };
    Some(format!(
        "{count}{with_words} {have} no date, so `from_date` and `to_date` leave {them} \
         out: {names}; search without dates to find {them}"
    ))
}
