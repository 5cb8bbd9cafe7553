//! Divides a text into tokens for the ranked search: words, and further terms by which a word is found,
//! such as its parts.

use std::collections::BTreeSet;

use super::plain::{Plain, is_joint, is_mark};

/// The kind of a token. The parts of a word follow the word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Role {
    /// A word, or a pair of neighbouring characters of a script without spaces.
    Word,
    /// A part of a compound: `user` of `getUserName`.
    Part,
    /// Several neighbouring parts of a compound, but not all: `username` of `getUserName`.
    Run,
    /// The beginning of an id: `550e8400` of `550e8400e29b`.
    Beginning,
    /// A word with its signs: `c++`, `c#`, `.net`.
    Signed,
    /// One character or syllable of a run that is divided into pairs. Each is a token only once in
    /// a text.
    Single,
}

/// The minimum number of characters of a part of a compound.
const MIN_PART: usize = 2;

/// A compound with more parts than this has no tokens of the kind [`Run`](Role::Run).
const MAX_PARTS: usize = 6;

/// The minimum number of characters of an id.
const MIN_ID: usize = 6;
/// The lengths of the prefixes by which an id is found.
const BEGINNINGS: std::ops::RangeInclusive<usize> = MIN_ID..=8;

/// Calls `found` with each token of a text, in order. The tokens are in plain form.
pub(crate) fn each_token(text: &str, mut found: impl FnMut(&str, Role)) {
    if text.is_ascii() {
        return ascii_tokens(text, &text.to_ascii_lowercase(), &mut found);
    }
    let mut singles = BTreeSet::new();
    for part in text.split_ascii_whitespace() {
        if part.is_ascii() {
            ascii_tokens(part, &part.to_ascii_lowercase(), &mut found);
        } else {
            tokens(&Plain::new(part), &mut singles, &mut found);
        }
    }
}

/// Finds the tokens of an ASCII text.
fn ascii_tokens(text: &str, plain: &str, found: &mut impl FnMut(&str, Role)) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(start) = bytes[at..].iter().position(u8::is_ascii_alphanumeric) {
        let start = at + start;
        let length = bytes[start..].iter().position(|byte| !byte.is_ascii_alphanumeric());
        let end = length.map_or(bytes.len(), |length| start + length);
        let word = &bytes[start..end];
        found(&plain[start..end], Role::Word);
        // The usual case needs no parts: small letters only, perhaps after one capital letter.
        if !word[1..].iter().all(u8::is_ascii_lowercase) || word[0].is_ascii_digit() {
            let byte = |at: usize| bytes[at] as char;
            let next = |at: usize| (at + 1 < end).then(|| byte(at + 1));
            let joints =
                (start + 1..end).filter(|at| is_joint(Some(byte(at - 1)), byte(*at), next(*at)));
            parts(&plain[..end], start, joints, found);
        }
        signed(plain, start, end, found);
        at = end;
    }
}

/// Finds the tokens of a part of a text between two spaces.
fn tokens(
    Plain { text, joints }: &Plain,
    singles: &mut BTreeSet<String>,
    found: &mut impl FnMut(&str, Role),
) {
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let Some(script) = Script::from_char(first) else {
            at += first.len_utf8();
            continue;
        };
        let length = text[at..].find(|character| !script.has(character));
        let start = at;
        let end = length.map_or(text.len(), |length| at + length);
        at = end;
        match script {
            Script::Words => {
                found(&text[start..end], Role::Word);
                let joints = joints.iter().copied().filter(|at| (start + 1..end).contains(at));
                parts(&text[..end], start, joints, found);
                signed(text, start, end, found);
            }
            Script::Characters => in_pairs(&text[start..end], singles, |_, _, _| true, found),
            Script::Syllables => in_pairs(&text[start..end], singles, begins_syllable, found),
        }
    }
}

