//! Case folding, as search compares text: the same on every host and in both formats, whatever
//! tables their databases have.

use icu_casemap::CaseMapper;

/// The text after full Unicode case folding (`ß` as `ss`); no normalisation.
pub(crate) fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    CaseMapper::new().fold_string(text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folding_is_full_and_knows_no_language() {
        for (text, folded) in [
            ("Straße STRASSE ẞ", "strasse strasse ss"),
            ("ΟΔΟΣ οδος οδοσ", "οδοσ οδοσ οδοσ"),
            ("İ I ı i", "i\u{307} i ı i"),
            ("ﬁne", "fine"),
            ("Ꭰ", "Ꭰ"),
            ("é", "é"),
        ] {
            assert_eq!(fold(text), folded);
        }
    }

    /// So a folded term that the lower-case text has, the folded text has, too.
    #[test]
    fn what_is_folded_stays_as_it_is() {
        for character in '\0'..=char::MAX {
            let folded = fold(&character.to_string());
            assert_eq!(fold(&folded), folded, "{character:?}");
        }
    }
}
