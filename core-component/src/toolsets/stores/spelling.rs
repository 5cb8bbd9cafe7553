//! Converts the names that people and models give to valid segments: lower-case ASCII words.

use any_ascii::any_ascii_char;
use icu_normalizer::{ComposingNormalizerBorrowed, DecomposingNormalizerBorrowed};
use sha2::{Digest, Sha256};

/// Characters before this one are transliterated to Latin letters by `any_ascii`. Hangul syllables
/// come after it, but are first decomposed to letters before it. The limit keeps 300 kB of tables
/// of `any_ascii` out of the component.
const END_OF_TABLES: char = '\u{a000}';

/// Returns the spelling of a name: words of lower-case letters and digits, joined by `-`, at most
/// `max` bytes. Empty only if the name is empty or white space.
///
/// All Unicode normal forms of a name have the same spelling. Accents and other marks are dropped,
/// and other scripts are written in Latin letters. A [hash](digest) of the name is appended if a
/// character has no spelling, if no letter or digit is left, or if the spelling is too long. It is
/// also appended if a `+` or `#` follows a letter or digit, as in `C++` and `C#`.
pub(super) fn spelled(name: &str, max: usize) -> String {
    let name = name.trim();
    let (ascii, is_complete) = in_ascii(name);
    let words = ascii.split(|c: char| !c.is_ascii_alphanumeric());
    let words: Vec<_> = words.filter(|word| !word.is_empty()).collect();
    let spelling = words.join("-").to_ascii_lowercase();
    let is_complete = is_complete && !has_sign_of_word(&ascii);
    let is_whole = is_complete && !spelling.is_empty() && spelling.len() <= max;
    if is_whole || name.is_empty() { spelling } else { marked(&spelling, name, max) }
}

/// Whether a `+` or `#` follows a letter or digit.
fn has_sign_of_word(ascii: &str) -> bool {
    let is_sign = |pair: &[u8]| pair[0].is_ascii_alphanumeric() && matches!(pair[1], b'+' | b'#');
    ascii.as_bytes().windows(2).any(is_sign)
}

/// Returns a spelling with a hash of the name appended, so that names with equal spellings differ.
/// At most `max` bytes.
pub(super) fn marked(spelling: &str, name: &str, max: usize) -> String {
    let digest = digest(name);
    let end = spelling.len().min(max - digest.len() - 1);
    match spelling[..end].trim_end_matches('-') {
        "" => digest,
        spelling => format!("{spelling}-{digest}"),
    }
}

/// Returns six hexadecimal digits of a hash of the name, equal for all Unicode normal forms of the
/// name.
fn digest(name: &str) -> String {
    let name = ComposingNormalizerBorrowed::new_nfc().normalize(name);
    let digest = Sha256::digest(name.as_bytes());
    digest.iter().take(3).map(|byte| format!("{byte:02x}")).collect()
}

/// Returns a name in ASCII, and whether each of its characters has a spelling.
fn in_ascii(name: &str) -> (String, bool) {
    if name.is_ascii() {
        return (name.to_owned(), true);
    }
    let mut ascii = String::new();
    let mut is_complete = true;
    let mut add = |c: char| match c {
        c if c.is_ascii() => ascii.push(c),
        // `any_ascii` writes some sounds as quotes. They are dropped, so that they do not divide
        // words.
        c if c < END_OF_TABLES => ascii += any_ascii_char(c).trim_matches(['\'', '`']),
        _ => is_complete = false,
    };
    for c in ComposingNormalizerBorrowed::new_nfkc().normalize_iter(name.chars()) {
        if c < END_OF_TABLES {
            add(c);
            continue;
        }
        let letters = DecomposingNormalizerBorrowed::new_nfkd();
        letters.normalize_iter(std::iter::once(c)).for_each(&mut add);
    }
    (ascii, is_complete)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_any_script_has_a_spelling() {
        for (name, spelling) in [
            ("My File", "my-file"),
            ("Résumé", "resume"),
            ("Re\u{301}sume\u{301}", "resume"),
            ("München", "munchen"),
            ("Straße Øre Æsir Łódź", "strasse-ore-aesir-lodz"),
            ("İstanbul", "istanbul"),
            ("ＡＰＩ ①", "api-1"),
            ("プログラム ガイド 2", "puroguramu-gaido-2"),
            ("カ\u{3099}イト\u{3099}", "gaido"),
            ("会议 2024", "huiyi-2024"),
            ("计划 2024", "jihua-2024"),
            ("заметка", "zametka"),
            ("Альфа", "alfa"),
            ("ελληνικά", "ellinika"),
            ("한국어 노트", "hangugeo-noteu"),
            ("\u{1112}\u{1161}\u{11ab}", "han"),
            ("עברית", "vryt"),
            ("हिन्दी", "hindi"),
            ("“q” — x…", "q-x"),
            ("a\u{0}b", "a-b"),
            ("", ""),
            (" ", ""),
        ] {
            assert_eq!(spelled(name, 200), spelling, "{name}");
        }
    }

    #[test]
    fn a_name_that_loses_a_character_has_a_mark_of_its_own() {
        let six = |name: &str, before: &str| {
            let spelling = spelled(name, 20);
            let digest = spelling.strip_prefix(before).expect(name);
            assert_eq!(digest.len(), 6, "{spelling}");
            assert!(digest.bytes().all(|byte| byte.is_ascii_hexdigit()), "{spelling}");
            spelling
        };
        assert_ne!(six("🎉 party", "party-"), six("🎊 party", "party-"));
        assert_ne!(six("🎉", ""), six("🎊", ""));
        assert_ne!(six("!!!", ""), six("???", ""));
        assert_ne!(six("C++", "c-"), six("C#", "c-"));
        assert_eq!(spelled("C", 20), "c");
        assert_eq!(spelled("Issue #12 + notes", 20), "issue-12-notes");
        assert_ne!(six(&"a".repeat(21), "aaaaaaaaaaaaa-"), six(&"a".repeat(22), "aaaaaaaaaaaaa-"));
        assert_eq!(six("é🎉", "e-"), six("e\u{301}🎉", "e-"));
        assert_eq!(spelled(&"a".repeat(20), 20), "a".repeat(20));
    }
}
