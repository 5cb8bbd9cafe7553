//! The embedding library: the component on files, without a protocol.

use std::{io, process};

use agent_memory_host::AgentMemory;
use tokio::runtime::Runtime;

use super::{Disk, refused};
use crate::comparison::{Contestant, Cost};

pub struct Library {
    runtime: Runtime,
    memory: AgentMemory,
    disk: Disk,
    arguments: Vec<String>,
}

impl Library {
    pub const NAME: &str = "the library";

    pub fn new(disk: Disk) -> io::Result<Self> {
        let memory = AgentMemory::builder().allow(disk.repository.path()).build();
        Ok(Self {
            // The server uses the same kind of runtime.
            runtime: tokio::runtime::Builder::new_current_thread().enable_all().build()?,
            memory: memory.map_err(io::Error::other)?,
            arguments: disk.calls.texts(),
            disk,
        })
    }
}

impl Contestant for Library {
    fn name(&self) -> &str {
        Self::NAME
    }

    fn prepare(&mut self) -> io::Result<()> {
        self.disk.put_back()
    }

    fn take_turn(&mut self) -> io::Result<Cost> {
        let tool = self.disk.calls.tool;
        Cost::between(process::id(), self.arguments.len(), || {
            self.runtime.block_on(async {
                for arguments in &self.arguments {
                    match self.memory.call(tool, arguments).await {
                        Ok(outcome) if outcome.answer.is_ok() => {}
                        answer => return Err(refused(tool, &format!("{answer:?}"))),
                    }
                }
                Ok(())
            })
        })
    }
}
