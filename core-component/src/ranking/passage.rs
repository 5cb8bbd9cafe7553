//! The passage of a text that a query matches best.

use std::mem::replace;
use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::language::Language;
use super::query::Query;

/// A text longer than `TWO_PARTS` is first cut into parts of about this many bytes. Only two of the
/// parts are searched word by word.
const PART: usize = 8 << 10;
const TWO_PARTS: usize = 2 * PART;

/// A passage of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Passage {
    /// The text of the passage, with `…` where text is left out.
    pub shown: String,
    /// The offset in the text at which the passage begins, in bytes.
    pub start: usize,
}

/// A passage of at most `most` characters: the whole text, or the part with most of the query's
/// terms, cut between words.
pub(crate) fn passage(text: &str, query: &Query, most: usize) -> Passage {
    let begin = text.len() - text.trim_start().len();
    let whole = text.trim();
    let language = Language::detect(text, query.usual());
    let part = match whole.len() {
        ..=TWO_PARTS => 0..whole.len(),
        _ => telling_part(whole, language, query),
    };
    let signs = usize::from(part.start > 0) + usize::from(part.end < whole.len());
    let range = passage_of(&whole[part.clone()], language, query, most.saturating_sub(signs));
    let start = part.start + range.start;
    let end = part.start + range.end;
    let sign = |is_cut: bool| if is_cut { "…" } else { "" };
    let before = sign(start > 0);
    let after = sign(end < whole.len());
    let shown = format!("{before}{}{after}", whole[start..end].trim());
    Passage { shown, start: begin + start }
}

/// The two neighbouring parts of a long text with the most terms of the query, the first two among
/// equals. Words of the thesaurus count only if the numbers of own terms are equal.
fn telling_part(text: &str, language: Language, query: &Query) -> Range<usize> {
    let mut bounds = vec![0];
    while let Some(last) = bounds.last().copied().filter(|last| text.len() - last > TWO_PARTS) {
        let end = text.floor_char_boundary(last + PART);
        let space = text[last..end].rfind(char::is_whitespace).map(|at| last + at);
        bounds.push(space.filter(|at| *at > last).unwrap_or(end));
    }
    bounds.push(text.len());
    let parts: Vec<Vec<bool>> =
        bounds.windows(2).map(|at| query.which(language, &text[at[0]..at[1]])).collect();
    let terms = |at: usize| {
        let has = |term: usize| (at..=at + 1).filter_map(|at| parts.get(at)).any(|part| part[term]);
        let count = |terms: Range<usize>| terms.filter(|term| has(*term)).count();
        (count(0..query.own_terms()), count(query.own_terms()..query.terms().len()))
    };
    let first = (0..parts.len()).rev().max_by_key(|at| terms(*at)).unwrap_or_default();
    bounds[first]..bounds[(first + 2).min(parts.len())]
}

/// The range of a passage of at most `most` characters. If it is not the whole text, it leaves room for
/// an `…` at each end.
fn passage_of(text: &str, language: Language, query: &Query, most: usize) -> Range<usize> {
    let characters: Vec<usize> =
        text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
    if characters.len() - 1 <= most {
        return 0..text.len();
    }
    let number = |at: usize| characters.partition_point(|character| *character < at);
    // A passage begins a fifth of its length before its first match.
    let back = |at: usize| characters[number(at).saturating_sub(most / 5)];
    let forth = |at: usize| characters[(number(at) + most - 2).min(characters.len() - 1)];
    let bounds: Vec<usize> =
        text.split_word_bound_indices().map(|(at, _)| at).chain([text.len()]).collect();
    let starts = matches(text, &bounds, language, query);
    let start = best(&starts, query, back, forth);
    let end = forth(start);
    let is_bound = |at: &&usize| text[..**at].ends_with(char::is_whitespace) || **at == 0;
    let cut_start = bounds.iter().find(|at| **at >= start && is_bound(at));
    let start = cut_start.copied().filter(|at| *at < end).unwrap_or(start);
    let ends = bounds.iter().rev().find(|at| **at <= end && **at > start);
    start..ends.copied().unwrap_or(end)
}

/// Where a text has a term of the query.
struct Match {
    /// The bytes of the two segments that have the term.
    range: Range<usize>,
    /// The index of the term.
    term: usize,
}

/// The matches between the boundaries of words. Looks at two segments at a time, because in a script
/// without spaces a term is a pair of characters.
fn matches(text: &str, bounds: &[usize], language: Language, query: &Query) -> Vec<Match> {
    let matches = bounds.windows(3).filter_map(|at| {
        let term = query.first_in(language, &text[at[0]..at[2]])?;
        Some(Match { range: at[0]..at[2], term })
    });
    matches.collect()
}

/// The sum of the shares of all matches of a term.
const SHARE: u64 = 1 << 20;

