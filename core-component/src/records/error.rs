//! The messages of this toolset's errors.

pub(super) use crate::error::{Code, Error};

/// The remedy if a setting of the host is the limit.
pub(super) const RAISE_LIMITS: &str =
    "raise `max_memories` or `max_bytes` in the settings of its host";

impl Error {
    /// The change would exceed a limit of the agent.
    pub fn over_limit(agent: &str, limit: &str, remedy: &str) -> Self {
        let message =
            format!("agent `{agent}` would have more than {limit}: delete memories, or {remedy}");
        Self::new(Code::LimitExceeded, message)
    }

    /// The agent has no records.
    pub fn no_records(agent: &str) -> Self {
        let message = format!("there are no records of agent `{agent}`: check its name");
        Self::new(Code::NotFound, message)
    }

    /// No memory of the agent has the id.
    pub fn no_memory(agent: &str, id: &str) -> Self {
        let message =
            format!("agent `{agent}` has no memory `{id}`: find its id with `query_memories`");
        Self::new(Code::NotFound, message)
    }
}
