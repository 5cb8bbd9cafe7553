//! The follow-up of the toolset, which its writers leave.

use serde_json::{Value, json};

use crate::follow_up::FollowUp;

/// The follow-up of an agent whose memories wait for vectors. Their texts are in that of a claim.
pub(super) fn follow_up(agent: i64, model: &str) -> FollowUp {
    of_payload(agent, &json!({ "models": [model] }))
}

/// The same with a payload.
pub(super) fn of_payload(agent: i64, payload: &Value) -> FollowUp {
    FollowUp { id: format!("records/{agent}"), kind: "embedding", payload: payload.to_string() }
}
