//! Case folding for search. It is done here and not by the database, so that a search finds the same
//! on every host and in both formats.

use icu_casemap::CaseMapper;

/// The text after full Unicode case folding (`ß` becomes `ss`). It is not normalised.
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
    fn folding_is_full_and_does_not_depend_on_a_language() {
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

    /// `records/sqlite` looks for a folded term in `lower(content)`, too. A term that is there is
    /// also in the folded text. For that text is `lower(content)` folded, and folding leaves the
    /// term as it is.
    #[test]
    fn folding_a_folded_text_changes_nothing() {
        for character in '\0'..=char::MAX {
            let folded = fold(&character.to_string());
            assert_eq!(fold(&folded), folded, "{character:?}");
        }
    }
}
