//! The messages of this toolset's errors.

pub(super) use crate::error::{Code, Error};

impl Error {
    /// If the error is about the field `agent_id`, makes it an error about `field`: there the tool
    /// takes the name of the agent.
    pub fn of_agent_in(mut self, field: &str) -> Self {
        let agents = self.details.iter_mut().filter(|detail| detail.pointer == "/agent_id");
        agents.for_each(|detail| detail.pointer = format!("/{field}"));
        self
    }

    /// The error of a call for an agent without memories.
    pub fn no_memories(agent: &str) -> Self {
        let message = format!("there are no memories of agent `{agent}`: check its name");
        Self::new(Code::NotFound, message)
    }

    /// The error if the agent has no core memory with this id.
    pub fn no_core_memory(agent: &str, id: i64) -> Self {
        let message = format!(
            "agent `{agent}` has no core memory {id}: `get_core_memories` tells the ids that there \
             are"
        );
        Self::new(Code::NotFound, message)
    }
}
