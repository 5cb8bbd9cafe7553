//! Words as FTS5 keeps them.
//!
//! The tokenizer of such a table is `ascii`, which splits at spaces and takes every other character
//! that occurs here as it is. So SQLite's own tables of Unicode, which differ between versions,
//! decide nothing. Each token begins with a mark of its owner: a search walks the postings of one
//! owner alone. Marks of two owners may be the same, and long words are cut: what FTS5 finds are
//! candidates, which the caller confirms.

use std::collections::BTreeSet;

use sha2::{Digest, Sha256};

/// Longer words are found by their beginning, in characters.
const MAX_WORD: usize = 40;

/// Stands before a stem. No word begins with it.
const STEM: char = '·';

/// The text that FTS5 indexes for these words and stems: a token for each.
pub(crate) fn index_text(owner: &str, words: &[String], stems: &[String]) -> String {
    let mark = mark(owner);
    let words = words.iter().map(|word| token(&mark, word));
    let stems = stems.iter().map(|stem| stem_token(&mark, stem));
    words.chain(stems).collect::<BTreeSet<String>>().into_iter().collect::<Vec<_>>().join(" ")
}

/// A query for texts that have any of these stems.
pub(crate) fn stem_query(owner: &str, stems: &[String]) -> String {
    let mark = mark(owner);
    let terms: Vec<_> =
        stems.iter().map(|stem| format!("\"{}\"", stem_token(&mark, stem))).collect();
    terms.join(" OR ")
}

fn stem_token(mark: &str, stem: &str) -> String {
    token(mark, &format!("{STEM}{stem}"))
}

/// A query for texts that have all of these words, or longer ones that begin with them.
pub(crate) fn query(owner: &str, words: &[String]) -> String {
    let mark = mark(owner);
    let terms: BTreeSet<String> =
        words.iter().map(|word| format!("\"{}\" *", token(&mark, word))).collect();
    terms.into_iter().collect::<Vec<_>>().join(" AND ")
}

fn token(mark: &str, word: &str) -> String {
    // To the tokenizer, a sign of ASCII is a space.
    let letter = |c: char| match c {
        '!'..='~' if !c.is_ascii_alphanumeric() => {
            char::from_u32(u32::from(c) + 0xfee0).unwrap_or(c)
        }
        _ => c,
    };
    mark.chars().chain(word.chars().take(MAX_WORD).map(letter)).collect()
}

/// Eight hexadecimal digits.
fn mark(owner: &str) -> String {
    Sha256::digest(owner).iter().take(4).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::words;

    #[test]
    fn every_token_begins_with_the_mark_of_its_owner() {
        let text = index_text("ada", &words("two words two"), &["word".to_owned()]);
        let mark = mark("ada");
        assert_eq!(text, format!("{mark}two {mark}words {mark}·word"));
        let stems = ["word", "wort"].map(str::to_owned);
        let asked = format!("\"{mark}·word\" OR \"{mark}·wort\"");
        assert_eq!(stem_query("ada", &stems), asked);
        assert_eq!(mark.len(), 8);
        let asked = query("ada", &words("wor TWO"));
        assert_eq!(asked, format!("\"{mark}two\" * AND \"{mark}wor\" *"));
    }

    #[test]
    fn a_long_word_and_its_beginning_are_asked_for_by_the_same_token() {
        let (short, long) = ("é".repeat(MAX_WORD), "é".repeat(100));
        assert_eq!(query("a", &[short]), query("a", &[long]));
    }
}
