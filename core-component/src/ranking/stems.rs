//! The words of a text with their stems, for tests.

use super::language::Language;
use crate::words::each_token;

/// Calls `found` with each token of a text and its stem, in order: the words, and the other tokens that
/// the text is found by, see [`Role`](crate::words::Role).
///
/// The stems are those of Snowball's algorithm for the language of the text.
pub(crate) fn each_stem(text: &str, found: impl FnMut(&str, &str)) {
    each_stem_in(Language::detect(text, Language::English), text, found);
}

/// Calls `found` with each word and its stem in a language. A part of a text has the stems that the
/// whole text has, if it gets the language of the whole text.
pub(crate) fn each_stem_in(language: Language, text: &str, mut found: impl FnMut(&str, &str)) {
    each_token(text, |word, role| found(word, &language.stem(word, role)));
}

mod tests {
    use super::*;

    fn stems(text: &str) -> Vec<String> {
        let mut stems = Vec::new();
        each_stem(text, |_, stem| stems.push(stem.to_owned()));
        stems
    }

    #[test]
    fn inflected_words_have_one_stem() {
        for (text, expected) in [
            ("collide collides colliding", "collid collid collid"),
            ("Collision collisions", "collis collis"),
            ("The runner's caches", "the runner s cach"),
            ("agent_memory v2 x86", "agent memori v2 x86 86"),
            ("Résumé resumes", "resum resum"),
            ("was die Häuser der Straßen", "°was °die °haus °der °strass"),
            ("ΟΔΟΣ были", "οδοσ был"),
        ] {
            assert_eq!(stems(text).join(" "), expected);
        }
    }

    #[test]
    fn a_part_of_a_text_has_the_stems_of_the_whole() {
        let whole = "Das Haus ist alt. Die Häuser sind es nicht.";
        let mut stems_of_parts = Vec::new();
        for part in ["Das Haus ", "ist alt. Die Häuser ", "sind es nicht."] {
            let found = |_: &str, stem: &str| stems_of_parts.push(stem.to_owned());
            each_stem_in(Language::detect(whole, Language::English), part, found);
        }
        assert_eq!(stems_of_parts, stems(whole));
    }

    /// A text of ASCII only is divided by other code. Both must agree, because a query may be ASCII
    /// where the text is not.
    #[test]
    fn ascii_words_have_the_same_stems_beside_other_letters() {
        let text = "Running the collisions of v1.2, don't: x-y";
        let mut expected = stems(text);
        expected.push("e".to_owned());
        assert_eq!(stems(&format!("{text} é")), expected);
    }
}
