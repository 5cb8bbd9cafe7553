//! Views and edits the lines of a file. An edit keeps all other bytes.
//!
//! A line ends with LF or CRLF, as in Anthropic's memory tool. A byte order mark belongs to no
//! line.

use super::error::Error;
use super::path::FilePath;
use crate::storage::Splice;

/// The maximum number of lines of a file. Its line numbers have at most six digits, which fit in
/// the column of a view.
const MAX_LINES: usize = 999_999;

/// The maximum number of characters of a text in a call.
pub(super) const MAX_TEXT: u32 = 1_000_000;

/// The maximum number of characters of a view. Clients truncate longer answers.
const MAX_VIEW: usize = 50_000;

/// The number of lines that a snippet shows above and below the first changed line.
const AROUND: usize = 2;

/// The maximum number of characters of a line in a snippet.
const MAX_SNIPPET_LINE: usize = 500;

/// A byte order mark.
const MARK: char = '\u{feff}';

/// Returns the lines of a text, without their line endings.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    let text = text.strip_prefix(MARK).unwrap_or(text);
    text.split_terminator('\n').map(|line| line.strip_suffix('\r').unwrap_or(line))
}

fn numbered(number: usize, line: &str) -> String {
    format!("{number:>6}\t{line}")
}

/// Checks that a file has at most [`MAX_LINES`] lines.
///
/// # Errors
///
/// `LIMIT_EXCEEDED` if the file has more lines.
pub(super) fn check_lines(path: &FilePath, text: &str) -> Result<(), Error> {
    match lines(text).nth(MAX_LINES) {
        Some(_) => Err(Error::too_many_lines(path)),
        None => Ok(()),
    }
}

/// Returns the lines of a file with their numbers, or only the lines of `range`. If they are too
/// long for one view, returns the first lines and says how to view the next ones.
///
/// # Errors
///
/// `INVALID_INPUT` if the file does not have the range, `LIMIT_EXCEEDED` if it has too many lines.
pub(super) fn view(
    path: &FilePath,
    text: &str,
    range: Option<(i64, i64)>,
) -> Result<String, Error> {
    check_lines(path, text)?;
    let lines: Vec<&str> = lines(text).collect();
    let (first, last) = match range {
        Some(range) if !lines.is_empty() => {
            within(range, lines.len()).ok_or_else(|| Error::invalid_range(range, lines.len()))?
        }
        _ => (1, lines.len()),
    };
    let mut view = format!("Here's the content of {path} with line numbers:\n");
    let mut left = MAX_VIEW;
    let mut next = first;
    let mut shown = Vec::new();
    while next <= last {
        let line = numbered(next, lines[next - 1]);
        let length = line.chars().count() + 1;
        if length > left && !shown.is_empty() {
            break;
        }
        left = left.saturating_sub(length);
        shown.push(line);
        next += 1;
    }
    view += &shown.join("\n");
    if next <= last {
        let end = next - 1;
        let count = lines.len();
        view += &format!(
            "\n(These are lines {first} to {end} of {count}. View the next ones with view_range \
             [{next}, {last}].)"
        );
    }
    Ok(view)
}

/// Returns the first and the last line of a range. `None` if the range is outside of the file.
fn within((first, last): (i64, i64), count: usize) -> Option<(usize, usize)> {
    let first = usize::try_from(first.max(1)).ok().filter(|first| *first <= count)?;
    let last = if last == -1 { count } else { usize::try_from(last).ok()?.min(count) };
    (first <= last).then_some((first, last))
}

/// The number of the line that contains the byte at `at`.
pub(super) fn line_of(text: &str, at: usize) -> usize {
    1 + text.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count()
}

/// Returns the lines around the line with this number.
pub(super) fn snippet(text: &str, line: usize) -> String {
    let first = line.saturating_sub(AROUND).max(1);
    let shown = lines(text).enumerate().skip(first - 1).take(line + AROUND + 1 - first);
    let shown = shown.map(|(at, line)| match line.char_indices().nth(MAX_SNIPPET_LINE) {
        Some((end, _)) => numbered(at + 1, &format!("{}...", &line[..end])),
        None => numbered(at + 1, line),
    });
    shown.collect::<Vec<_>>().join("\n")
}

/// Returns the ending of a file's first line, which counts as that of the file. `None` if no line
/// has an ending.
fn line_end(text: &str) -> Option<&'static str> {
    let at = text.find('\n')?;
    Some(if text[..at].ends_with('\r') { "\r\n" } else { "\n" })
}

/// Returns a new text with the line endings of the file into which it is inserted.
pub(super) fn with_line_ends_of(file: &str, new: &str) -> String {
    match line_end(file) {
        Some(end) => new.replace("\r\n", "\n").replace('\n', end),
        None => new.to_owned(),
    }
}

