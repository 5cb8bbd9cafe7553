//! The words of a text with their stems.
//!
//! The databases of `records` and `layers` keep these words or their stems. So another division needs
//! another version of both schemas, see `sqlite/schema.rs`.

use frostem::{Algorithm, Stemmer};

use crate::words::{each_folded_word, fold};

/// Longer words are their own stems, in bytes.
const MAX_STEMMED: usize = 40;

/// Calls `found` with each word of a text and its stem, in order.
///
/// The stem of an English word is that of Snowball's algorithm (Porter 2). Other words are their own
/// stems. Chinese, Japanese and Korean are pairs of characters.
pub(crate) fn each_stem(text: &str, mut found: impl FnMut(&str, &str)) {
    let stemmer = Stemmer::new(Algorithm::English);
    each_unstemmed(text, |word, is_english| match is_english {
        true => found(word, &stemmer.stem(word)),
        false => found(word, word),
    });
}

/// Calls `found` with each word of a text, and with whether it has the stem of an English word. Such
/// a stem begins with the same letter as the word.
pub(crate) fn each_unstemmed(text: &str, mut found: impl FnMut(&str, bool)) {
    let folded = fold(text);
    if folded.is_ascii() {
        return of_words(&folded, &mut found);
    }
    let mut rest = folded.as_str();
    while let Some(first) = rest.chars().next() {
        let in_pairs = is_in_pairs(first);
        let end = rest.find(|c| is_in_pairs(c) != in_pairs).unwrap_or(rest.len());
        let (run, after) = rest.split_at(end);
        match in_pairs {
            true => of_pairs(run, &mut found),
            false => of_words(run, &mut found),
        }
        rest = after;
    }
}

/// The stem of a word that [`each_unstemmed`] found.
pub(crate) fn stem_of(word: &str, is_english: bool) -> String {
    match is_english {
        true => Stemmer::new(Algorithm::English).stem(word).into_owned(),
        false => word.to_owned(),
    }
}

fn of_words(folded: &str, found: &mut dyn FnMut(&str, bool)) {
    each_folded_word(folded, |word| {
        let is_english = word.bytes().all(|byte| byte.is_ascii_lowercase());
        found(word, is_english && word.len() <= MAX_STEMMED);
    });
}

/// The pairs of neighbouring characters; one character alone is one stem.
fn of_pairs(run: &str, found: &mut dyn FnMut(&str, bool)) {
    let mut ends: Vec<usize> = run.char_indices().map(|(at, _)| at).collect();
    ends.push(run.len());
    if ends.len() <= 2 {
        return found(run, false);
    }
    for pair in ends.windows(3) {
        found(&run[pair[0]..pair[2]], false);
    }
}

/// Whether it is a letter of Han, Hiragana, Katakana or Hangul.
pub(super) fn is_in_pairs(character: char) -> bool {
    let is_there = matches!(
        character,
        '\u{1100}'..='\u{11ff}'
            | '\u{3040}'..='\u{30ff}'
            | '\u{3130}'..='\u{318f}'
            | '\u{31f0}'..='\u{31ff}'
            | '\u{3400}'..='\u{4dbf}'
            | '\u{4e00}'..='\u{9fff}'
            | '\u{ac00}'..='\u{d7ff}'
            | '\u{f900}'..='\u{faff}'
            | '\u{ff66}'..='\u{ffdc}'
            | '\u{20000}'..='\u{3ffff}'
    );
    is_there && character.is_alphanumeric()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stems(text: &str) -> Vec<String> {
        let mut stems = Vec::new();
        each_stem(text, |_, stem| stems.push(stem.to_owned()));
        stems
    }

    #[test]
    fn inflected_english_words_have_one_stem() {
        for (text, expected) in [
            ("collide collides colliding", "collid collid collid"),
            ("Collision collisions", "collis collis"),
            ("The runner's caches", "the runner s cach"),
            ("agent_memory v2 x86", "agent memori v2 x86"),
        ] {
            assert_eq!(stems(text).join(" "), expected);
        }
    }

    #[test]
    fn a_stem_begins_with_the_letter_of_its_word() {
        let words = "dying skies yielding ugly uses eyes a i is as yes ions ied sses ing ed news \
                     generously communism arsenal idly skis bled y ying use ous oed aing eed ably";
        each_stem(words, |word, stem| assert_eq!(word.as_bytes()[0], stem.as_bytes()[0], "{word}"));
    }

    #[test]
    fn scripts_without_spaces_are_pairs_of_characters() {
        for (text, expected) in [
            ("東京都に住む", "東京 京都 都に に住 住む"),
            ("猫", "猫"),
            ("データ", "デー ータ"),
            ("서울에서 만나", "서울 울에 에서 만나"),
            ("SQLiteの速度 fast", "sqlite の速 速度 fast"),
        ] {
            assert_eq!(stems(text).join(" "), expected);
        }
    }

    #[test]
    fn words_of_other_scripts_are_folded_only() {
        assert_eq!(stems("Größe Straßen – ΟΔΟΣ были").join(" "), "grösse strassen οδοσ были");
    }

    /// The two ways must agree, because a text and a query may take different ones.
    #[test]
    fn ascii_words_have_the_same_stems_beside_other_letters() {
        let text = "Running the collisions of v1.2, don't: x-y";
        let mut expected = stems(text);
        expected.push("é".to_owned());
        assert_eq!(stems(&format!("{text} é")), expected);
    }
}
