//! The parts of a search term by which an index of words finds the texts that contain the term.

use super::stems::is_in_pairs;
use crate::words::words;

/// A part of a term. In every text that contains the term, the part is inside one word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fragment {
    /// A word contains it.
    Part(String),
    /// A pair of neighbouring characters of Chinese, Japanese or Korean: it is a word.
    Pair(String),
}

/// The fragments of a case-folded term.
///
/// The boundaries of words depend on what stands around them, and a term may begin and end anywhere
/// in a text. So a part only goes on where the two characters are never divided.
pub(crate) fn fragments(term: &str) -> Vec<Fragment> {
    let mut fragments = Vec::new();
    let mut part = String::new();
    let mut characters = term.chars().peekable();
    while let Some(character) = characters.next() {
        part.push(character);
        let next = characters.peek().copied();
        if let Some(next) = next.filter(|next| is_in_pairs(character) && is_in_pairs(*next)) {
            fragments.push(Fragment::Pair([character, next].iter().collect()));
        }
        if !next.is_some_and(|next| are_joined(character, next)) {
            fragments.push(Fragment::Part(std::mem::take(&mut part)));
        }
    }
    fragments
}

/// Whether two neighbouring characters are in one word of every text. If they are one word by
/// themselves, no rule of Unicode (UAX #29) divides them beside others.
fn are_joined(first: char, second: char) -> bool {
    if first.is_ascii_alphanumeric() && second.is_ascii_alphanumeric() {
        return true;
    }
    let both = String::from_iter([first, second]);
    !is_in_pairs(first) && !is_in_pairs(second) && words(&both) == [both]
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
            ("don't", "don|'|t"),
            ("v1.25", "v1|.|25"),
            ("höhe", "höhe"),
            ("cafe\u{301}s", "cafe\u{301}|s"),
            ("a\u{200d}b\0c", "a\u{200d}|b|\0|c"),
            ("東京都x", "=東京|東|=京都|京|都|x"),
        ] {
            assert_eq!(joined(term), expected, "{term:?}");
        }
    }

    /// The promise of [`fragments`], for every term that occurs in texts of such characters.
    #[test]
    fn each_fragment_of_a_term_is_inside_a_word_of_every_text_with_the_term() {
        let alphabet: Vec<char> = "ab1é_'.,:-’\"·  \n\0ßאבكไทยก็नमस्ते東京ーカｱ가각ㄱ\u{301}\u{345}\u{200d}\u{ad}\
                                   \u{5f4}\u{600}\u{e33}\u{1100}\u{1161}\u{3099}\u{1f170}👩🇩🇪ο΄ς\u{2060}𛀀㋐"
            .chars()
            .collect();
        let mut state = 1_u64;
        let mut below = |most: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as usize % most
        };
        let mut parts = 0;
        for _ in 0..6_000 {
            let length = 1 + below(12);
            let text: String = (0..length).map(|_| alphabet[below(alphabet.len())]).collect();
            let text = fold(&text);
            let mut found = Vec::new();
            each_stem(&text, |word, _| found.push(word.to_owned()));
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
