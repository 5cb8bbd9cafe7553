//! Input fields that several tools share, and their checks.

use schemars::JsonSchema;
use serde::Deserialize;

use super::error::{Code, Error};
use super::memory::{end_of_day, parse_moment};
use super::path::{CategoryPath, MemoryPath};
use crate::text::normalise;
use crate::time::Timestamp;

// A tag: 1 to 64 characters on one line, not blank.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub(super) struct Tag(#[schemars(length(max = 64), regex(pattern = r"\S"))] pub String);

// A citation: 1 to 1,000 characters on one line, not blank.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub(super) struct Citation(#[schemars(length(max = 1000), regex(pattern = r"\S"))] pub String);

/// The content as it is stored: line ends are line feeds.
///
/// # Errors
///
/// `INVALID_INPUT` for a control character.
pub(super) fn content(text: &str) -> Result<String, Error> {
    normalise(text).map_err(|forbidden| {
        let code = u32::from(forbidden.character);
        let message = format!(
            "line {} of `content` holds the control character U+{code:04X}: remove it",
            forbidden.line
        );
        Error::at(Code::InvalidInput, message, "content", "text without control characters".into())
    })
}

/// Checks the tags, and drops those that occur twice.
///
/// # Errors
///
/// `INVALID_INPUT` for a control character or a line break.
pub(super) fn tags(given: Vec<Tag>) -> Result<Vec<String>, Error> {
    lines(given.into_iter().map(|Tag(tag)| tag), "tag", "tags")
}

/// Checks the citations, and drops those that occur twice.
///
/// # Errors
///
/// `INVALID_INPUT` for a control character or a line break.
pub(super) fn citations(given: Vec<Citation>) -> Result<Vec<String>, Error> {
    lines(given.into_iter().map(|Citation(citation)| citation), "citation", "citations")
}

/// When a memory expires: a timestamp, or a date for the end of that day in UTC.
///
/// # Errors
///
/// `INVALID_INPUT` for another text.
pub(super) fn expires_at(text: &str) -> Result<Timestamp, Error> {
    parse_moment(text.trim(), end_of_day).ok_or_else(|| {
        let message = format!(
            "`expires_at` `{}` is no date: write `2025-01-31` or `2025-01-31T12:00:00Z`",
            text.escape_debug()
        );
        Error::at(
            Code::InvalidInput,
            message,
            "expires_at",
            "a date or an RFC 3339 timestamp".into(),
        )
    })
}

/// The path of a memory.
///
/// # Errors
///
/// `INVALID_PATH` with the nearest valid spelling.
pub(super) fn path(text: &str, field: &str) -> Result<MemoryPath, Error> {
    MemoryPath::parse(text).map_err(|nearest| Error::invalid_path(text, field, &nearest))
}

/// The category of a call; the root if there is none.
///
/// # Errors
///
/// `INVALID_PATH` with the nearest valid spelling.
pub(super) fn category(text: Option<&str>) -> Result<CategoryPath, Error> {
    let Some(text) = text else { return Ok(CategoryPath::ROOT) };
    CategoryPath::parse(text).map_err(|nearest| Error::invalid_path(text, "category", &nearest))
}

/// The name of a category in an answer.
pub(super) fn category_name(category: &CategoryPath) -> String {
    if category.is_root() { "all".to_owned() } else { category.to_string() }
}

fn lines(
    given: impl Iterator<Item = String>,
    name: &str,
    field: &str,
) -> Result<Vec<String>, Error> {
    let mut lines: Vec<String> = Vec::new();
    for (index, line) in given.enumerate() {
        let is_valid = normalise(&line).is_ok_and(|text| !text.contains(['\n', '\t']));
        if !is_valid {
            let message = format!(
                "the {name} `{}` holds a line break or another control character: remove it",
                line.escape_debug()
            );
            let field = format!("{field}/{index}");
            return Err(Error::at(Code::InvalidInput, message, &field, "text on one line".into()));
        }
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    Ok(lines)
}
