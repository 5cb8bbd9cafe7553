//! The outcome of a call, and its errors.

use std::time::Duration;

/// The answer of a tool or a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The result as JSON, which the tool's output schema describes, or the tool's error. After an
    /// error nothing has changed, unless storage failed during a commit: then some of the call's
    /// changes may have been made.
    pub answer: Result<String, ToolError>,
    /// The URIs of the resources that the call changed.
    pub changed: Vec<String>,
    /// Work that the call leaves. If the memory or the caller has a model for it, the memory carries it
    /// out by itself.
    pub follow_ups: Vec<FollowUp>,
    /// The vector that would improve the results of this search, for a program that asks its embedder
    /// by itself. If the memory has an embedder, the search has asked it already.
    pub wants_vector: Option<WantedVector>,
}

impl Outcome {
    /// The result, or the toolset's error, as JSON.
    pub fn json(&self) -> &str {
        self.answer.as_deref().unwrap_or_else(|error| &error.json)
    }
}

/// An error that a tool answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolError {
    /// The kind of error, which tells the caller's next step.
    pub category: Category,
    /// The toolset's code for the error.
    pub code: String,
    /// For a model and a person: what was wrong, where, and what to do.
    pub message: String,
    /// The toolset's own error as JSON, as models get it. It has the code and the message.
    pub json: String,
}

/// The categories of a [`ToolError`], each with its own next step for the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Category {
    /// The arguments are wrong, or do not fit the state of the memory: call with other arguments.
    Invalid,
    /// The arguments name something that does not exist: list what exists.
    NotFound,
    /// A limit would be exceeded: remove something, or raise the limit.
    Limit,
    /// Stored data is damaged: a person has to repair it.
    Damaged,
    /// Another writer held the lock for too long: call again.
    Busy,
    /// The host or the operating system denies access: a person has to grant it.
    Denied,
    /// The medium failed or is full.
    Storage,
    /// A bug of the component, or a call that the host stopped.
    Internal,
}

/// Work that a call leaves to be done later. It stays in storage until it is answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FollowUp {
    /// The id by which it is claimed and answered.
    pub id: String,
    /// The kind of work: `summary` or `embedding`.
    pub kind: String,
    /// The request as JSON. Its form depends on the kind.
    pub payload: String,
}

/// A request for a vector that would improve the results of a search. The answer is complete without the
/// vector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WantedVector {
    /// The name of the embedder.
    pub model: String,
    /// The text whose vector is wanted.
    pub text: String,
    /// How long the search may wait for the vector.
    pub deadline: Duration,
}

/// Why a call has no [`Outcome`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// No mounted toolset has this tool, resource, prompt or follow-up.
    #[error("{0}")]
    NotFound(String),
    /// The arguments are not a JSON object, or do not fit the prompt.
    #[error("{0}")]
    InvalidRequest(String),
    /// Another call with this [idempotency key](crate::Caller::idempotency_key) came before. Either it
    /// had another tool or other arguments, or its answer is no longer known. This call changed nothing.
    #[error("{0}")]
    Repeated(String),
    /// The host stopped the component and released everything that it held. Finished commits remain. Some
    /// changes of an unfinished commit may have been made.
    #[error("{message}")]
    Ended {
        /// The reason.
        reason: Reason,
        /// For a person: the tool, the reason, and what the component printed last.
        message: String,
    },
}

/// Why the host stopped a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// The call's own code ran for longer than [`Limits::guest_time`](crate::Limits::guest_time), or than
    /// [`Limits::guest_time_for_people`](crate::Limits::guest_time_for_people) for a tool for people.
    Deadline,
    /// The call needed more memory than [`Limits::memory`](crate::Limits::memory).
    Memory,
    /// The call made more storage calls than [`Limits::storage_calls`](crate::Limits::storage_calls).
    StorageCalls,
    /// The component panicked, exceeded a fixed limit, or broke the rules of the component model.
    Trap,
    /// The caller cancelled the call, or the program is closing.
    GivenUp,
}

impl CallError {
    /// An earlier call with the same key was made, by this or another process.
    pub(crate) fn made_before() -> CallError {
        let message = "a call with this idempotency key was made before, and its answer is no longer known: \
                       read what the memory has, and give a new call a key of its own";
        CallError::Repeated(message.to_owned())
    }

    pub(crate) fn closing() -> CallError {
        let message = "the program is closing".to_owned();
        CallError::Ended { reason: Reason::GivenUp, message }
    }

    /// The JSON that a model gets for a call that was stopped, the same for all toolsets.
    #[cfg(feature = "mcp")]
    pub(crate) fn ended_json(message: &str) -> String {
        serde_json::json!({ "error": { "code": "CALL_ENDED", "message": message } }).to_string()
    }
}
