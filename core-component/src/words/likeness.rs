//! Finds names that a person or a model would take for one another.

use icu_normalizer::DecomposingNormalizerBorrowed;

use super::fold::case_fold;

/// Returns the key under which similar names are equal: the letters and digits of the name, without
/// case, spaces, accents, punctuation, a list number at the beginning such as `1.`, `II.` or `b)`,
/// and the Unicode form (NFC, NFD, full width). `+` and `#` after a letter stay, and a dot between
/// digits: `C++` is not `C`, and `1.1` is not `11`.
pub(crate) fn likeness_key(name: &str) -> String {
    let plain = case_fold(&DecomposingNormalizerBorrowed::new_nfkd().normalize(name));
    let mut key = String::new();
    let mut rest = without_number(plain.trim_start_matches(is_sign)).chars().peekable();
    while let Some(c) = rest.next() {
        let last = key.chars().next_back();
        let is_kept = match c {
            '+' | '#' => last.is_some(),
            '.' => last.is_some_and(is_digit) && rest.peek().copied().is_some_and(is_digit),
            c if is_part_of_letter(last, c) => true,
            c => c.is_alphanumeric() && !is_point(c),
        };
        if is_kept {
            key.push(c);
        }
    }
    if key.is_empty() { plain } else { key }
}

fn is_digit(c: char) -> bool {
    c.is_ascii_digit()
}

/// Whether a mark makes a different letter of the letter before it, as in `ガ` or `й`.
fn is_part_of_letter(letter: Option<char>, mark: char) -> bool {
    let is_cyrillic = letter.is_some_and(|letter| ('\u{400}'..='\u{52f}').contains(&letter));
    matches!(mark, '\u{3099}' | '\u{309a}') || mark == '\u{306}' && is_cyrillic
}

/// Whether a character is a vowel point of Hebrew or Arabic, which people mostly leave out.
fn is_point(c: char) -> bool {
    matches!(c, '\u{591}'..='\u{5c7}' | '\u{64b}'..='\u{65f}' | '\u{670}')
}

fn is_sign(c: char) -> bool {
    !c.is_alphanumeric()
}

/// Returns a text in lower case without the list number at its beginning, such as `1. `, `2) `,
/// `ii. ` or `b) `.
fn without_number(text: &str) -> &str {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_alphanumeric());
    let number = &text[..text.len() - rest.len()];
    let signs: &[char] = match number {
        "" => &[],
        _ if number.bytes().all(|c| c.is_ascii_digit()) => &['.', ')', ':'],
        _ if is_letter_or_roman(number) => &['.', ')'],
        _ => &[],
    };
    match rest.strip_prefix(signs) {
        Some(after) if after.starts_with(char::is_whitespace) => after,
        _ => text,
    }
}

/// Whether the text is one letter, or a Roman numeral of at most 39. Larger numerals can be words,
/// such as `mix`.
fn is_letter_or_roman(number: &str) -> bool {
    let ones = number.trim_start_matches('x');
    let tens = number.len() - ones.len();
    let is_roman = tens <= 3
        && matches!(ones, "" | "i" | "ii" | "iii" | "iv" | "v" | "vi" | "vii" | "viii" | "ix");
    is_roman || matches!(number.as_bytes(), [b'a'..=b'z'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_differ_only_in_what_people_vary_have_one_key() {
        for alike in [
            "key knowledge",
            "Key Knowledge:",
            "key-knowledge",
            "1. Key Knowledge",
            "2) KeyKnowledge",
            "II. Key Knowledge",
            "xiv) key knowledge",
            "b) Key Knowledge",
            "(B) Key Knowledge",
            "## Key Knowledge",
            "Key\u{a0}Knowledge",
            "Ｋｅｙ Knowledge",
            "*Key* Knowledge!",
        ] {
            assert_eq!(likeness_key(alike), "keyknowledge", "{alike}");
        }
        assert_eq!(likeness_key("Résumé"), likeness_key("Re\u{301}sume\u{301}"));
        assert_eq!(likeness_key("Résumé"), "resume");
        assert_eq!(likeness_key("שָׁלוֹם"), likeness_key("שלום"));
        assert_eq!(likeness_key("مُحَمَّد"), likeness_key("محمد"));
    }

    #[test]
    fn names_that_differ_in_a_letter_or_digit_have_different_keys() {
        for (one, other) in [
            ("Part 1", "Part 2"),
            ("Release 1.1", "Release 11"),
            ("ガイド", "カイト"),
            ("мой", "мои"),
            ("C", "C++"),
            ("C", "C#"),
            ("2024", "2025"),
            ("計画", "会議"),
            ("1.5 Release", "2.5 Release"),
            ("★", "☆"),
            ("Plan", "Plans"),
            ("Mix. Plan", "Plan"),
            ("C: Plan", "Plan"),
            ("IIII. Plan", "Plan"),
            ("X.Y", "Y"),
        ] {
            assert_ne!(likeness_key(one), likeness_key(other), "{one}");
        }
    }
}
