//! The limit for lists in answers: clients cut or refuse a longer answer.

use serde::Serialize;

/// The most bytes of a list in an answer, as JSON.
pub(crate) const MAX_LIST_BYTES: usize = 100_000;

/// Keeps the first items of a list that fit in [`MAX_LIST_BYTES`], and at least one. Returns how many
/// it left out.
pub(crate) fn cut_list<T: Serialize>(items: &mut Vec<T>) -> usize {
    cut_list_to(MAX_LIST_BYTES, items)
}

/// As [`cut_list`], with a limit of `most` bytes.
pub(crate) fn cut_list_to<T: Serialize>(most: usize, items: &mut Vec<T>) -> usize {
    let mut bytes = 0;
    let fitting = items.iter().take_while(|item| {
        // Counts the comma after the item, too.
        bytes += serde_json::to_string(item).map_or(0, |json| json.len()) + 1;
        bytes <= most
    });
    let kept = fitting.count().max(1).min(items.len());
    let left_out = items.len() - kept;
    items.truncate(kept);
    left_out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_keeps_what_fits_and_at_least_one() {
        let cut = |most, mut items: Vec<&str>| (cut_list_to(most, &mut items), items.len());
        assert_eq!(cut(100, vec![]), (0, 0));
        assert_eq!(cut(10, vec!["ab", "ab"]), (0, 2));
        assert_eq!(cut(9, vec!["ab", "ab", "ab"]), (2, 1));
        // A quotation mark has two bytes in JSON.
        assert_eq!(cut(10, vec!["ab", "a\""]), (1, 1));
        assert_eq!(cut(1, vec!["long", "b"]), (1, 1));
    }
}
