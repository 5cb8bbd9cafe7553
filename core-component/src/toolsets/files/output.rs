//! The answer of every tool of this toolset.

use schemars::JsonSchema;
use serde::Serialize;

/// The text that a tool of this toolset returns to the model. Anthropic's memory tool answers with the
/// same text.
#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Output {
    pub text: String,
}
