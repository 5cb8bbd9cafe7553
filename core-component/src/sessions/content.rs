//! The `content` of a call: text that is to become a part of a document.

use super::error::{Code, Error};
use crate::markdown::Offence;
use crate::text::{is_blank, lines, normalise};

/// The text as it is stored: line feeds only, and no blank lines around it.
///
/// # Errors
///
/// `InvalidContent` for a control character.
pub(super) fn stored_form(content: &str) -> Result<String, Error> {
    let content = normalise(content).map_err(|forbidden| {
        let code = u32::from(forbidden.character);
        let what = format!("holds the control character U+{code:04X}: remove it");
        invalid_content(Offence::new(forbidden.line, what))
    })?;
    let text = || lines(&content).filter(|(_, line)| !is_blank(line));
    let start = text().next().map_or(0, |(at, _)| at);
    let end = text().last().map_or(0, |(at, line)| at + line.len());
    Ok(content[start..end].to_owned())
}

/// `InvalidContent` for what is wrong in a line of the text.
pub(super) fn invalid_content(offence: Offence) -> Error {
    let message = format!("line {} of `content` {}", offence.line, offence.what);
    Error::new(Code::InvalidContent, message)
}
