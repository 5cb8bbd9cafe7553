//! The core on a repository in memory. Tests of hosts compare the answers of hosts with its answers.

use agent_memory_core::storage::{Area, Place};
use agent_memory_core::toolbox;
use agent_memory_storage_memory::MemoryStorage;
use serde_json::{Value, json};

use crate::case::Documents;
use crate::core_runner::{answer, context_of};
use crate::runner::Answer;

/// One repository in memory.
#[derive(Debug)]
pub struct InMemory {
    storage: MemoryStorage,
    place: Place,
}

impl InMemory {
    /// A repository with these documents. The path need not exist on disk.
    pub fn new(repository: &str, documents: &Documents) -> Self {
        let storage = MemoryStorage::new();
        let place = Place::repository(repository);
        storage.grant(place.clone());
        for (path, contents) in documents {
            storage.put(&place, Area::Documents, path, contents.clone());
        }
        Self { storage, place }
    }

    /// Makes a call, on 2025-01-20.
    pub fn call(&self, tool: &str, arguments: &Value) -> Answer {
        let context = json!({
            "settings": {"toolsets": ["sessions"]},
            "now": "2025-01-20T10:00:00.000Z",
            "seed": 1,
        });
        let context = context_of(&context);
        let outcome = toolbox::call_tool(&self.storage, tool, &arguments.to_string(), &context);
        answer(outcome).expect("a result is JSON")
    }

    /// The documents of the repository.
    pub fn documents(&self) -> Documents {
        self.storage.documents(&self.place, Area::Documents)
    }
}
