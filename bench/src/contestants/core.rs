//! The core as a library, compiled natively.

use std::io;
use std::process;

use agent_memory_core::toolbox;
use agent_memory_storage_memory::MemoryStorage;

use super::refused;
use crate::comparison::{Contestant, Cost};
use crate::work::{Calls, Work, context};

pub struct Core {
    storage: MemoryStorage,
    work: Work,
    tool: &'static str,
    arguments: Vec<String>,
}

impl Core {
    pub const NAME: &str = "the core, native";

    pub fn new(work: Work, calls: &Calls) -> Self {
        let storage = MemoryStorage::new();
        Self { storage, work, tool: calls.tool, arguments: calls.texts() }
    }
}

impl Contestant for Core {
    fn name(&self) -> &str {
        Self::NAME
    }

    fn prepare(&mut self) -> io::Result<()> {
        self.work.lend(&self.storage);
        Ok(())
    }

    fn take_turn(&mut self) -> io::Result<Cost> {
        let context = context();
        Cost::between(process::id(), self.arguments.len(), || {
            for arguments in &self.arguments {
                match toolbox::call_tool(&self.storage, self.tool, arguments, &context) {
                    Ok(outcome) if outcome.answer.is_ok() => {}
                    answer => return Err(refused(self.tool, &format!("{answer:?}"))),
                }
            }
            Ok(())
        })
    }
}

#[cfg(test)]
impl Core {
    pub fn storage(&self) -> &MemoryStorage {
        &self.storage
    }
}
