//! What a call answers.

use crate::capability::toolbox;

/// What a tool answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// JSON that the tool's output schema describes, or why there is none. A tool that refused has
    /// changed nothing, unless storage failed during a commit: of its changes the first may stand.
    pub answer: Result<String, Refusal>,
    /// The URIs of the resources that the call changed.
    pub changed: Vec<String>,
    /// Work that the call leaves to be done.
    pub follow_ups: Vec<FollowUp>,
}

impl Outcome {
    /// The result, or the toolset's error, as JSON.
    pub fn json(&self) -> &str {
        self.answer.as_deref().unwrap_or_else(|refusal| &refusal.json)
    }
}

/// Why a tool did not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What a caller can do about it.
    pub category: Category,
    /// A word of the toolset.
    pub code: String,
    /// For a model and a person: what was wrong, where, and what to do.
    pub message: String,
    /// The toolset's own error, with the code and the message in it, as models get it.
    pub json: String,
}

/// What a caller can do about a [`Refusal`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Category {
    /// The arguments, or what they ask for in this state of the memory: call with others.
    Invalid,
    /// What they name does not exist: look for what there is.
    NotFound,
    /// It would be more than a limit allows: remove something, or raise the limit.
    Limit,
    /// What is kept is not as it has to be: a person mends it.
    Damaged,
    /// Others held the lock for too long: call again.
    Busy,
    /// The host or the operating system denies access: a person grants it.
    Denied,
    /// The medium failed or is full.
    Storage,
    /// A fault of the component, or a call that the host ended.
    Internal,
}

/// Work that is wanted but need not be waited for. It stays in storage until it is answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FollowUp {
    /// Names it in the answer.
    pub id: String,
    /// What is wanted.
    pub kind: String,
    /// JSON, by kind.
    pub payload: String,
}

/// Why a call has no [`Outcome`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// No tool of that name, or resource of that URI, is mounted.
    #[error("{0}")]
    NotFound(String),
    /// The arguments are no JSON object.
    #[error("{0}")]
    InvalidRequest(String),
    /// The component did not come to an end of its own. What it held is free again; what it
    /// committed stands, and of a commit that it was about to make at most the first changes.
    #[error("{message}")]
    Ended {
        /// Why it was stopped.
        reason: Reason,
        /// For a person: the tool, the reason, and what the component printed last.
        message: String,
    },
}

/// Why a call was ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// Its own code ran for longer than [`Limits::guest_time`](crate::Limits::guest_time), or, of a
    /// tool for people, than
    /// [`Limits::guest_time_for_people`](crate::Limits::guest_time_for_people).
    Deadline,
    /// It needed more than [`Limits::memory`](crate::Limits::memory).
    Memory,
    /// It asked storage more often than
    /// [`Limits::storage_calls`](crate::Limits::storage_calls).
    StorageCalls,
    /// It panicked, went beyond one of the fixed bounds, or did what no component may.
    Trap,
    /// Nobody waited for it any more, or the program is closing.
    GivenUp,
}

impl CallError {
    pub(crate) fn closing() -> CallError {
        let message = "the program is closing".to_owned();
        CallError::Ended { reason: Reason::GivenUp, message }
    }

    /// What a model is told of a call that was ended, whatever toolset its tool is of.
    #[cfg(feature = "mcp")]
    pub(crate) fn ended_json(message: &str) -> String {
        serde_json::json!({ "error": { "code": "CALL_ENDED", "message": message } }).to_string()
    }
}

impl From<toolbox::Outcome> for Outcome {
    fn from(outcome: toolbox::Outcome) -> Outcome {
        let follow_up = |wanted: toolbox::FollowUp| FollowUp {
            id: wanted.id,
            kind: wanted.kind,
            payload: wanted.payload,
        };
        Outcome {
            answer: outcome.answer.map_err(Refusal::from),
            changed: outcome.changed,
            follow_ups: outcome.follow_ups.into_iter().map(follow_up).collect(),
        }
    }
}

impl From<toolbox::Refusal> for Refusal {
    fn from(refusal: toolbox::Refusal) -> Refusal {
        let category = match refusal.category {
            toolbox::Category::Invalid => Category::Invalid,
            toolbox::Category::NotFound => Category::NotFound,
            toolbox::Category::Limit => Category::Limit,
            toolbox::Category::Damaged => Category::Damaged,
            toolbox::Category::Busy => Category::Busy,
            toolbox::Category::Denied => Category::Denied,
            toolbox::Category::Storage => Category::Storage,
            toolbox::Category::Internal => Category::Internal,
        };
        let toolbox::Refusal { code, message, json, .. } = refusal;
        Refusal { category, code, message, json }
    }
}

impl From<toolbox::Failure> for CallError {
    fn from(failure: toolbox::Failure) -> CallError {
        match failure.code {
            toolbox::FailureCode::NotFound => CallError::NotFound(failure.message),
            toolbox::FailureCode::InvalidRequest => CallError::InvalidRequest(failure.message),
        }
    }
}