/// Finds the parts of the word from `start` to the end of `text` and their runs, or the prefixes of an
/// id.
fn parts(
    text: &str,
    start: usize,
    joints: impl Iterator<Item = usize>,
    found: &mut impl FnMut(&str, Role),
) {
    let word = &text[start..];
    if is_id(word) {
        for length in BEGINNINGS.filter(|length| *length < word.len()) {
            found(&word[..length], Role::Beginning);
        }
        return;
    }
    let bounds: Vec<usize> = [start].into_iter().chain(joints).chain([text.len()]).collect();
    let parts = bounds.len() - 1;
    if parts == 1 {
        return;
    }
    let is_long = |bounds: &[usize]| text[bounds[0]..bounds[1]].chars().nth(MIN_PART - 1).is_some();
    for part in bounds.windows(2).filter(|part| is_long(part)) {
        found(&text[part[0]..part[1]], Role::Part);
    }
    if parts > MAX_PARTS {
        return;
    }
    for length in 2..parts {
        for run in bounds.windows(length + 1).filter(|run| run.windows(2).all(is_long)) {
            found(&text[run[0]..run[length]], Role::Run);
        }
    }
}

/// Whether a word is an id: at least 6 hexadecimal digits, or at least 18 ASCII letters and digits.
/// An id has at least one decimal digit.
fn is_id(word: &str) -> bool {
    let has_digit = || word.bytes().any(|byte| byte.is_ascii_digit());
    let is_hexadecimal = || word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_long =
        || word.len() >= 3 * MIN_ID && word.bytes().all(|byte| byte.is_ascii_alphanumeric());
    word.len() >= MIN_ID && has_digit() && (is_hexadecimal() || is_long())
}

/// Finds a word together with its signs, if it is the name of a language or product such as `C++`. A
/// version may follow: `C++17`, `C#12`, `.NET8`.
fn signed(text: &str, start: usize, end: usize, found: &mut impl FnMut(&str, Role)) {
    let before = &text[..start];
    let after = &text[end..];
    let is_in_word = |next: Option<char>| {
        next.is_some_and(|next| next.is_alphanumeric() && Script::Words.has(next))
    };
    let word = &text[start..end];
    let ends_with_letter = word.ends_with(|last: char| last.is_ascii_lowercase());
    let name = word.trim_end_matches(|last: char| last.is_ascii_digit());
    if after.starts_with("++") && ends_with_letter && !after.starts_with("+++") {
        found(&text[start..end + 2], Role::Signed);
    } else if after.starts_with('#') && ends_with_letter {
        // `issue#12` is a number, not a version.
        let is_version = word.len() == 1;
        let version = |next: char| is_version && next.is_ascii_digit();
        if !is_in_word(after[1..].trim_start_matches(version).chars().next()) {
            found(&text[start..=end], Role::Signed);
        }
    } else if name == "net" && before.ends_with('.') {
        // `example.net` is a domain, not a product.
        let product = ["asp.", "vb.", "ado."].iter().any(|product| before.ends_with(product));
        if product || !is_in_word(before.chars().nth_back(1)) {
            found(&text[start - 1..start + name.len()], Role::Signed);
        }
    }
}

/// How a script is divided into words.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Script {
    /// At spaces and punctuation.
    Words,
    /// Into pairs of neighbouring characters: Han, Hiragana, Katakana, Hangul.
    Characters,
    /// Into pairs of neighbouring syllables: Thai, Lao, Burmese, Khmer.
    Syllables,
}

impl Script {
    /// Returns the script of a word that begins with this character. `None` if no word can.
    fn from_char(character: char) -> Option<Self> {
        [Self::Syllables, Self::Characters, Self::Words].into_iter().find(|script| {
            script.has(character) && (character.is_alphanumeric() || *script == Self::Syllables)
        })
    }

    /// Whether a word of this script can go on with this character.
    fn has(self, character: char) -> bool {
        match self {
            Self::Words => {
                (character.is_alphanumeric() || is_mark(character))
                    && !is_in_pairs(character)
                    && !is_of_syllable(character)
            }
            Self::Characters => {
                is_in_pairs(character) || matches!(character, '\u{3099}' | '\u{309a}')
            }
            Self::Syllables => is_of_syllable(character),
        }
    }
}

