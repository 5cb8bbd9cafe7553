//! The plain form of a text: two spellings that a reader takes for the same have the same plain
//! form.
//!
//! The plain form is case-folded and normalised (NFKC), and has no marks on letters of Latin,
//! Greek, Cyrillic, Hebrew and Arabic: `résumé` is `resume`, `Łódź` is `lodz`, `ＡＰＩ` is `api`.
//! Marks that make a different letter stay: the signs of Indic scripts, and the marks of `ガ` and
//! `й`.

use icu_casemap::CaseMapper;
use icu_normalizer::properties::{
    CanonicalCombiningClassMapBorrowed, CanonicalDecompositionBorrowed, Decomposed,
};
use icu_normalizer::{ComposingNormalizerBorrowed, DecomposingNormalizerBorrowed};

use super::fold::case_fold;

/// Returns the plain form of a text.
pub(crate) fn plain(text: &str) -> String {
    Plain::new(text).text
}

/// A plain form, with the offsets at which the words of a compound such as `getUserName` meet.
pub(super) struct Plain {
    pub text: String,
    /// Offsets in `text`, ascending.
    pub joints: Vec<usize>,
}

impl Plain {
    pub fn new(text: &str) -> Self {
        let mut plain = Self { text: String::with_capacity(text.len()), joints: Vec::new() };
        let mut rest = text;
        let mut before = None;
        while let Some(character) = rest.chars().next() {
            let mut following = rest.chars();
            following.next();
            let next = following.as_str();
            if is_joint(before, character, next.chars().next()) {
                plain.joints.push(plain.text.len());
            }
            before = Some(character);
            if plain.push_simple(character, next) {
                rest = next;
                continue;
            }
            let end = rest.find(is_simple).unwrap_or(rest.len());
            // The first character may be simple by itself, but compose with the next character.
            let end = end.max(character.len_utf8());
            let end = end + rest[end..].find(is_simple).unwrap_or(rest.len() - end);
            plain.push_other(&rest[..end]);
            before = rest[..end].chars().next_back();
            rest = &rest[end..];
        }
        plain
    }

    /// Adds the plain form of a character and returns true. Returns false if the plain form may
    /// depend on the characters that follow.
    fn push_simple(&mut self, character: char, next: &str) -> bool {
        match character {
            '\0'..='\x7f' => self.text.push(character.to_ascii_lowercase()),
            'а'..='я' => self.text.push(character),
            _ if is_dropped(character) => self.push_mark(character),
            _ if is_of_simple_script(character) => self.push_letter(character),
            _ if !is_simple(character) || next.starts_with(|next| !is_simple(next)) => {
                return false;
            }
            _ => self.text.push(character),
        }
        true
    }

    /// Drops a mark, except the breve that makes `й` of `и`, and `ў` of `у`.
    fn push_mark(&mut self, mark: char) {
        let composed = match self.text.chars().next_back() {
            Some('и') if mark == BREVE => 'й',
            Some('у') if mark == BREVE => 'ў',
            _ => return,
        };
        self.text.pop();
        self.text.push(composed);
    }

    /// Adds a letter of Latin, Greek, Cyrillic, Hebrew or Arabic without its marks.
    fn push_letter(&mut self, letter: char) {
        let mapper = CaseMapper::new();
        let decomposition = CanonicalDecompositionBorrowed::new();
        let mut letter = mapper.simple_fold(letter);
        loop {
            let other = match decomposition.decompose(letter) {
                Decomposed::Expansion('и' | 'у', BREVE) | Decomposed::Default => break,
                Decomposed::Singleton(other) | Decomposed::Expansion(other, _) => other,
            };
            letter = mapper.simple_fold(other);
        }
        match letter_of(letter) {
            "" => self.text.push(letter),
            letters => self.text += letters,
        }
    }

    /// Adds the plain form of characters that are to be normalised together.
    fn push_other(&mut self, text: &str) {
        let decompose =
            |text: &str| DecomposingNormalizerBorrowed::new_nfkd().normalize(text).into_owned();
        // Folds again: a compatibility character such as `㎒` decomposes to upper-case letters.
        let decomposed = decompose(&case_fold(&decompose(&case_fold(text))));
        let mut other = Self { text: String::with_capacity(text.len()), joints: Vec::new() };
        for character in decomposed.chars() {
            match character {
                _ if is_dropped(character) => other.push_mark(character),
                _ if is_of_simple_script(character) => other.push_letter(character),
                _ => other.text.push(character),
            }
        }
        self.text += &ComposingNormalizerBorrowed::new_nfc().normalize(&other.text);
    }
}

/// The combining breve, the mark of `й`.
const BREVE: char = '\u{306}';

/// Returns the usual transcription of a letter that Unicode does not decompose. Empty for all other
/// letters.
fn letter_of(letter: char) -> &'static str {
    match letter {
        'ß' | 'ẞ' => "ss",
        'æ' => "ae",
        'œ' => "oe",
        'ø' => "o",
        'ł' => "l",
        'đ' | 'ð' => "d",
        'þ' => "th",
        'ħ' => "h",
        'ŧ' => "t",
        'ı' => "i",
        _ => "",
    }
}

/// Whether the plain form leaves a character out: a mark on a letter, a point of Hebrew or Arabic,
/// or an invisible character.
fn is_dropped(character: char) -> bool {
    matches!(
        character,
        '\u{ad}'
            | '\u{300}'..='\u{344}'
            | '\u{346}'..='\u{36f}'
            | '\u{591}'..='\u{5bd}'
            | '\u{5bf}'
            | '\u{5c1}'..='\u{5c2}'
            | '\u{5c4}'..='\u{5c5}'
            | '\u{5c7}'
            | '\u{640}'
            | '\u{64b}'..='\u{65f}'
            | '\u{670}'
            | '\u{6d6}'..='\u{6dc}'
            | '\u{1ab0}'..='\u{1aff}'
            | '\u{1dc0}'..='\u{1dff}'
            | '\u{200c}'..='\u{200d}'
            | '\u{2060}'
            | '\u{20d0}'..='\u{20f0}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{fe20}'..='\u{fe2f}'
            | '\u{feff}'
    )
}

