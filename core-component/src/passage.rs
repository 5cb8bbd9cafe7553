//! Replacing one passage of a text by another, so that a caller need not send the whole text.

use std::ops::Range;

use unicode_segmentation::GraphemeCursor;

use crate::text::normalise_line_ends;

/// The error for a passage that does not occur exactly once: how often it occurs.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Occurrences(pub usize);

impl Occurrences {
    /// The message for the caller. `place` is the text that was looked through, such as `section `A``,
    /// and `tool` is the tool that reads it.
    pub fn message(&self, place: &str, tool: &str) -> String {
        match self.0 {
            0 => format!(
                "`old_text` does not occur in {place}: read it with `{tool}`, and copy the passage \
                 exactly, with its spaces and line breaks"
            ),
            count => format!(
                "`old_text` occurs {count} times in {place}: give more of the text around the \
                 passage, so that it occurs once"
            ),
        }
    }
}

/// The text with `old`, which has to occur exactly once, replaced by `new`. A line feed in `old`
/// stands for any line end in the text. All other bytes stay as they are.
///
/// # Errors
///
/// How often `old` occurs, if that is not once.
pub(crate) fn replace_passage(text: &str, old: &str, new: &str) -> Result<String, Occurrences> {
    let searched = normalise_line_ends(text);
    let starts: Vec<usize> = occurrences(&searched, old).collect();
    let [start] = starts[..] else { return Err(Occurrences(starts.len())) };
    let Range { start, end } = original_range(text, start, old);
    Ok([&text[..start], new, &text[end..]].concat())
}

/// The ranges of the first `most` occurrences of `old` in `text`. Includes occurrences that overlap,
/// and those that separate a letter from its combining marks. A line feed in `old` stands for any line
/// end, as in [`replace_passage`].
pub(crate) fn passages(text: &str, old: &str, most: usize) -> Vec<Range<usize>> {
    let searched = normalise_line_ends(text);
    let starts = starts_of(&searched, old).take(most);
    starts.map(|start| original_range(text, start, old)).collect()
}

fn original_range(text: &str, start: usize, passage: &str) -> Range<usize> {
    original_offset(text, start)..original_offset(text, start + passage.len())
}

/// The offsets at which a passage occurs, also of occurrences that overlap. Leaves out occurrences that
/// separate a letter from its combining marks.
fn occurrences(text: &str, passage: &str) -> impl Iterator<Item = usize> {
    starts_of(text, passage).filter(move |at| {
        let end = at + passage.len();
        is_between_letters(text, *at) && is_between_letters(text, end)
    })
}

fn starts_of(text: &str, passage: &str) -> impl Iterator<Item = usize> {
    let starts = text.char_indices().map(|(at, _)| at);
    starts.filter(move |at| text[*at..].starts_with(passage))
}

fn is_between_letters(text: &str, at: usize) -> bool {
    GraphemeCursor::new(at, text.len(), true).is_boundary(text, 0) == Ok(true)
}

/// Converts an offset in the text with normalised line ends to the offset in the original text.
fn original_offset(text: &str, offset: usize) -> usize {
    let mut at = 0;
    for _ in 0..offset {
        at += if text.as_bytes()[at..].starts_with(b"\r\n") { 2 } else { 1 };
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_passage_is_replaced_and_all_other_bytes_stay() {
        for (text, old, new, after) in [
            ("one two three", "two", "2", "one 2 three"),
            ("one two", " two", "", "one"),
            ("a\r\nb\r\nc\r\n", "b\nc", "x", "a\r\nx\r\n"),
            ("a\rb\n\u{e9}", "b\n\u{e9}", "x", "a\rx"),
            ("cafe\u{301} cafe", "cafe", "bar", "cafe\u{301} bar"),
        ] {
            assert_eq!(replace_passage(text, old, new).as_deref(), Ok(after), "{text:?}");
        }
    }

    #[test]
    fn a_text_is_found_as_it_is_also_where_it_cuts_a_letter() {
        for (text, old, found) in [
            ("हिन्दी", "हिन्", &[(0, 12)][..]),
            ("cafe\u{301}", "\u{301}", &[(4, 6)][..]),
            ("cafe\u{301} cafe", "cafe", &[(0, 4), (7, 11)][..]),
            ("a\r\nb\r\n", "\nb\n", &[(1, 6)][..]),
            ("aaa", "aa", &[(0, 2), (1, 3)][..]),
        ] {
            let passages = passages(text, old, 9).into_iter().map(|range| (range.start, range.end));
            assert_eq!(passages.collect::<Vec<_>>(), found, "{text:?}");
        }
    }

    #[test]
    fn a_passage_that_does_not_occur_once_is_counted() {
        for (text, old, count) in
            [("abc", "d", 0), ("a b a", "a", 2), ("aaa", "aa", 2), ("", "a", 0), ("A", "a", 0)]
        {
            assert_eq!(replace_passage(text, old, "x"), Err(Occurrences(count)), "{text:?}");
        }
    }
}