/// Returns the splice that inserts a text as whole lines after the line `after`, or before the
/// first line for 0. A file without a line ending at its end does not get one, unless the file is
/// empty.
///
/// # Errors
///
/// The number of the last line if the line `after` does not exist.
pub(super) fn insertion(text: &str, after: i64, new: &str) -> Result<Splice, usize> {
    let count = lines(text).count();
    let after = usize::try_from(after).ok().filter(|after| *after <= count).ok_or(count)?;
    let new = with_line_ends_of(text, new);
    let body = text.strip_prefix(MARK).unwrap_or(text);
    let end = line_end(text).or(line_end(&new)).unwrap_or("\n");
    let bare = new.strip_suffix('\n').map(|new| new.strip_suffix('\r').unwrap_or(new));
    let bare = bare.unwrap_or(&new);
    if after == count && !body.is_empty() && !body.ends_with('\n') {
        let inserts = format!("{end}{bare}").into_bytes();
        return Ok(Splice { range: text.len()..text.len(), inserts });
    }
    let starts = body.match_indices('\n').map(|(at, _)| at + 1);
    let start = [0].into_iter().chain(starts).nth(after).unwrap_or(body.len());
    let at = text.len() - body.len() + start;
    Ok(Splice { range: at..at, inserts: format!("{bare}{end}").into_bytes() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn viewed(text: &str, range: Option<(i64, i64)>) -> Result<String, Error> {
        let path = FilePath::parse("/memories/a", "path").unwrap_or(FilePath::ROOT);
        view(&path, text, range).map(|view| view.split_once('\n').expect("a header").1.to_owned())
    }

    #[test]
    fn lines_are_numbered_without_their_ends() {
        for (text, shown) in [
            ("", ""),
            ("a", "     1\ta"),
            ("\u{feff}a\r\nb\n\nc", "     1\ta\n     2\tb\n     3\t\n     4\tc"),
            ("a\rb\n", "     1\ta\rb"),
        ] {
            assert_eq!(viewed(text, None).as_deref(), Ok(shown), "{text:?}");
        }
    }

    #[test]
    fn a_range_is_clamped_at_both_ends() {
        let text = "a\nb\nc\n";
        for (range, shown) in [
            ((2, 3), "     2\tb\n     3\tc"),
            ((0, 1), "     1\ta"),
            ((2, -1), "     2\tb\n     3\tc"),
            ((3, 9), "     3\tc"),
        ] {
            assert_eq!(viewed(text, Some(range)).as_deref(), Ok(shown), "{range:?}");
        }
        for range in [(4, 5), (2, 1), (1, -2), (4, -1), (1, 0)] {
            assert!(viewed(text, Some(range)).is_err(), "{range:?}");
        }
        assert_eq!(viewed("", Some((1, 10))).as_deref(), Ok(""));
    }

    #[test]
    fn a_long_view_says_how_to_go_on_and_a_long_line_is_whole() {
        let text = "x".repeat(99) + "\n";
        let view = viewed(&text.repeat(2_000), Some((2, 1_500))).expect("a view");
        assert!(view.starts_with("     2\tx"), "{view}");
        let note =
            "(These are lines 2 to 468 of 2000. View the next ones with view_range [469, 1500].)";
        assert_eq!(view.lines().last(), Some(note));
        assert_eq!(view.lines().count(), 468);
        let long = "y".repeat(60_000);
        assert_eq!(viewed(&long, None).map(|view| view.len()), Ok(60_007));
    }

    #[test]
    fn a_file_has_at_most_999_999_lines() {
        let path = FilePath::ROOT;
        assert!(check_lines(&path, &"\n".repeat(999_999)).is_ok());
        assert!(check_lines(&path, &"\n".repeat(1_000_000)).is_err());
    }

    #[test]
    fn a_text_is_inserted_as_lines_with_the_ends_of_the_file() {
        for (text, after, new, whole) in [
            ("", 0, "a", "a\n"),
            ("", 0, "a\r\nb", "a\r\nb\r\n"),
            ("a\nb\n", 0, "x\n", "x\na\nb\n"),
            ("a\nb\n", 1, "x", "a\nx\nb\n"),
            ("a\nb\n", 2, "x\ny\n", "a\nb\nx\ny\n"),
            ("a\nb", 2, "x\n", "a\nb\nx"),
            ("a\nb", 1, "", "a\n\nb"),
            ("a", 1, "x", "a\nx"),
            ("a\r\nb\r\n", 1, "x\ny", "a\r\nx\r\ny\r\nb\r\n"),
            ("a\nb\r\n", 2, "x\r\n", "a\nb\r\nx\n"),
            ("\u{feff}a\n", 0, "x", "\u{feff}x\na\n"),
            ("\u{feff}", 0, "x", "\u{feff}x\n"),
        ] {
            let splice = insertion(text, after, new).expect("a line of the file");
            assert_eq!(Splice::all_of_text(&[splice], text), whole, "{text:?}");
        }
        assert_eq!(insertion("a\nb", 3, "x"), Err(2));
        assert_eq!(insertion("a\nb\n", -1, "x"), Err(2));
        assert_eq!(insertion("", 1, "x"), Err(0));
    }

    #[test]
    fn a_snippet_has_two_lines_on_each_side() {
        let text = "1\n2\n3\n4\n5\n6\n7";
        assert_eq!(snippet(text, 4), "     2\t2\n     3\t3\n     4\t4\n     5\t5\n     6\t6");
        assert_eq!(snippet(text, 1), "     1\t1\n     2\t2\n     3\t3");
        assert_eq!(snippet(text, 7), "     5\t5\n     6\t6\n     7\t7");
        assert_eq!(snippet("", 1), "");
    }
}
