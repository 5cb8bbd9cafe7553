//! Input fields that several tools share, and their checks.

use schemars::JsonSchema;
use serde::Deserialize;

use super::error::{Code, Error};
use crate::names::AgentName;
use crate::text::normalise;

/// The agent of a call that names no agent (spec 001).
pub(super) const DEFAULT_AGENT: &str = "default";

pub(super) fn default_agent() -> AgentName {
    AgentName::parse(DEFAULT_AGENT).expect("a name")
}

// A tag: 1 to 30 characters on one line, not blank.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub(super) struct Tag(#[schemars(length(max = 30), regex(pattern = r"\S"))] pub String);

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

/// Checks a category.
///
/// # Errors
///
/// `INVALID_INPUT` for a control character or a line break.
pub(super) fn category(text: String) -> Result<String, Error> {
    one_line(text, "category", "category")
}

/// Checks the tags and drops those that occur twice.
///
/// # Errors
///
/// `INVALID_INPUT` for a control character or a line break.
pub(super) fn tags(given: Vec<Tag>) -> Result<Vec<String>, Error> {
    let mut tags: Vec<String> = Vec::with_capacity(given.len());
    for (index, Tag(tag)) in given.into_iter().enumerate() {
        let tag = one_line(tag, "tag", &format!("tags/{index}"))?;
        if !tags.contains(&tag) {
            tags.push(tag);
        }
    }
    Ok(tags)
}

fn one_line(text: String, name: &str, field: &str) -> Result<String, Error> {
    let is_valid = normalise(&text).is_ok_and(|text| !text.contains(['\n', '\t']));
    if is_valid {
        return Ok(text);
    }
    let message =
        format!("the {name} `{}` holds a control character: remove it", text.escape_debug());
    Err(Error::at(Code::InvalidInput, message, field, "text on one line".into()))
}
