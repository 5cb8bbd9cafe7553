//! The first letters of a query's stems, so that most words of a text need not be stemmed.

use super::language::{FOREIGN, Language};

/// The first letters of stems. Except in Dutch, a word begins with the same letter as its stem.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Beginnings {
    /// Whether a stem begins with this byte. The prefix [`FOREIGN`] does not count.
    first: [bool; 256],
    /// For English texts: a bit for each pair of bytes, set if a stem begins with this pair.
    pairs: [u64; PAIRS / 64],
}

/// The number of bits: each pair of ASCII letters of one case has its own bit.
const PAIRS: usize = 1_024;

impl Beginnings {
    pub fn new<'s>(stems: impl Iterator<Item = &'s str>) -> Self {
        let mut beginnings = Self { first: [false; 256], pairs: [0; PAIRS / 64] };
        stems.for_each(|stem| beginnings.add(stem));
        beginnings
    }

    fn add(&mut self, stem: &str) {
        let Some(first) = stem.trim_start_matches(FOREIGN).bytes().next() else { return };
        self.first[usize::from(first)] = true;
        match *stem.as_bytes() {
            [first] => (0..32).for_each(|second| self.add_pair(first, second)),
            [first, second, ..] => self.add_pair(first, second),
            [] => {}
        }
        // The only English stems with words that begin with another pair: `dying`, `lying` and `tying`.
        if matches!(stem, "die" | "lie" | "tie") {
            self.add_pair(first, b'y');
        }
    }

    fn add_pair(&mut self, first: u8, second: u8) {
        let place = place(first, second);
        self.pairs[place / 64] |= 1 << (place % 64);
    }

    /// Whether the stem of a word may be among the stems. If false, the stem is certainly not among
    /// them.
    pub fn may_have(&self, language: Language, word: &str) -> bool {
        match (language, word.as_bytes()) {
            (Language::Dutch, _) => true,
            (Language::English, [first, second, ..]) => {
                let place = place(*first, *second);
                self.pairs[place / 64] >> (place % 64) & 1 == 1
            }
            (_, bytes) => bytes.first().is_some_and(|first| self.first[usize::from(*first)]),
        }
    }
}

fn place(first: u8, second: u8) -> usize {
    (usize::from(first) * 32 + usize::from(second & 31)) % PAIRS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::Role;

    /// Words with the endings and exceptions of the stemmers.
    const WORDS: &str = "dying lying tying skies yielding ugly uses eyes a i is as yes ions ied sses \
        ing ed news generously communism arsenal idly skis bled y ying use ous oed aing eed ably \
        gelaufen gesagt getan quelle quoi eues ames iii uuu oie ais ait ees oes cao emente mente \
        heit keit ung erne ede ande yenta ymos hete igt lig els ties dies lies tied died ly ds ts \
        us ys singly gently early only sky ski sly dry by say sayings были ее её ия яя новый";

    #[test]
    fn the_stem_of_a_word_begins_as_the_word() {
        for language in Language::ALL {
            for word in WORDS.split_whitespace() {
                let stem = language.stem(word, Role::Word);
                let beginnings = Beginnings::new([stem.as_ref()].into_iter());
                assert!(beginnings.may_have(language, word), "{language:?} {word} {stem}");
            }
        }
    }

    #[test]
    fn most_words_have_no_stem_of_a_query() {
        let beginnings = Beginnings::new(["kite", "red", "c", "°haus"].into_iter());
        for word in ["kitchen", "rest", "c", "cat", "ce"] {
            assert!(beginnings.may_have(Language::English, word), "{word}");
        }
        for word in ["kangaroo", "rust", "haus", "zebra", "\u{434}\u{430}"] {
            assert!(!beginnings.may_have(Language::English, word), "{word}");
        }
        assert!(beginnings.may_have(Language::German, "haus"));
        assert!(!beginnings.may_have(Language::German, "zebra"));
    }
}
