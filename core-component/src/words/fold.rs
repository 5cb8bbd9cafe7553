//! Folding of texts for search. It is done here instead of in the database, so that a search finds the
//! same entries on every host and in every storage format.

use icu_casemap::CaseMapper;
use icu_normalizer::{ComposingNormalizerBorrowed, DecomposingNormalizerBorrowed};

/// Returns the text after NFKC and full Unicode case folding: `ß` becomes `ss`, and `Ａ` becomes `a`.
/// Two texts that are a compatibility caseless match have the same result (Unicode, D146).
pub(crate) fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    // Case folding makes a letter of the iota below a Greek letter. So the marks are put in order first.
    let folded = case_fold(&DecomposingNormalizerBorrowed::new_nfd().normalize(text));
    let nfkc = ComposingNormalizerBorrowed::new_nfkc();
    // Folds again: a compatibility character such as `㎒` decomposes to upper-case letters.
    let folded = case_fold(&nfkc.normalize(&folded));
    nfkc.normalize(&folded).into_owned()
}

/// Returns the text after full Unicode case folding. The text is not normalised.
///
/// The folding of a character does not depend on its neighbours. So runs of ASCII are folded
/// separately, which is faster.
pub(super) fn case_fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let mapper = CaseMapper::new();
    let mut folded = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let (ascii, after) = rest.split_at(end_of(rest, |byte| byte.is_ascii()));
        let (other, after) = after.split_at(end_of(after, |byte| !byte.is_ascii()));
        let start = folded.len();
        folded += ascii;
        folded[start..].make_ascii_lowercase();
        if !other.is_empty() {
            folded += &mapper.fold_string(other);
        }
        rest = after;
    }
    folded
}

/// Returns the length in bytes of the longest prefix for whose bytes `is_of_kind` is true.
fn end_of(text: &str, is_of_kind: impl Fn(u8) -> bool) -> usize {
    text.bytes().position(|byte| !is_of_kind(byte)).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folding_is_full_and_does_not_depend_on_a_language() {
        for (text, folded) in [
            ("Straße STRASSE ẞ", "strasse strasse ss"),
            ("ΟΔΟΣ οδος οδοσ", "οδοσ οδοσ οδοσ"),
            ("İ I ı i", "i\u{307} i ı i"),
            ("ﬁne", "fine"),
            ("Ꭰ", "Ꭰ"),
            ("ＡＰＩ Ⅷ ㎒", "api viii mhz"),
            ("Café cafe\u{301}", "café café"),
            ("\u{1fb4} \u{1fb3}\u{301} \u{3ac}\u{345}", "άι άι άι"),
        ] {
            assert_eq!(fold(text), folded);
        }
    }

    #[test]
    fn a_character_is_folded_alike_whatever_is_around_it() {
        let mapper = CaseMapper::new();
        for character in '\0'..=char::MAX {
            let text = format!("Iσ{character}I\u{307}{character}{character} Σ{character}");
            assert_eq!(case_fold(&text), mapper.fold_string(&text), "{character:?}");
        }
    }

    #[test]
    fn folding_a_folded_text_changes_nothing() {
        for character in '\0'..=char::MAX {
            let folded = fold(&character.to_string());
            assert_eq!(fold(&folded), folded, "{character:?}");
        }
    }
}
