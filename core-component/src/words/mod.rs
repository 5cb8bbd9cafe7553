//! Words, as an index of texts and a search see them: the same on every host, whatever tables its
//! SQLite has.

mod fold;
mod index;

use unicode_segmentation::UnicodeSegmentation;

pub(crate) use fold::fold;
pub(crate) use index::{index_text, query};

/// The words of a text in order, folded: letters and digits with their marks, found by the word
/// boundaries of Unicode (UAX #29). `don't` is two words, and so is `agent_memory`.
pub(crate) fn words(text: &str) -> Vec<String> {
    let folded = fold(text);
    if folded.is_ascii() {
        let words = folded.split(|c: char| !c.is_ascii_alphanumeric());
        return words.filter(|word| !word.is_empty()).map(str::to_owned).collect();
    }
    let mut words = Vec::new();
    for segment in folded.unicode_words() {
        let mut word = String::new();
        for grapheme in segment.graphemes(true) {
            if grapheme.contains(char::is_alphanumeric) {
                word += grapheme;
            } else if !word.is_empty() {
                words.push(std::mem::take(&mut word));
            }
        }
        if !word.is_empty() {
            words.push(word);
        }
    }
    words
}

/// Whether each wanted word is one of these words or the beginning of one.
pub(crate) fn has_all(words: &[String], wanted: &[String]) -> bool {
    wanted.iter().all(|wanted| words.iter().any(|word| word.starts_with(wanted)))
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
            ("Cafe\u{301} crème", "cafe\u{301} crème"),
            ("l’été_passé 3,14 €", "l été passé 3 14"),
            ("東京都", "東 京 都"),
            ("データベース", "データベース"),
            ("—…!", ""),
            ("", ""),
        ] {
            assert_eq!(words(text).join(" "), expected, "{text}");
        }
    }

    /// The two ways must agree, because a text and a query may take different ones.
    #[test]
    fn words_of_ascii_are_the_same_beside_other_letters() {
        let text = "a_b c.d 1,2 don't x-y v1.2.3 (e.g. this) a:b 3a a3 --";
        let mut expected = words(text);
        expected.push("é".to_owned());
        assert_eq!(words(&format!("{text} é")), expected);
    }

    #[test]
    fn a_wanted_word_is_a_word_or_the_beginning_of_one() {
        let (text, wanted) = (words("Collision of planes"), |text| words(text));
        assert!(has_all(&text, &wanted("colli PLANES")));
        assert!(!has_all(&text, &wanted("lision")));
        assert!(!has_all(&text, &wanted("collision of trains")));
        assert!(has_all(&text, &wanted("")));
    }
}