/// Whether [`Plain::push_letter`] takes a character: one that folds to one letter, perhaps with
/// marks.
fn is_of_simple_script(character: char) -> bool {
    match character {
        '×' | '÷' | '\u{132}' | '\u{133}' | '\u{13f}' | '\u{140}' | '\u{149}' => false,
        '\u{37a}'..='\u{385}' | '\u{387}' => false,
        '\u{c0}'..='\u{17e}' | '\u{1a0}' | '\u{1a1}' | '\u{1af}' | '\u{1b0}' => true,
        '\u{200}'..='\u{21b}' | '\u{1e00}'..='\u{1e99}' | '\u{1e9e}'..='\u{1eff}' => true,
        '\u{370}'..='\u{373}' | '\u{376}' | '\u{377}' | '\u{386}'..='\u{3ce}' => true,
        '\u{400}'..='\u{481}' | '\u{48a}'..='\u{52f}' => true,
        '\u{5d0}'..='\u{5ea}' | '\u{620}'..='\u{63f}' | '\u{641}'..='\u{64a}' => true,
        _ => false,
    }
}

/// Whether the plain form of a character is known without normalising: always, or if the next
/// character is simple, too.
fn is_simple(character: char) -> bool {
    is_dropped(character)
        || is_of_simple_script(character)
        || matches!(
            character,
            '\0'..='\x7f'
                | '\u{e01}'..='\u{e32}'
                | '\u{e34}'..='\u{e5b}'
                | '\u{e81}'..='\u{eb2}'
                | '\u{eb4}'..='\u{edb}'
                | '\u{1780}'..='\u{17ff}'
                | '\u{2012}'..='\u{2016}'
                | '\u{2018}'..='\u{2022}'
                | '\u{3001}'..='\u{3002}'
                | '\u{3041}'..='\u{3096}'
                | '\u{30a1}'..='\u{30fe}'
                | '\u{3400}'..='\u{4dbf}'
                | '\u{4e00}'..='\u{9fff}'
                | '\u{ac00}'..='\u{d7a3}'
        )
}

/// Whether a character is a letter, a digit or a mark. No word ends between two such characters.
pub(crate) fn is_letter(character: char) -> bool {
    character.is_ascii_alphanumeric()
        || is_of_simple_script(character) && character.is_alphanumeric()
        || is_dropped(character)
}

/// Whether a character is a mark that belongs to the letter before it.
pub(super) fn is_mark(character: char) -> bool {
    !character.is_ascii() && CanonicalCombiningClassMapBorrowed::new().get_u8(character) != 0
}

/// Whether a new word of a compound begins at a character: `getUser`, `HTTPServer`, `utf8`.
pub(super) fn is_joint(before: Option<char>, character: char, next: Option<char>) -> bool {
    let Some(before) = before else { return false };
    let is_digit = |character: char| character.is_ascii_digit();
    if is_digit(before) != is_digit(character) {
        return before.is_alphanumeric() && character.is_alphanumeric();
    }
    let after_upper = || before.is_uppercase() && next.is_some_and(char::is_lowercase);
    character.is_uppercase() && (before.is_lowercase() || after_upper())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_word_have_one_plain_form() {
        for (text, expected) in [
            ("Résumé RÉSUMÉ re\u{301}sume\u{301} resume", "resume resume resume resume"),
            ("Zürich Zu\u{308}rich ZÜRICH", "zurich zurich zurich"),
            ("İstanbul I\u{307}stanbul ıstanbul", "istanbul istanbul istanbul"),
            ("ＡＰＩ ﬁne ① ½ ㎒ ｶﾞ", "api fine 1 1⁄2 mhz ガ"),
            ("Straße STRASSE", "strasse strasse"),
            ("Łódź Malmö smørrebrød Œuvre", "lodz malmo smorrebrod oeuvre"),
            ("ΟΔΌΣ οδός ΐ", "οδοσ οδοσ ι"),
            ("ёлка мой мои\u{306} МОЙ", "елка мой мой мой"),
            ("ガ カ\u{3099} か\u{3099}", "ガ ガ が"),
            ("각 \u{1100}\u{1161}\u{11a8}", "각 각"),
            ("नमस्ते क़", "नमस्ते क\u{93c}"),
            ("שָׁלוֹם مُحَمَّد أحمد", "שלום محمد احمد"),
            ("ex\u{ad}am\u{200d}ple ☺\u{fe0f}", "example ☺"),
        ] {
            assert_eq!(plain(text), expected, "{text}");
        }
    }

    #[test]
    fn every_character_has_one_plain_form_in_each_form_of_unicode() {
        let composed = ComposingNormalizerBorrowed::new_nfkc();
        let decomposed = DecomposingNormalizerBorrowed::new_nfd();
        // Nearly all characters beyond this range are unassigned.
        for character in '\0'..='\u{3ffff}' {
            let text = format!("и{character}カ{character}e");
            let expected = plain(&text);
            assert_eq!(plain(&expected), expected, "{character:?} {:x}", u32::from(character));
            assert_eq!(plain(&case_fold(&text)), expected, "{character:?} folded");
            assert_eq!(plain(&composed.normalize(&text)), expected, "{character:?} composed");
            assert_eq!(plain(&decomposed.normalize(&text)), expected, "{character:?} decomposed");
        }
    }
}
