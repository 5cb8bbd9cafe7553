//! The work of finding the stems of a text.

use super::stems::is_in_pairs;
use crate::words::is_never_divided;

/// The work for a byte of a text that is not ASCII: the text is folded first.
const FOLDED: u64 = 6;
/// The work for a byte of a character that is in a pair.
const PAIRED: u64 = 5;
/// The work for a byte of any other character: the boundaries of words are looked up around it.
const DIVIDED: u64 = 30;

/// The most work for a byte of any text.
pub(crate) const MAX_COST: u64 = DIVIDED;

/// The work of finding the stems of a text, in bytes of ASCII.
///
/// It is counted and not timed, so that a search ends at the same text on every host.
pub(crate) fn cost(text: &str) -> u64 {
    if text.is_ascii() {
        return text.len() as u64;
    }
    text.chars().map(|character| character.len_utf8() as u64 * of_byte(character)).sum()
}

fn of_byte(character: char) -> u64 {
    if character.is_ascii() || is_never_divided(character) {
        FOLDED
    } else if is_in_pairs(character) {
        PAIRED
    } else {
        DIVIDED
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_costs_more_the_harder_its_words_are_to_find() {
        for (text, expected) in
            [("", 0), ("two words", 9), ("été", 30), ("слово", 60), ("東京", 30), ("ไทย", 270)]
        {
            assert_eq!(cost(text), expected, "{text}");
        }
        assert!("ﬁé東ไ—😀".chars().all(|character| of_byte(character) <= MAX_COST));
    }
}
