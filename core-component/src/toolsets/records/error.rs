//! The messages of this toolset's errors.

use super::memory::Memory;
pub(super) use crate::error::{Code, Error};
use crate::tool::Call;
use crate::version::is_current;

/// The remedy that an error names if a setting of the host is the limit.
pub(super) const RAISE_LIMITS: &str =
    "raise `max_memories` or `max_bytes` in the settings of its host";

/// The remedy for an agent in JSON: its memories in SQLite, where they may grow.
pub(super) fn convert(agent: &str) -> String {
    format!("convert the agent with `agent-memory records convert --agent {agent} --to sqlite`")
}

impl Error {
    /// The error of a change that would exceed a limit of the agent. `size` is the number of
    /// memories or bytes after the change. `limit` is the limit with its unit.
    pub fn over_limit(agent: &str, size: u64, limit: &str, remedy: &str) -> Self {
        let message = format!(
            "agent `{agent}` would have {size}, and at most {limit} are allowed: delete memories, or \
             {remedy}"
        );
        Self::new(Code::LimitExceeded, message)
    }

    /// The error of a call for an agent without records.
    pub fn no_records(agent: &str) -> Self {
        let message = format!("there are no records of agent `{agent}`: check its name");
        Self::new(Code::NotFound, message)
    }

    /// Refuses to change a memory that was changed after the caller read it.
    ///
    /// # Errors
    ///
    /// `CONFLICT` if the memory has another version than the caller gives.
    pub(super) fn check_version(
        call: &Call<'_>,
        given: Option<&str>,
        memory: &Memory,
    ) -> Result<(), Self> {
        if is_current(given, memory.versioned()) {
            return Ok(());
        }
        let tool = call.listed("records", "query_memories");
        Err(Self::conflict(&format!("the memory `{}`", memory.id), &tool))
    }

    /// The error if no memory of the agent has the id.
    pub fn no_memory(agent: &str, id: &str) -> Self {
        let message =
            format!("agent `{agent}` has no memory `{id}`: find its id with `query_memories`");
        Self::new(Code::NotFound, message)
    }
}
