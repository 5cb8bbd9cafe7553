//! Finds the positions of values in a JSON text. The scan is strict about the grammar (RFC 8259)
//! and does not build values.
//!
//! A file may be large and a call needs little of it, so the scan only passes over most values. It
//! passes over strings eight bytes at a time: byte by byte, adding a memory to a file of 10,000
//! records takes 1.2 times the processor time.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;

use super::layout::without_byte_order_mark;

/// The deepest nesting that is accepted. No program that writes memories comes near it.
const MAX_DEPTH: usize = 64;

/// The number of members that a record usually has.
const USUAL: usize = 12;

/// A fault in a JSON text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Flaw {
    /// The offset of the fault, in bytes.
    pub at: usize,
    /// The fault, in lower case: messages put it after `line 3 column 5: `.
    pub what: &'static str,
}

/// A member of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Member {
    /// The range of the key, with its quotes.
    pub key: Range<usize>,
    pub value: Range<usize>,
}

/// Scans a JSON text from its beginning.
pub(super) struct Scanner<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    depth: usize,
    /// The first flaw that does not make the positions of values unclear: a key that occurs twice,
    /// or half of a surrogate pair.
    flaw: Option<Flaw>,
}

type Scanned<T> = Result<T, Flaw>;

impl<'a> Scanner<'a> {
    pub fn new(text: &'a str) -> Self {
        Self { text, bytes: text.as_bytes(), at: 0, depth: 0, flaw: None }
    }

    /// Scans a value with `scan`. If a key of the value occurs twice, or a string has half of a
    /// surrogate pair, returns this as a flaw of the value alone. Outside of `apart`,
    /// [`end`](Self::end) fails with such a flaw.
    pub fn apart<T>(
        &mut self,
        scan: impl FnOnce(&mut Self) -> Scanned<T>,
    ) -> Scanned<(T, Option<Flaw>)> {
        let outer = self.flaw.take();
        let scanned = scan(self)?;
        Ok((scanned, std::mem::replace(&mut self.flaw, outer)))
    }

    /// Scans an object and returns its members. Calls `each` with each key when the scanner is at
    /// the beginning of the value. `each` has to scan the value.
    ///
    /// # Errors
    ///
    /// If there is no valid JSON object here.
    pub fn object(
        &mut self,
        mut each: impl FnMut(&mut Self, &Range<usize>) -> Scanned<()>,
    ) -> Scanned<Vec<Member>> {
        self.enter(b'{', "expected an object")?;
        let mut members = Vec::with_capacity(USUAL);
        let mut keys = Keys::default();
        if self.next_is(b'}') {
            self.depth -= 1;
            return Ok(members);
        }
        loop {
            self.white_space();
            let (key, is_plain) = self.string()?;
            if !keys.insert(self.text, &members, &key, is_plain) {
                self.defer(Flaw { at: key.start, what: "a key stands twice in one object" });
            }
            if !self.next_is(b':') {
                return Err(self.flaw("expected `:`"));
            }
            self.white_space();
            let start = self.at;
            each(self, &key)?;
            members.push(Member { key, value: start..self.at });
            if self.ends(b'}', "expected `,` or `}`")? {
                return Ok(members);
            }
        }
    }

    /// Scans an array. Calls `each` at the beginning of each item. `each` has to scan the item.
    pub fn array(&mut self, mut each: impl FnMut(&mut Self) -> Scanned<()>) -> Scanned<()> {
        self.enter(b'[', "expected an array")?;
        if self.next_is(b']') {
            self.depth -= 1;
            return Ok(());
        }
        loop {
            self.white_space();
            each(self)?;
            if self.ends(b']', "expected `,` or `]`")? {
                return Ok(());
            }
        }
    }

    /// Scans any value.
    pub fn value(&mut self) -> Scanned<()> {
        match self.peek() {
            Some(b'{') => self.object(|scanner, _| scanner.value()).map(drop),
            Some(b'[') => self.array(Self::value),
            Some(b'"') => self.string().map(drop),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.word(b"true"),
            Some(b'f') => self.word(b"false"),
            Some(b'n') => self.word(b"null"),
            _ => Err(self.flaw("expected a value")),
        }
    }

