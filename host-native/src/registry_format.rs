//! Parses and edits registries by pure functions of the component.

use crate::call::Call;
use crate::description::Audience;
use crate::engine::Engine;
use crate::outcome::CallError;
use crate::storage::{RegistryFormat, Storage, StorageOptions};
use std::fmt;
use std::sync::Arc;

/// The component's functions for registries. Each runs in a new instance without grants, on the thread
/// of its caller: a call of the component may be waiting for the result.
pub(crate) struct ComponentFormat {
    engine: Arc<Engine>,
    /// A storage without grants.
    storage: Storage,
}

impl ComponentFormat {
    pub(crate) fn new(engine: Arc<Engine>) -> Self {
        ComponentFormat { engine, storage: Storage::new(StorageOptions::default()) }
    }

    fn call(&self) -> Call {
        let storage = self.storage.clone();
        let limits = self.engine.limits();
        Call::new(storage, limits, Audience::Model, None, None, None)
    }
}

impl fmt::Debug for ComponentFormat {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ComponentFormat").finish_non_exhaustive()
    }
}

impl RegistryFormat for ComponentFormat {
    fn parse(&self, text: &str) -> Result<String, String> {
        told(self.engine.parse_registry(self.call(), text))
    }

    fn edit(&self, text: &str, change: &str) -> Result<String, String> {
        told(self.engine.edit_registry(self.call(), text, change))
    }

    fn warn(&self, registry: &str, warning: &str) {
        tracing::warn!(registry, "{warning}");
    }
}

fn told(answer: Result<String, CallError>) -> Result<String, String> {
    answer.map_err(|error| error.to_string())
}