/// Finds the pairs of neighbouring characters or syllables of a run. A run of only one is a word. Then
/// finds the single characters and syllables that may be words: each Han character, a Hangul syllable
/// that begins the run, and each syllable of the other scripts.
fn in_pairs(
    run: &str,
    singles: &mut BTreeSet<String>,
    begins: impl Fn(Option<char>, char, Option<char>) -> bool,
    found: &mut impl FnMut(&str, Role),
) {
    let mut bounds = Vec::new();
    let mut characters = run.char_indices().peekable();
    let mut before = None;
    while let Some((at, character)) = characters.next() {
        if at == 0 || begins(before, character, characters.peek().map(|(_, next)| *next)) {
            bounds.push(at);
        }
        before = Some(character);
    }
    bounds.push(run.len());
    if bounds.len() == 2 {
        return found(run, Role::Word);
    }
    bounds.windows(3).for_each(|at| found(&run[at[0]..at[2]], Role::Word));
    for (number, at) in bounds.windows(2).enumerate() {
        let single = &run[at[0]..at[1]];
        if is_word(single, number == 0) && !singles.contains(single) {
            singles.insert(single.to_owned());
            found(single, Role::Single);
        }
    }
}

/// Whether a single character or syllable may be a word.
fn is_word(single: &str, is_first: bool) -> bool {
    let mut characters = single.chars();
    match (characters.next(), characters.next()) {
        (Some('\u{ac00}'..='\u{d7a3}'), None) => is_first,
        (Some(character), None) => is_han(character),
        _ => true,
    }
}

