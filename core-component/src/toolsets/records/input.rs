//! Input fields that several tools share, and their checks.

use schemars::JsonSchema;
use serde::Deserialize;

use super::error::Error;
use crate::input::{distinct_lines, one_line};
use crate::names::AgentName;

/// The agent of a call that names no agent (spec 001).
pub(super) const DEFAULT_AGENT: &str = "default";

pub(super) fn default_agent() -> AgentName {
    AgentName::parse(DEFAULT_AGENT).expect("a name")
}

/// The agent whose memories a tool changes.
pub(super) struct WriteAgent {
    pub name: AgentName,
    /// The note of an answer if the call named no agent.
    pub note: Option<String>,
}

impl WriteAgent {
    /// Takes the agent `named`, or `default`. For a caller that may use only one agent, `named` is
    /// never `None`. The note begins with `done`, such as `stored`.
    pub fn new(named: Option<AgentName>, done: &str) -> Self {
        let note = named.is_none().then(|| {
            format!("{done} for agent `{DEFAULT_AGENT}`: give `agent_id` to name another")
        });
        Self { name: named.unwrap_or_else(default_agent), note }
    }
}

// A tag: 1 to 30 characters on one line, not blank.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub(super) struct Tag(#[schemars(length(max = 30), regex(pattern = r"\S"))] pub String);

/// Checks a category.
///
/// # Errors
///
/// `INVALID_INPUT` for a control character or a line break.
pub(super) fn category(text: String) -> Result<String, Error> {
    one_line(text, "category", "category")
}

/// Checks the tags and drops duplicates.
///
/// # Errors
///
/// `INVALID_INPUT` for a control character or a line break.
pub(super) fn tags(given: Vec<Tag>) -> Result<Vec<String>, Error> {
    distinct_lines(given.into_iter().map(|Tag(tag)| tag), "tag", "tags")
}
