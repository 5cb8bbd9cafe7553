//! The form in which text is stored: UTF-8, lines end with LF, no control characters.

/// A character that stored text must not contain.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ForbiddenCharacter {
    pub character: char,
    /// Counted from 1.
    pub line: usize,
}

/// The text with every CRLF and CR replaced by LF.
///
/// # Errors
///
/// The first control character other than tab and line feed. U+2028, U+2029 and the byte order mark
/// count as control characters: some programs break lines at them, or drop them.
pub(crate) fn normalise(text: &str) -> Result<String, ForbiddenCharacter> {
    let text = normalise_line_ends(text);
    let allowed = |c: char| match c {
        '\t' | '\n' => true,
        '\u{2028}' | '\u{2029}' | '\u{feff}' => false,
        c => !c.is_control(),
    };
    match text.char_indices().find(|(_, c)| !allowed(*c)) {
        None => Ok(text),
        Some((at, character)) => Err(ForbiddenCharacter { character, line: line_of(&text, at) }),
    }
}

/// The text with every CRLF and CR replaced by LF.
pub(crate) fn normalise_line_ends(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

/// The line that contains the byte at `at`, counted from 1.
pub(crate) fn line_of(text: &str, at: usize) -> usize {
    let before = &text.as_bytes()[..at];
    let ends = |(i, byte): (usize, &u8)| match byte {
        b'\n' => true,
        b'\r' => text.as_bytes().get(i + 1) != Some(&b'\n'),
        _ => false,
    };
    1 + before.iter().enumerate().filter(|(i, byte)| ends((*i, byte))).count()
}

/// The lines of a text, each with its offset and without its line end (LF, CRLF or CR).
pub(crate) fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        if at == text.len() {
            return None;
        }
        let start = at;
        let rest = &text[at..];
        let length = rest.find(['\n', '\r']).unwrap_or(rest.len());
        let end = match rest.as_bytes().get(length..) {
            Some([b'\r', b'\n', ..]) => 2,
            Some([_, ..]) => 1,
            _ => 0,
        };
        at += length + end;
        Some((start, &rest[..length]))
    })
}

/// How many characters of a text a message quotes.
const MAX_QUOTED: usize = 60;

/// The beginning of a text for a message, with `…` if it is cut.
pub(crate) fn excerpt(text: &str) -> String {
    match text.char_indices().nth(MAX_QUOTED) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// The beginning of the line that contains the byte at `at`.
pub(crate) fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind(['\n', '\r']).map_or(0, |end| end + 1)
}

/// The end of the line that contains the byte at `at`, with its line end.
pub(crate) fn line_after(text: &str, at: usize) -> usize {
    lines(&text[at..]).nth(1).map_or(text.len(), |(next, _)| at + next)
}

/// Whether a line contains only spaces and tabs, or nothing.
pub(crate) fn is_blank(line: &str) -> bool {
    line.bytes().all(|byte| matches!(byte, b' ' | b'\t'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_ends_become_line_feeds() {
        assert_eq!(normalise("a\r\nb\rc\n").as_deref(), Ok("a\nb\nc\n"));
    }

    #[test]
    fn control_characters_are_refused_with_their_line() {
        for character in ['\0', '\u{8}', '\u{b}', '\u{1b}', '\u{7f}', '\u{85}', '\u{9f}']
            .into_iter()
            .chain(['\u{2028}', '\u{2029}', '\u{feff}'])
        {
            let text = format!("one\ntwo {character}");
            assert_eq!(normalise(&text), Err(ForbiddenCharacter { character, line: 2 }));
        }
        assert!(normalise("tab\tand é and 𝒳").is_ok());
    }

    #[test]
    fn lines_end_as_commonmark_says() {
        let lines: Vec<_> = lines("a\r\nb\rc\n\nd").collect();
        assert_eq!(lines, [(0, "a"), (3, "b"), (5, "c"), (7, ""), (8, "d")]);
        assert_eq!(line_of("a\r\nb\rc", 5), 3);
        let text = "a\r\nb\rc";
        for (at, start, after) in [(0, 0, 3), (1, 0, 3), (3, 3, 5), (5, 5, 6), (6, 5, 6)] {
            assert_eq!((line_start(text, at), line_after(text, at)), (start, after), "{at}");
        }
    }
}
