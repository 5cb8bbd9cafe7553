//! Input fields that several tools share, with their checks.

use schemars::JsonSchema;
use serde::Deserialize;

use super::error::Error;
use super::path::{CategoryPath, MemoryPath};
use crate::input::distinct_lines;
use crate::span::Span;
use crate::time::Timestamp;
use crate::tool::Call;

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

/// Checks the tags, and drops duplicates.
///
/// # Errors
///
/// `INVALID_INPUT` for a control character or a line break.
pub(super) fn tags(given: Vec<Tag>) -> Result<Vec<String>, Error> {
    distinct_lines(given.into_iter().map(|Tag(tag)| tag), "tag", "tags")
}

/// Checks the citations, and drops duplicates.
///
/// # Errors
///
/// `INVALID_INPUT` for a control character or a line break.
pub(super) fn citations(given: Vec<Citation>) -> Result<Vec<String>, Error> {
    distinct_lines(given.into_iter().map(|Citation(citation)| citation), "citation", "citations")
}

/// Parses the time at which a memory expires: a timestamp, or a date, which means the end of that
/// day.
///
/// # Errors
///
/// `INVALID_INPUT` for any other text.
pub(super) fn expires_at(call: &Call<'_>, text: &str) -> Result<Timestamp, Error> {
    Span::read(&call.context.zone, text, "expires_at").map(|span| span.last)
}

/// Parses the path of a memory.
///
/// # Errors
///
/// `INVALID_PATH`, with the nearest valid path in the message.
pub(super) fn path(text: &str, field: &str) -> Result<MemoryPath, Error> {
    MemoryPath::parse(text).map_err(|nearest| Error::invalid_path(text, field, &nearest))
}

/// Parses the category of a call. Without a text, it is the root.
///
/// # Errors
///
/// `INVALID_PATH`, with the nearest valid path in the message.
pub(super) fn category(text: Option<&str>) -> Result<CategoryPath, Error> {
    let Some(text) = text else { return Ok(CategoryPath::ROOT) };
    CategoryPath::parse(text).map_err(|nearest| Error::invalid_path(text, "category", &nearest))
}

/// Returns the name of a category in an answer: `all` for the root.
pub(super) fn category_name(category: &CategoryPath) -> String {
    if category.is_root() { "all".to_owned() } else { category.to_string() }
}
