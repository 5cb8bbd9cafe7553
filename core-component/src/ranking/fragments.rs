//! The parts of a search term by which an index of words finds the texts that contain the term.

use crate::words::{is_han, is_in_pairs, is_letter, plain};

/// A part of a term. In every text that contains the term, the part is inside one word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fragment {
    /// A word contains it.
    Part(String),
    /// A pair of neighbouring characters of Chinese, Japanese or Korean: it is a word.
    Pair(String),
}

/// The fragments of a case-folded term, in plain form.
///
/// A term may begin and end anywhere in a text. So a fragment has only characters whose plain form and
/// whose word do not depend on what stands around the term.
pub(crate) fn fragments(term: &str) -> Vec<Fragment> {
    let mut fragments = Vec::new();
    let mut rest = term;
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|character| !is_letter(character)).unwrap_or(rest.len());
        if end > 0 {
            fragments.extend(part_of(&rest[..end], end == rest.len()));
            rest = &rest[end..];
            continue;
        }
        let mut following = rest.chars();
        following.next();
        let after = following.as_str();
        let mut next = after.chars();
        if let Some(second) = next.next()
            && is_settled_pair(first, second, next.next())
        {
            fragments.push(Fragment::Pair([first, second].iter().collect()));
        }
        rest = after;
    }
    fragments
}

/// The part of letters. If they end the term, a mark may follow that makes another letter of the last.
fn part_of(letters: &str, ends_term: bool) -> Option<Fragment> {
    let mut part = plain(letters);
    if ends_term && part.ends_with(['и', 'у']) {
        part.pop();
    }
    (!part.is_empty()).then_some(Fragment::Part(part))
}

/// Whether two characters are a pair in every text: they are in plain form, whatever follows them.
fn is_settled_pair(first: char, second: char, next: Option<char>) -> bool {
    let may_compose = |character: char| match character {
        '\u{ac00}'..='\u{d7a3}' => (u32::from(character) - 0xac00).is_multiple_of(28),
        _ => !is_han(character),
    };
    let is_mark = |character: char| {
        matches!(
            character,
            '\u{1100}'..='\u{11ff}' | '\u{3099}' | '\u{309a}' | '\u{ff9e}' | '\u{ff9f}'
        )
    };
    let is_plain = |character: char| {
        is_in_pairs(character) && plain(character.encode_utf8(&mut [0; 4])) == character.to_string()
    };
    let is_settled = !may_compose(second) || next.is_some_and(|next| !is_mark(next));
    is_plain(first) && is_plain(second) && is_settled && !is_mark(first) && !is_mark(second)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranking::each_stem;
    use crate::words::fold;

    fn joined(term: &str) -> String {
        let one = |fragment| match fragment {
            Fragment::Part(part) => part,
            Fragment::Pair(pair) => format!("={pair}"),
        };
        fragments(term).into_iter().map(one).collect::<Vec<_>>().join("|")
    }

    #[test]
    fn a_term_is_divided_where_a_word_may_end() {
        for (term, expected) in [
            ("collision", "collision"),
            ("don't", "don|t"),
            ("v1.25", "v1|25"),
            ("höhe", "hohe"),
            ("cafe\u{301}s", "cafes"),
            ("a\u{200d}b\0c", "ab|c"),
            ("東京都x", "=東京|=京都|x"),
            ("データ", "=デー"),
            ("서울에서", "=서울|=울에"),
            ("россии", "росси"),
            ("ไทย", ""),
        ] {
            assert_eq!(joined(term), expected, "{term:?}");
        }
    }

    /// The promise of [`fragments`], for every term that occurs in texts of such characters.
    #[test]
    fn each_fragment_of_a_term_is_inside_a_word_of_every_text_with_the_term() {
        let alphabet: Vec<char> = "abB1é_'.,:-’\"·  \n\0ßאבكไทยก็नमस्ते東京ーカｱ가각ㄱ\u{301}\u{345}\u{200d}\u{ad}\
                                   \u{5f4}\u{600}\u{e33}\u{1100}\u{1161}\u{3099}\u{1f170}👩🇩🇪ο΄ς\u{2060}𛀀㋐\
                                   иуй\u{306}Ａ①ﬁｶﾞがか\u{309a}أ\u{654}ß㎒Жæ+#"
            .chars()
            .collect();
        let mut state = 1_u64;
        let mut below = |most: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as usize % most
        };
        let mut parts = 0;
        for _ in 0..8_000 {
            let length = 1 + below(12);
            let text: String = (0..length).map(|_| alphabet[below(alphabet.len())]).collect();
            let mut found = Vec::new();
            each_stem(&text, |word, _| found.push(word.to_owned()));
            let text = fold(&text);
            let bounds: Vec<usize> =
                text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
            let (start, end) = (below(bounds.len()), below(bounds.len()));
            let term = &text[bounds[start.min(end)]..bounds[start.max(end)]];
            for fragment in fragments(term) {
                let is_there = match &fragment {
                    Fragment::Pair(pair) => found.contains(pair),
                    // A shorter part does not constrain a search.
                    Fragment::Part(part) if part.chars().count() < 2 => continue,
                    Fragment::Part(part) => found.iter().any(|word| word.contains(part.as_str())),
                };
                parts += 1;
                assert!(is_there, "{fragment:?} of {term:?} in {text:?}, with {found:?}");
            }
        }
        assert!(parts > 1_000, "{parts}");
    }
}