/// The start of the passage with the most terms. Each match is tried as the first of a passage. Words of
/// the thesaurus count only if the numbers of own terms are equal. Among equals, the passage with the
/// greatest sum of shares is taken, then the first one. So a passage shows both places of a rare term.
fn best(
    matches: &[Match],
    query: &Query,
    back: impl Fn(usize) -> usize,
    forth: impl Fn(usize) -> usize,
) -> usize {
    let mut in_text = vec![0_u64; query.terms().len()];
    matches.iter().for_each(|found| in_text[found.term] += 1);
    let mut is_counted = vec![false; in_text.len()];
    let mut most = (0, 0, 0);
    let mut best = matches.first().map_or(0, |found| back(found.range.start));
    let mut first = 0;
    for Match { range, .. } in matches {
        let start = back(range.start);
        let end = forth(start);
        first += matches[first..].partition_point(|found| found.range.start < start);
        let begun = matches[first..].iter().take_while(|found| found.range.start < end);
        let whole = begun.filter(|found| found.range.end <= end);
        // The distinct own terms, those of the thesaurus, and the shares of own terms.
        let mut value = (0, 0, 0);
        for Match { term, .. } in whole.clone() {
            let is_own = *term < query.own_terms();
            let is_new = !replace(&mut is_counted[*term], true);
            value.0 += u64::from(is_new && is_own);
            value.1 += u64::from(is_new && !is_own);
            value.2 += if is_own { SHARE / in_text[*term] } else { 0 };
        }
        whole.for_each(|found| is_counted[found.term] = false);
        if value > most {
            (most, best) = (value, start);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, query: &Query, most: usize) -> String {
        passage(text, query, most).shown
    }

    #[test]
    fn a_passage_says_where_it_begins() {
        let text = format!("\n {} red kite {}", "word ".repeat(9_000), "word ".repeat(9_000));
        let Passage { shown, start } = passage(&text, &Query::in_english("red kites"), 60);
        let begin = shown.trim_matches('…');
        assert!(text[start..].starts_with(begin) && begin.contains("red kite"), "{shown}");
    }

    #[test]
    fn a_short_text_is_the_whole_shown() {
        assert_eq!(shown(" short text\n", &Query::in_english("none"), 20), "short text");
    }

    #[test]
    fn a_long_text_is_cut_between_words_around_its_matches() {
        let filler = "word ".repeat(100);
        let text = format!("{filler}the red kite flew over a house {filler}");
        let found = shown(&text, &Query::in_english("kites flying houses red"), 60);
        assert!(found.contains("red kite flew over a house"), "{found}");
        assert!(found.starts_with("…word") && found.ends_with('…'), "{found}");
        assert!(found.chars().count() <= 60, "{found}");
    }

    #[test]
    fn the_first_part_with_the_most_terms_is_chosen() {
        let gap = "word ".repeat(40);
        let text = format!("red {gap}red kite {gap}kite red {gap}red");
        let found = shown(&text, &Query::in_english("red kites"), 60);
        assert!(found.contains("red kite") && !found.contains("kite red"), "{found}");
    }

    #[test]
    fn a_passage_is_where_a_rare_term_comes_again() {
        let part = |number: usize| {
            format!("Part {number}\n\nThe port of service {number} is 80{number}.\n\n")
        };
        let text: String = (10..60).map(part).collect();
        let found = shown(&text, &Query::in_english("port of service 37"), 120);
        assert!(found.contains("service 37 is 8037"), "{found}");
    }

    #[test]
    fn words_of_the_thesaurus_choose_a_passage_where_no_word_of_the_query_is() {
        let gap = "word ".repeat(40);
        let query = Query::in_english("doctors").with_thesaurus();
        let text = format!("first {gap}a physician came {gap}last");
        assert!(shown(&text, &query, 60).contains("a physician came"));
        let text = format!("a physician and his vaccine {gap}the doctor came {gap}last");
        assert!(shown(&text, &query, 60).contains("the doctor came"));
    }

    #[test]
    fn the_passage_of_a_very_long_text_is_found_in_its_parts() {
        for word in ["word ", "пример "] {
            let filler = word.repeat(2_000);
            for times in 0..5 {
                let before = filler.repeat(times);
                let text = format!("{before}red {filler}red kite {}", filler.repeat(5 - times));
                let found = shown(&text, &Query::in_english("red kites"), 60);
                assert!(found.contains("red kite"), "{times}: {found}");
                assert!(found.starts_with('…') && found.ends_with('…'), "{found}");
                assert!(found.chars().count() <= 60, "{found}");
            }
        }
        let unbroken = "ä".repeat(40_000) + "東京都庁" + &"ä".repeat(40_000);
        assert!(shown(&unbroken, &Query::in_english("東京都"), 40).contains("東京都"));
    }

    #[test]
    fn a_text_without_a_match_begins_at_its_beginning() {
        let text = "ä".repeat(30) + " " + &"word ".repeat(30);
        let found = shown(&text, &Query::in_english("none"), 50);
        assert!(found.starts_with('ä') && found.ends_with("word…"), "{found}");
    }

    #[test]
    fn scripts_without_spaces_are_cut_too() {
        let text = "私は昨日".repeat(50) + "東京都庁へ行きました" + &"私は昨日".repeat(50);
        let found = shown(&text, &Query::in_english("東京都"), 40);
        assert!(found.contains("東京都庁"), "{found}");
        assert!(found.chars().count() <= 40, "{found}");
    }
}
