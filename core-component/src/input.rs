//! Checks of input fields that `records` and `stores` share.

use crate::error::{Code, Error};
use crate::text::normalise;

/// The content as it is stored: line ends are line feeds.
///
/// # Errors
///
/// `INVALID_INPUT` for a control character.
pub(crate) fn content(text: &str) -> Result<String, Error> {
    text_of(text, "content")
}

/// The text of a field as it is stored: line ends are line feeds.
///
/// # Errors
///
/// `INVALID_INPUT` for a control character.
pub(crate) fn text_of(text: &str, field: &str) -> Result<String, Error> {
    normalise(text).map_err(|forbidden| {
        let code = u32::from(forbidden.character);
        let message = format!(
            "line {} of `{field}` holds the control character U+{code:04X}: remove it",
            forbidden.line
        );
        Error::at(Code::InvalidInput, message, field, "text without control characters".into())
    })
}

/// Checks the lines of a list, such as tags, and drops repeated lines. `name` names one line in
/// messages.
///
/// # Errors
///
/// `INVALID_INPUT` for a control character or a line break.
pub(crate) fn distinct_lines(
    given: impl IntoIterator<Item = String>,
    name: &str,
    field: &str,
) -> Result<Vec<String>, Error> {
    let mut lines = Vec::new();
    for (index, line) in given.into_iter().enumerate() {
        let line = one_line(line, name, &format!("{field}/{index}"))?;
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    Ok(lines)
}

/// Checks a field that is one line.
///
/// # Errors
///
/// `INVALID_INPUT` for a control character or a line break.
pub(crate) fn one_line(text: String, name: &str, field: &str) -> Result<String, Error> {
    if normalise(&text).is_ok_and(|text| !text.contains(['\n', '\t'])) {
        return Ok(text);
    }
    let message = format!(
        "the {name} `{}` holds a line break or another control character: remove it",
        text.escape_debug()
    );
    Err(Error::at(Code::InvalidInput, message, field, "text on one line".into()))
}
