//! Pages of a document: the parts in which a caller reads a long document.

use std::ops::Range;

use crate::markdown::{BlockKind, Outline};
use crate::text::{line_start, lines};

/// The end of the page that begins at `range.start` and has at most `limit` characters of the range.
///
/// The end is in the second half of the page, at the last place of the best kind that exists there: the
/// start of a block that does not follow a heading, else the start of a line, else any character.
pub(crate) fn page_end(outline: &Outline<'_>, range: &Range<usize>, limit: usize) -> usize {
    let source = outline.source;
    let text = &outline.source[range.clone()];
    let offset = |characters| text.char_indices().nth(characters).map(|(at, _)| range.start + at);
    let Some(most) = offset(limit) else { return range.end };
    let least = offset(limit / 2).unwrap_or(most);
    let fits = |at: &usize| (least + 1..=most).contains(at);
    let pairs = outline.blocks.windows(2);
    let apart = pairs.filter(|pair| !matches!(pair[0].kind, BlockKind::Heading { .. }));
    let block = apart.map(|pair| line_start(source, pair[1].range.start)).rfind(fits);
    let line =
        lines(text).map(|(at, _)| range.start + at).filter(fits).fold(None, |_, at| Some(at));
    block.or(line).unwrap_or(most)
}

/// How many characters behind a page are parsed to find where it ends.
const LOOKAHEAD: usize = 1_000;

/// The end of the page that begins at `begin` and has at most `limit` characters, without parsing more
/// of the text than the page and some characters after it.
pub(crate) fn page_end_in(text: &str, begin: usize, limit: usize) -> usize {
    let rest = &text[begin..];
    let offset = |characters| rest.char_indices().nth(characters).map(|(at, _)| at);
    if offset(limit).is_none() {
        return text.len();
    }
    let window = offset(limit.saturating_add(LOOKAHEAD)).unwrap_or(rest.len());
    begin + page_end(&Outline::parse(&rest[..window]), &(0..window), limit)
}

/// A page of a text. `next` is the number of characters before the next page, if there is one.
pub(crate) struct Page<'t> {
    pub text: &'t str,
    pub next: Option<usize>,
}

/// The page of a text that begins after `from` characters and has at most `limit`. `None` if `from` is
/// not 0 and the text has no character after it.
pub(crate) fn page(text: &str, from: usize, limit: usize) -> Option<Page<'_>> {
    let begin = text.char_indices().nth(from).map_or(text.len(), |(at, _)| at);
    if from > 0 && begin == text.len() {
        return None;
    }
    let end = page_end_in(text, begin, limit);
    let next = (end < text.len()).then(|| count(&text[..end]));
    Some(Page { text: &text[begin..end], next })
}

/// The number of characters (`char`) of a text. Offsets of pages are counted in characters.
pub(crate) fn count(text: &str) -> usize {
    text.chars().count()
}

/// The values that the argument `from` takes, in words.
pub(crate) const FROM_ACCEPTED: &str = "`next` of the page before";

/// The values that the argument `cursor` takes, in words.
pub(crate) const CURSOR_ACCEPTED: &str = "the cursor of the last page";

/// The message for a cursor that no earlier page returned.
pub(crate) fn invalid_cursor_message(cursor: &str) -> String {
    format!("`cursor` `{cursor}` was not returned by an earlier page: start again without a cursor")
}

/// The message for a page that would begin behind the text.
pub(crate) fn past_the_end(from: usize, end: usize) -> String {
    format!("`from` is {from}, but the text ends at {end}: read from its start")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_ends_at_a_block_else_at_a_line_else_anywhere() {
        for (text, limit, page) in [
            ("all of it\n", 10, "all of it\n"),
            ("one\n\ntwo\n\nthree\n", 12, "one\n\ntwo\n\n"),
            // No heading is left alone at the end.
            ("one\n\ntwo\n\n## A\n\nx\n", 17, "one\n\ntwo\n\n"),
            ("- one\n- two\n- three\n", 13, "- one\n- two\n"),
            ("one\n\n- a\n- b\n- c\n- d\n- e\n", 20, "one\n\n- a\n- b\n- c\n"),
            ("été très long", 5, "été t"),
            ("a\r\nb\r\nc", 5, "a\r\n"),
        ] {
            let end = page_end(&Outline::parse(text), &(0..text.len()), limit);
            assert_eq!(&text[..end], page, "{text:?}");
        }
    }

    #[test]
    fn a_page_of_a_long_text_ends_at_a_block() {
        let text = "one\n\ntwo\n\n".repeat(1_000);
        assert_eq!(page_end_in(&text, 0, 12), 10);
        assert_eq!(page_end_in(&text, 10, usize::MAX), text.len());
        assert_eq!(page_end_in(&text, text.len() - 5, 12), text.len());
    }

    #[test]
    fn pages_lose_nothing_and_are_as_long_as_the_limit_says() {
        let text = "# t\n\n## A\n\npara\ngraph\n\n- é\n- \u{1d4b3}\n\n```\ncode\n```\n".repeat(7);
        let outline = Outline::parse(&text);
        for limit in 1..80 {
            let mut at = 0;
            let mut pages = Vec::new();
            while at < text.len() {
                let end = page_end(&outline, &(at..text.len()), limit);
                pages.push(&text[at..end]);
                at = end;
            }
            assert_eq!(pages.concat(), text);
            assert!(pages.iter().all(|page| (1..=limit).contains(&page.chars().count())));
        }
    }
}
