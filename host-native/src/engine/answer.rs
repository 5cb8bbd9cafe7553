//! Converts the component's answers to the types of the library.

use crate::capability::toolbox;
use crate::outcome::{CallError, Category, FollowUp, Outcome, ToolError, WantedVector};
use std::time::Duration;

impl From<toolbox::Outcome> for Outcome {
    fn from(outcome: toolbox::Outcome) -> Outcome {
        let follow_up = |wanted: toolbox::FollowUp| FollowUp {
            id: wanted.id,
            kind: wanted.kind,
            payload: wanted.payload,
        };
        let vector = |wanted: toolbox::WantedVector| WantedVector {
            model: wanted.model,
            text: wanted.text,
            deadline: Duration::from_millis(wanted.deadline_ms.into()),
        };
        Outcome {
            answer: outcome.answer.map_err(ToolError::from),
            changed: outcome.changed,
            follow_ups: outcome.follow_ups.into_iter().map(follow_up).collect(),
            wants_vector: outcome.wants_vector.map(vector),
        }
    }
}

impl From<toolbox::Refusal> for ToolError {
    fn from(error: toolbox::Refusal) -> ToolError {
        let category = match error.category {
            toolbox::Category::Invalid => Category::Invalid,
            toolbox::Category::NotFound => Category::NotFound,
            toolbox::Category::Limit => Category::Limit,
            toolbox::Category::Damaged => Category::Damaged,
            toolbox::Category::Busy => Category::Busy,
            toolbox::Category::Denied => Category::Denied,
            toolbox::Category::Storage => Category::Storage,
            toolbox::Category::Internal => Category::Internal,
        };
        let toolbox::Refusal { code, message, json, .. } = error;
        ToolError { category, code, message, json }
    }
}

impl From<toolbox::Failure> for CallError {
    fn from(error: toolbox::Failure) -> CallError {
        match error.code {
            toolbox::FailureCode::NotFound => CallError::NotFound(error.message),
            toolbox::FailureCode::InvalidRequest => CallError::InvalidRequest(error.message),
        }
    }
}