    /// The position in the text, in bytes.
    pub fn position(&self) -> usize {
        self.at
    }

    pub fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// Passes over a byte order mark at the beginning, and over white space.
    pub fn begin(&mut self) {
        self.at = self.text.len() - without_byte_order_mark(self.text).len();
        self.white_space();
    }

    pub fn white_space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    /// Checks that only white space follows, and that no flaw was found before.
    pub fn end(&mut self) -> Scanned<()> {
        self.white_space();
        match self.peek() {
            None => self.flaw.take().map_or(Ok(()), Err),
            Some(_) => Err(self.flaw("expected nothing more")),
        }
    }

    fn defer(&mut self, flaw: Flaw) {
        self.flaw.get_or_insert(flaw);
    }

    fn flaw(&self, what: &'static str) -> Flaw {
        let what = match self.bytes.get(self.at..) {
            None | Some([]) => "the text ends too early",
            Some([0xef, 0xbb, 0xbf, ..]) => "a byte order mark, which JSON does not take",
            Some(_) => what,
        };
        Flaw { at: self.at, what }
    }

    fn enter(&mut self, bracket: u8, expected: &'static str) -> Scanned<()> {
        if self.peek() != Some(bracket) {
            return Err(self.flaw(expected));
        }
        if self.depth == MAX_DEPTH {
            return Err(self.flaw("nested too deeply"));
        }
        self.depth += 1;
        self.at += 1;
        Ok(())
    }

    /// Passes over white space, and over `sign` if it comes next. Returns whether `sign` came next.
    fn next_is(&mut self, sign: u8) -> bool {
        self.white_space();
        let is = self.peek() == Some(sign);
        self.at += usize::from(is);
        is
    }

    /// Returns true at the end of an object or array. Otherwise passes over a comma and returns
    /// false.
    fn ends(&mut self, bracket: u8, expected: &'static str) -> Scanned<bool> {
        if self.next_is(bracket) {
            self.depth -= 1;
            return Ok(true);
        }
        if self.next_is(b',') { Ok(false) } else { Err(self.flaw(expected)) }
    }

    /// Scans a string. Returns its range with the quotes, and whether it has no escapes.
    fn string(&mut self) -> Scanned<(Range<usize>, bool)> {
        let start = self.at;
        let mut is_plain = true;
        if self.peek() != Some(b'"') {
            return Err(self.flaw("expected a string"));
        }
        self.at += 1;
        loop {
            self.at += plain_bytes(&self.bytes[self.at..]);
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok((start..self.at, is_plain));
                }
                Some(b'\\') => {
                    is_plain = false;
                    self.escape()?;
                }
                _ => return Err(self.flaw("a control character in a string")),
            }
        }
    }

    fn escape(&mut self) -> Scanned<()> {
        let start = self.at;
        self.at += 1;
        match self.peek() {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 1,
            Some(b'u') => {
                let unpaired = Flaw { at: start, what: "half of a surrogate pair" };
                match self.unicode()? {
                    0xd800..=0xdbff => {
                        let follows = self.bytes[self.at..].starts_with(b"\\u");
                        self.at += usize::from(follows);
                        if !follows || !matches!(self.unicode()?, 0xdc00..=0xdfff) {
                            self.defer(unpaired);
                        }
                    }
                    0xdc00..=0xdfff => self.defer(unpaired),
                    _ => {}
                }
            }
            _ => return Err(self.flaw("an unknown escape in a string")),
        }
        Ok(())
    }

    /// Passes over `uXXXX` and returns the number.
    fn unicode(&mut self) -> Scanned<u32> {
        let digits = self.bytes.get(self.at + 1..self.at + 5).unwrap_or_default();
        let valid = digits.len() == 4 && digits.iter().all(u8::is_ascii_hexdigit);
        let number = std::str::from_utf8(digits).ok().filter(|_| valid);
        let Some(number) = number.and_then(|digits| u32::from_str_radix(digits, 16).ok()) else {
            return Err(self.flaw("`\\u` takes four hexadecimal digits"));
        };
        self.at += 5;
        Ok(number)
    }

    fn number(&mut self) -> Scanned<()> {
        self.at += usize::from(self.peek() == Some(b'-'));
        match self.peek() {
            Some(b'0') => self.at += 1,
            _ => self.digits()?,
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            self.at += usize::from(matches!(self.peek(), Some(b'+' | b'-')));
            self.digits()?;
        }
        Ok(())
    }

    fn digits(&mut self) -> Scanned<()> {
        let count = self.bytes[self.at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += count;
        match count {
            0 => Err(self.flaw("expected a digit")),
            _ => Ok(()),
        }
    }

    fn word(&mut self, word: &[u8]) -> Scanned<()> {
        if !self.bytes[self.at..].starts_with(word) {
            return Err(self.flaw("expected a value"));
        }
        self.at += word.len();
        Ok(())
    }
}

