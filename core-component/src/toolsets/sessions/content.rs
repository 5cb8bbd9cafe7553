//! The `content` argument of a call.

use super::error::{Code, Error};
use crate::markdown::ContentError;
use crate::text::{is_blank, lines, normalise};

/// The content in the form in which it is stored: with line feeds as line ends, and without blank
/// lines at the beginning and the end.
///
/// # Errors
///
/// `InvalidContent` if it contains a control character.
pub(super) fn stored_form(content: &str) -> Result<String, Error> {
    Ok(without_blank_ends(&with_line_feeds(content, "`content`")?).to_owned())
}

/// The text with line feeds as line ends. `place` names the text in messages.
///
/// # Errors
///
/// `InvalidContent` if it contains a control character.
pub(super) fn with_line_feeds(text: &str, place: &str) -> Result<String, Error> {
    normalise(text).map_err(|forbidden| {
        let code = u32::from(forbidden.character);
        let what = format!("holds the control character U+{code:04X}: remove it");
        invalid_text(place, ContentError::new(forbidden.line, what))
    })
}

/// The text without blank lines at the beginning and the end.
pub(super) fn without_blank_ends(text: &str) -> &str {
    let with_text = || lines(text).filter(|(_, line)| !is_blank(line));
    let start = with_text().next().map_or(0, |(at, _)| at);
    let end = with_text().last().map_or(0, |(at, line)| at + line.len());
    &text[start..end]
}

/// The error `InvalidContent` about a line of the content.
pub(super) fn invalid_content(error: ContentError) -> Error {
    invalid_text("`content`", error)
}

/// The error `InvalidContent` about a line of a text. `place` names the text.
pub(super) fn invalid_text(place: &str, error: ContentError) -> Error {
    let message = format!("line {} of {place} {}", error.line, error.what);
    Error::new(Code::InvalidContent, message)
}
