//! The `content` argument of a call.

use super::error::{Code, Error};
use crate::markdown::ContentError;
use crate::text::{is_blank, lines, normalise};

/// The content as it is stored: lines end with LF, without blank lines at the beginning and the
/// end.
///
/// # Errors
///
/// `InvalidContent` if it contains a control character.
pub(super) fn stored_form(content: &str) -> Result<String, Error> {
    let content = normalise(content).map_err(|forbidden| {
        let code = u32::from(forbidden.character);
        let what = format!("holds the control character U+{code:04X}: remove it");
        invalid_content(ContentError::new(forbidden.line, what))
    })?;
    let text = || lines(&content).filter(|(_, line)| !is_blank(line));
    let start = text().next().map_or(0, |(at, _)| at);
    let end = text().last().map_or(0, |(at, line)| at + line.len());
    Ok(content[start..end].to_owned())
}

/// `InvalidContent` for an error in a line of the content.
pub(super) fn invalid_content(error: ContentError) -> Error {
    let message = format!("line {} of `content` {}", error.line, error.what);
    Error::new(Code::InvalidContent, message)
}
