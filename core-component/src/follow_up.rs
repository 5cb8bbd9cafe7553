//! Follow-ups: work that a call leaves to the host, to be done after the answer.

use serde::Deserialize;
use serde_json::Value;

use crate::tool::{Call, ToolError};

/// Work that waits in storage until it is answered. `wit/toolbox` has the same record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FollowUp {
    /// The name of the toolset, `/`, and a number.
    pub id: String,
    /// `summary`: a model is asked for a summary.
    pub kind: &'static str,
    /// JSON, whose form depends on the kind.
    pub payload: String,
}

/// The follow-ups of a toolset. Each has a number in the toolset.
pub(crate) struct FollowUps {
    /// The name of the setting whose value may be the name of the only model that is asked.
    pub model_setting: &'static str,
    /// Adds those without a current lease to the call's follow-ups.
    pub pending: fn(&Call<'_>) -> Result<(), Box<dyn ToolError>>,
    /// Takes a lease of so many seconds. False if another host has one or nothing is left to do.
    pub claim: fn(&Call<'_>, i64, u32) -> Result<bool, Box<dyn ToolError>>,
    /// Takes an answer.
    pub answer: fn(&Call<'_>, i64, Value) -> Result<Value, Box<dyn ToolError>>,
}

/// The most follow-ups that [`FollowUps::pending`] lists.
pub(crate) const MAX_PENDING: usize = 100;

/// The answer to a follow-up of the kind `summary`.
#[derive(Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub(crate) enum SummaryAnswer {
    /// A model's summary.
    Summary { model: String, summary: String },
    /// No model gave one.
    Failed {
        #[allow(dead_code, reason = "for the log of the host")]
        error: String,
    },
}