/// The set of an object's keys, to find keys that occur twice. `None` while the object has few
/// keys, all without escapes: then a key is compared with the keys of all members.
#[derive(Default)]
struct Keys<'a>(Option<BTreeSet<Cow<'a, str>>>);

impl<'a> Keys<'a> {
    const FEW: usize = 16;

    /// Adds a key of an object. Returns false if the object has the key already, in `members`.
    fn insert(
        &mut self,
        text: &'a str,
        members: &[Member],
        key: &Range<usize>,
        is_plain: bool,
    ) -> bool {
        if is_plain && members.len() < Self::FEW && self.0.is_none() {
            let written = |key: &Range<usize>| &text.as_bytes()[key.clone()];
            return members.iter().all(|member| written(&member.key) != written(key));
        }
        let said = self.0.get_or_insert_with(|| {
            members.iter().map(|member| unquoted(text, &member.key)).collect()
        });
        said.insert(unquoted(text, key))
    }
}

/// The number of bytes before the first quote, backslash or control character. Looks at eight bytes
/// at a time.
fn plain_bytes(bytes: &[u8]) -> usize {
    let mut plain = 0;
    while let Some(word) = bytes[plain..].first_chunk() {
        let others = other_bytes(u64::from_le_bytes(*word));
        if others != 0 {
            return plain + others.trailing_zeros() as usize / 8;
        }
        plain += word.len();
    }
    // In UTF-8, each byte of a character that is not ASCII is at least 0x80, so it is plain.
    let is_other = |&byte: &u8| byte < 0x20 || byte == b'"' || byte == b'\\';
    plain + bytes[plain..].iter().take_while(|byte| !is_other(byte)).count()
}

/// Marks the first quote, backslash or control character in eight bytes: the lowest set bit of the
/// result is the high bit of that byte. 0 if there is none. The higher bits of the result mean
/// nothing. The trick is `hasless`: <https://graphics.stanford.edu/~seander/bithacks.html>.
fn other_bytes(word: u64) -> u64 {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    const HIGH: u64 = ONES << 7;
    let below = |word: u64, bound: u64| word.wrapping_sub(ONES * bound);
    let is = |sign: u8| below(word ^ (ONES * u64::from(sign)), 1);
    (below(word, 0x20) | is(b'"') | is(b'\\')) & !word & HIGH
}