/// Whether a character is a letter of Han, Hiragana, Katakana or Hangul.
pub(crate) fn is_in_pairs(character: char) -> bool {
    let is_there = matches!(
        character,
        '\u{1100}'..='\u{11ff}'
            | '\u{3005}'..='\u{3007}'
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

pub(crate) fn is_han(character: char) -> bool {
    matches!(
        character,
        '\u{3005}'..='\u{3007}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
            | '\u{20000}'..='\u{3ffff}'
    )
}

/// Whether a character is a letter or a sign of Thai, Lao, Burmese or Khmer.
pub(crate) fn is_of_syllable(character: char) -> bool {
    matches!(
        character,
        '\u{e01}'..='\u{e3a}'
            | '\u{e40}'..='\u{e4e}'
            | '\u{e81}'..='\u{ece}'
            | '\u{edc}'..='\u{edf}'
            | '\u{1000}'..='\u{103f}'
            | '\u{1050}'..='\u{108f}'
            | '\u{109a}'..='\u{109d}'
            | '\u{1780}'..='\u{17d3}'
            | '\u{17dc}'..='\u{17dd}'
            | '\u{a9e0}'..='\u{a9ef}'
            | '\u{a9fa}'..='\u{a9fe}'
            | '\u{aa60}'..='\u{aa7f}'
    )
}

/// Whether a syllable begins at a character, by a rule without a dictionary. A syllable begins at a
/// vowel that is written before its consonant, and at a consonant that follows no such vowel. It does
/// not begin at a subscript consonant, or at a consonant without a vowel in Burmese.
fn begins_syllable(before: Option<char>, character: char, next: Option<char>) -> bool {
    let is_letter = matches!(
        character,
        '\u{e01}'..='\u{e2e}'
            | '\u{e40}'..='\u{e44}'
            | '\u{e81}'..='\u{eae}'
            | '\u{ec0}'..='\u{ec4}'
            | '\u{edc}'..='\u{edf}'
            | '\u{1000}'..='\u{102a}'
            | '\u{103f}'
            | '\u{1050}'..='\u{1055}'
            | '\u{105a}'..='\u{105d}'
            | '\u{1061}'
            | '\u{1065}'..='\u{1066}'
            | '\u{106e}'..='\u{1070}'
            | '\u{1075}'..='\u{1081}'
            | '\u{108e}'
            | '\u{1780}'..='\u{17b3}'
            | '\u{a9e0}'..='\u{a9ef}'
            | '\u{a9fa}'..='\u{a9fe}'
            | '\u{aa60}'..='\u{aa7a}'
    );
    let is_joined = matches!(
        before,
        Some('\u{e40}'..='\u{e44}' | '\u{ec0}'..='\u{ec4}' | '\u{1039}' | '\u{17d2}')
    );
    let is_last_of_syllable = matches!(next, Some('\u{1039}' | '\u{103a}'));
    is_letter && !is_joined && !is_last_of_syllable
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> String {
        let mut tokens = Vec::new();
        each_token(text, |token, role| {
            let sign = match role {
                Role::Word => "",
                Role::Part => "+",
                Role::Run => "~",
                Role::Beginning => "^",
                Role::Signed => "=",
                Role::Single => "'",
            };
            tokens.push(format!("{sign}{token}"));
        });
        tokens.join(" ")
    }

    #[test]
    fn a_compound_is_found_by_its_parts() {
        for (text, expected) in [
            ("getUserName", "getusername +get +user +name ~getuser ~username"),
            ("HTTPServer", "httpserver +http +server"),
            ("v12beta utf8 x86", "v12beta +12 +beta ~12beta utf8 +utf x86 +86"),
            ("getÜberName's", "getubername +get +uber +name ~getuber ~ubername s"),
            ("API iPhone McDonald", "api iphone +phone mcdonald +mc +donald"),
            ("agent_memory snake-case", "agent memory snake case"),
            ("Größe2 3D", "grosse2 +grosse 3d"),
        ] {
            assert_eq!(found(text), expected, "{text}");
        }
    }

    #[test]
    fn an_id_is_found_by_its_beginning() {
        for (text, expected) in [
            ("550e8400-e29b", "550e8400 ^550e84 ^550e840 e29b +29"),
            ("Ab12cd", "ab12cd"),
            ("20250120", "20250120 ^202501 ^2025012"),
            ("id–550E8400e29b", "id 550e8400e29b ^550e84 ^550e840 ^550e8400"),
            ("01ARZ3NDEKTSV4RRFFQ69G5FAV", "01arz3ndektsv4rrffq69g5fav ^01arz3 ^01arz3n ^01arz3nd"),
            ("facade 12345", "facade 12345"),
        ] {
            assert_eq!(found(text), expected, "{text}");
        }
    }

    #[test]
    fn the_name_of_a_language_has_its_signs() {
        for (text, expected) in [
            ("C++, C# and F#.", "c =c++ c =c# and f =f#"),
            ("“C++” c++17", "c =c++ c =c++ 17"),
            (".NET ASP.NET example.net", "net =.net asp net =.net example net"),
            ("a+b #12 issue#12 i+++", "a b 12 issue 12 i"),
            ("“F#” “.NET”—C#12", "f =f# net =.net c =c# 12"),
            ("C#x .NET8 x.net8", "c x net8 +net =.net x net8 +net"),
            ("C#のコード .NETで", "c =c# のコ コー ード net =.net で"),
        ] {
            assert_eq!(found(text), expected, "{text}");
        }
    }

    #[test]
    fn scripts_without_spaces_are_pairs_and_single_characters() {
        for (text, expected) in [
            ("猫", "猫"),
            ("東京都に", "東京 京都 都に '東 '京 '都"),
            ("私は猫。猫が", "私は は猫 '私 '猫 猫が"),
            ("データ カ\u{3099}ス", "デー ータ ガス"),
            ("서울에서 책을", "서울 울에 에서 '서 책을 '책"),
            ("SQLiteの速度", "sqlite +sq +lite の速 速度 '速 '度"),
            ("ประเทศไทย", "ประ ระเท เทศ ศไท ไทย 'ระ 'เท 'ไท"),
            ("ภาษาลาว ປະເທດລາວ", "ภาษา ษาลา ลาว 'ภา 'ษา 'ลา ປະເທ ເທດ ດລາ ລາວ 'ປະ 'ເທ 'ລາ"),
            ("ភាសាខ្មែរ", "ភាសា សាខ្មែ ខ្មែរ 'ភា 'សា 'ខ្មែ"),
            ("မြန်မာ", "မြန်မာ 'မြန် 'မာ"),
        ] {
            assert_eq!(found(text), expected, "{text}");
        }
    }

    #[test]
    fn words_have_their_marks() {
        for (text, expected) in [
            ("नमस्ते दुनिया", "नमस्ते दुनिया"),
            ("l’été – d'été", "l ete d ete"),
            ("שָׁלוֹם", "שלום"),
            ("", ""),
            ("—…!\u{301}", ""),
        ] {
            assert_eq!(found(text), expected, "{text}");
        }
    }

    /// A text of ASCII only is divided by other code. Both must agree, because a question may be ASCII
    /// where the text is not.
    #[test]
    fn tokens_of_ascii_are_the_same_beside_other_letters() {
        for text in
            ["a_b c.d 1,2 don't x-y v1.2.3 (e.g. this) a:b 3a a3 --", "HTTPServer2 C++ x", "utf8"]
        {
            let beside: String = text.split(' ').map(|part| format!("{part}— ")).collect();
            assert_eq!(found(&beside), found(text));
        }
    }
}
