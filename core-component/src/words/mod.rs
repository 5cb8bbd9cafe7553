//! Divides texts into words for the search by words of `layers`: in the same way on every host,
//! whatever Unicode tables its SQLite has. The ranked search divides texts differently, see
//! `tokens.rs`.

mod fold;
mod likeness;
mod plain;
mod tokens;

use unicode_segmentation::UnicodeSegmentation;

pub(crate) use fold::fold;
pub(crate) use likeness::likeness_key;
pub(crate) use plain::{is_letter, plain};
pub(crate) use tokens::{Role, each_token, is_han, is_in_pairs, is_of_syllable};

/// Returns the words of a text in order, folded: letters and digits with their marks, divided
/// at the word boundaries of Unicode (UAX #29). `don't` is two words, and so is `agent_memory`.
pub(crate) fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    each_folded_word(&fold(text), |word| words.push(word.to_owned()));
    words
}

/// Calls `found` with each of the [`words`] of a text that is [folded](fold).
fn each_folded_word(folded: &str, mut found: impl FnMut(&str)) {
    if folded.is_ascii() {
        return ascii_words(folded).for_each(found);
    }
    // A word never has a space in it. Most parts between spaces are ASCII, which can be divided faster.
    for part in folded.split_ascii_whitespace() {
        if part.is_ascii() {
            ascii_words(part).for_each(&mut found);
            continue;
        }
        // The usual case: the part is one word, with punctuation around it.
        if is_one_word(part) { found(without_marks(part)) } else { unicode_words(part, &mut found) }
    }
}

/// Whether a part of a text without spaces is one word, with ASCII punctuation around it.
fn is_one_word(part: &str) -> bool {
    without_marks(part).chars().all(is_never_divided)
}

fn without_marks(part: &str) -> &str {
    part.trim_matches(|c: char| c.is_ascii_punctuation())
}

/// Whether a character is an ASCII digit, or a letter of Latin, Greek, Cyrillic or Arabic. Unicode has
/// no word boundary between two such characters.
fn is_never_divided(character: char) -> bool {
    match character {
        '\0'..='\u{7f}' => character.is_ascii_alphanumeric(),
        '\u{c0}'..='\u{2af}' | '\u{370}'..='\u{52f}' | '\u{620}'..='\u{64a}' => {
            character.is_alphabetic()
        }
        _ => false,
    }
}

fn unicode_words(folded: &str, found: &mut impl FnMut(&str)) {
    for segment in folded.unicode_words() {
        // The usual case: the word has no marks.
        if segment.chars().all(char::is_alphanumeric) {
            found(segment);
            continue;
        }
        let mut word = String::new();
        for grapheme in segment.graphemes(true) {
            if grapheme.contains(char::is_alphanumeric) {
                word += grapheme;
            } else if !word.is_empty() {
                found(&std::mem::take(&mut word));
            }
        }
        if !word.is_empty() {
            found(&word);
        }
    }
}

fn ascii_words(folded: &str) -> impl Iterator<Item = &str> {
    folded.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty())
}

/// Returns the words that a search asks for. The name of a language or product with signs, such as
/// `C++`, is one word with its signs.
pub(crate) fn wanted_words(asked: &str) -> Vec<String> {
    let mut wanted = words(asked);
    each_token(asked, |token, role| {
        if role == Role::Signed {
            let word = token.trim_matches(is_sign);
            match wanted.iter_mut().find(|wanted| *wanted == word) {
                Some(wanted) => token.clone_into(wanted),
                None => wanted.push(token.to_owned()),
            }
        }
    });
    wanted
}

fn is_sign(character: char) -> bool {
    character.is_ascii_punctuation()
}

/// Whether each wanted word is a word of the text or the beginning of a word. A name with signs must
/// occur with these signs. The wanted words must be as [`wanted_words`] returns them.
pub(crate) fn has_all(text: &str, wanted: &[String]) -> bool {
    let (signed, plain): (Vec<_>, Vec<_>) =
        wanted.iter().partition(|wanted| wanted.contains(is_sign));
    let folded = fold(text);
    let has_plain = if folded.is_ascii() {
        plain.iter().all(|wanted| ascii_words(&folded).any(|word| word.starts_with(*wanted)))
    } else {
        let mut words = Vec::new();
        each_folded_word(&folded, |word| words.push(word.to_owned()));
        plain.iter().all(|wanted| words.iter().any(|word| word.starts_with(*wanted)))
    };
    has_plain && signed.iter().all(|wanted| has_signed(text, wanted))
}