/// The value of a scanned string: without its quotes, with its escapes decoded.
pub(super) fn unquoted<'a>(text: &'a str, string: &Range<usize>) -> Cow<'a, str> {
    let inner = &text[string.start + 1..string.end - 1];
    if plain_bytes(inner.as_bytes()) == inner.len() {
        return Cow::Borrowed(inner);
    }
    serde_json::from_str(&text[string.clone()]).map_or(Cow::Borrowed(inner), Cow::Owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scan(text: &str) -> Scanned<()> {
        let mut scanner = Scanner::new(text);
        scanner.white_space();
        scanner.value()?;
        scanner.end()
    }

    #[test]
    fn it_takes_what_a_json_parser_takes() {
        let texts = [
            r#"{"a": [1, -0, 0.5, 1e9, 1E-2, true, false, null, "x", {}, []], "b": {"c": "\u00e9"}}"#,
            r#"  "\ud83d\ude00 \" \\ \/ \b \f \n \r \t é 𝒳"  "#,
            "1234567890123456789012345678901234567890",
            "[]",
            "{\"a\":1,}",
            "[1,]",
            "[1 2]",
            "{1: 2}",
            "{\"a\" 1}",
            "01",
            "1.",
            ".5",
            "-",
            "+1",
            "1e",
            "nul",
            "NaN",
            "\"a\nb\"",
            "\"\\x\"",
            "\"\\u12g4\"",
            "\"\\ud800\"",
            "\"\\ud800\\u0041\"",
            "\"\\udc00\"",
            "\"open",
            "[",
            "",
            "1 2",
            "\u{feff}{}",
        ];
        for text in texts {
            let parsed = serde_json::from_str::<serde_json::Value>(text);
            assert_eq!(scan(text).is_ok(), parsed.is_ok(), "{text}: {:?}", scan(text));
        }
    }

    #[test]
    fn every_cut_and_every_flip_is_judged_as_a_parser_judges_it() {
        let golden = r#"{"a": [1.5e3, "\u00e9\n", {"b": null}], "c": true}"#;
        for at in 0..golden.len() {
            let cut = &golden[..at];
            assert!(scan(cut).is_err(), "{cut}");
            for mask in [1, 2, 4, 8, 16, 32, 64] {
                let mut bytes = golden.as_bytes().to_vec();
                bytes[at] ^= mask;
                let Ok(flipped) = std::str::from_utf8(&bytes) else { continue };
                let parsed = serde_json::from_str::<serde_json::Value>(flipped);
                let twice = scan(flipped).is_err_and(|flaw| flaw.what.contains("twice"));
                assert!(scan(flipped).is_ok() == parsed.is_ok() || twice, "{flipped}");
            }
        }
    }

    #[test]
    fn a_flaw_apart_is_no_flaw_of_the_text_around_it() {
        let mut scanner = Scanner::new(r#"{"a": 1, "a": 2} {"b": "\udc00"}"#);
        let (_, flaw) = scanner.apart(Scanner::value).expect("the end of the object is known");
        assert_eq!(flaw.map(|flaw| flaw.at), Some(9));
        scanner.white_space();
        assert_eq!(scanner.value(), Ok(()));
        assert_eq!(scanner.end().map_err(|flaw| flaw.at), Err(24));
    }

    #[test]
    fn the_first_sign_in_a_string_that_is_not_plain_is_found_wherever_it_stands() {
        for other in (0..0x20).chain([b'"', b'\\']) {
            for at in 0..200 {
                for before in [b' ', b'!', b'#', b'[', b']', 0x7f, 0x80, 0xa2, 0xdc, 0xff] {
                    let mut bytes = [before; 200];
                    bytes[at] = other;
                    bytes[199] = b'"';
                    assert_eq!(plain_bytes(&bytes), at.min(199), "{other} after {before}");
                }
            }
        }
    }

    #[test]
    fn a_key_twice_and_deep_nesting_are_flaws_with_their_place() {
        let flaw = scan(r#"{"a": {"b": 1, "b": 2}}"#).expect_err("a key twice");
        assert_eq!((flaw.at, flaw.what), (15, "a key stands twice in one object"));
        assert!(scan(r#"{"a": 1, "\u0061": 2}"#).is_err());
        assert!(scan(r#"{"\u0061": 1, "b": 2, "a": 3}"#).is_err());
        let many: String = (0..40).map(|number| format!("\"{number}\": 0, ")).collect();
        assert_eq!(scan(&format!("{{{many}\"40\": 0}}")), Ok(()));
        assert!(scan(&format!("{{{many}\"7\": 0}}")).is_err());
        let deep = "[".repeat(MAX_DEPTH) + &"]".repeat(MAX_DEPTH);
        assert_eq!(scan(&deep), Ok(()));
        let flaw = scan(&"[".repeat(1_000_000)).expect_err("too deep");
        assert_eq!((flaw.at, flaw.what), (MAX_DEPTH, "nested too deeply"));
    }
}
