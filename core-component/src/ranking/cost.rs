//! The work of finding the stems of a text.

use crate::words::{is_in_pairs, is_letter, is_of_syllable};

/// The work for a byte of a letter whose plain form needs a look-up.
const FOLDED: u64 = 6;
/// The work for a byte of a character of a script that is indexed in pairs, such as Chinese, and for a
/// byte of ASCII in a word with other characters.
const PAIRED: u64 = 5;
/// The work for a byte of any other character, which needs Unicode normalisation.
const NORMALISED: u64 = 30;

/// The most work for a byte of any text.
pub(crate) const MAX_COST: u64 = NORMALISED;

/// The work of finding the stems of a text, in bytes of ASCII.
///
/// It is counted and not timed, so that a search ends at the same text on every host.
pub(crate) fn cost(text: &str) -> u64 {
    if text.is_ascii() {
        return text.len() as u64;
    }
    text.split_inclusive(|c: char| c.is_ascii_whitespace()).map(of_part).sum()
}

/// The work for a part of a text between two spaces.
fn of_part(part: &str) -> u64 {
    let of_ascii = if part.is_ascii() { 1 } else { PAIRED };
    let of_byte = |character: char| match character {
        _ if character.is_ascii() => of_ascii,
        _ if is_letter(character) => FOLDED,
        _ if is_in_pairs(character) || is_of_syllable(character) => PAIRED,
        _ => NORMALISED,
    };
    part.chars().map(|character| character.len_utf8() as u64 * of_byte(character)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_costs_more_the_harder_its_words_are_to_find() {
        for (text, expected) in [
            ("", 0),
            ("two words", 9),
            ("été", 29),
            ("(été) ", 44),
            ("слово", 60),
            ("東京", 30),
            ("ไทย", 45),
            ("dash — dash", 5 + 95 + 4),
            ("dash—dash", 20 + 90 + 20),
        ] {
            assert_eq!(cost(text), expected, "{text}");
        }
        for character in ["ﬁ", "é", "東", "ไ", "—", "😀", "a"] {
            assert!(cost(character) <= MAX_COST * character.len() as u64, "{character}");
        }
    }
}