/// Whether a text has a name with its signs, such as `c++`.
fn has_signed(text: &str, wanted: &str) -> bool {
    let mut has = false;
    each_token(text, |token, role| has |= role == Role::Signed && token == wanted);
    has
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_letters_and_digits_between_boundaries() {
        for (text, expected) in [
            ("The parser's 2nd pass: done.", "the parser s 2nd pass done"),
            ("agent_memory v1.2, example.com", "agent memory v1 2 example com"),
            ("Straße – CAFÉ", "strasse café"),
            ("Cafe\u{301} crème", "café crème"),
            ("l’été_passé 3,14 €", "l été passé 3 14"),
            ("東京都", "東 京 都"),
            ("a \u{301}b\t\u{200d}c\u{a0}d", "a b c d"),
            ("データベース", "データベース"),
            ("—…!", ""),
            ("", ""),
        ] {
            assert_eq!(words(text).join(" "), expected, "{text}");
        }
    }

    /// A text of ASCII only is divided by other code. Both must agree, because a query may be ASCII
    /// where the text is not.
    #[test]
    fn words_of_ascii_are_the_same_beside_other_letters() {
        let text = "a_b c.d 1,2 don't x-y v1.2.3 (e.g. this) a:b 3a a3 --";
        let mut expected = words(text);
        expected.push("é".to_owned());
        assert_eq!(words(&format!("{text} é")), expected);
    }

    #[test]
    fn letters_that_are_never_divided_are_one_word() {
        let all: Vec<char> = ('\0'..='\u{ffff}').filter(|c| is_never_divided(*c)).collect();
        assert!(all.len() > 1_000, "{}", all.len());
        for character in all.iter().filter(|c| !c.is_ascii()) {
            for other in ['a', '7', 'é', 'ж', 'ω', 'ع', *character] {
                for text in [format!("{character}{other}"), format!("{other}{character}")] {
                    let mut words = Vec::new();
                    unicode_words(&text, &mut |word| words.push(word.to_owned()));
                    assert_eq!(words, [text]);
                }
            }
        }
    }

    /// A part of letters only is divided by faster code. Both must agree, because a query may have the
    /// same word without marks.
    #[test]
    fn words_between_marks_are_the_words_of_unicode() {
        for part in [
            "(ÉTÉ)",
            "été,",
            "_été_",
            "d'été",
            "été.été",
            "3,14é",
            "«été»",
            "'é",
            "é's",
            "é_é",
            "—é—",
        ] {
            let folded = fold(part);
            let mut expected = Vec::new();
            unicode_words(&folded, &mut |word| expected.push(word.to_owned()));
            assert_eq!(words(part), expected, "{part}");
        }
    }

    #[test]
    fn a_wanted_word_is_a_word_or_the_beginning_of_one() {
        for text in ["Collision of planes", "Collision – of planes"] {
            assert!(has_all(text, &wanted_words("colli PLANES")));
            assert!(!has_all(text, &wanted_words("lision")));
            assert!(!has_all(text, &wanted_words("collision of trains")));
            assert!(has_all(text, &wanted_words("")));
        }
    }

    #[test]
    fn a_wanted_name_with_signs_must_have_its_signs() {
        for (asked, wanted) in
            [("C++ parser", "c++ parser"), ("the c C#", "the c# c"), (".NET", ".net"), ("C", "c")]
        {
            assert_eq!(wanted_words(asked).join(" "), wanted, "{asked}");
        }
        for (text, asked, expected) in [
            ("A parser in C++17.", "C++", true),
            ("Ein Prüfer für C++", "c++ prüfer", true),
            ("Create the cluster.", "C++", false),
            ("Written in C", "C++", false),
            ("Written in C++", "C", true),
            ("net profit", ".NET", false),
            ("ASP.NET pages", ".net", true),
        ] {
            assert_eq!(has_all(text, &wanted_words(asked)), expected, "{asked} in {text}");
        }
    }
}
