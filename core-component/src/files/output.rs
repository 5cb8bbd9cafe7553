//! The answer of every tool of this toolset.

use schemars::JsonSchema;
use serde::Serialize;

/// The text that the memory tool returns to the model.
#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Output {
    pub text: String,
}
