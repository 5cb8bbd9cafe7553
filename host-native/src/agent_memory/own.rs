//! The parts that each tenant's memory does not share with the others.

use crate::background::InProgress;
use crate::changes::Notifier;
use crate::storage::Storage;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The parts of an [`AgentMemory`](super::AgentMemory) that differ for each tenant.
pub(super) struct Own {
    pub(super) storage: Storage,
    pub(super) in_progress: InProgress,
    pub(super) notifier: Notifier,
}

impl Own {
    pub(super) fn new(storage: Storage, in_progress: InProgress) -> Self {
        Own { storage, in_progress, notifier: Notifier::new() }
    }
}

/// The memories of the tenants that were served so far, by name. They are never removed, since a name
/// always means the same tenant.
#[derive(Default)]
pub(crate) struct Tenants(Mutex<BTreeMap<String, Arc<Own>>>);

impl Tenants {
    pub(super) fn find(&self, name: &str) -> Option<Arc<Own>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    /// Returns the memory of a tenant, and whether it was made by this call.
    pub(super) fn add(&self, name: &str, make: impl FnOnce() -> Own) -> (Arc<Own>, bool) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = all.get(name) {
            return (known.clone(), false);
        }
        let own = Arc::new(make());
        all.insert(name.to_owned(), own.clone());
        (own, true)
    }
}
