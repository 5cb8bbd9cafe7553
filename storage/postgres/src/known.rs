//! The places that a process knows.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A cache of the keys of existing places of groups. Places are never removed, so it never becomes
/// wrong.
#[derive(Debug, Default)]
pub(crate) struct Known(Mutex<BTreeSet<String>>);

impl Known {
    pub fn has(&self, key: &str) -> bool {
        self.keys().contains(key)
    }

    pub fn add(&self, key: String) {
        self.keys().insert(key);
    }

    fn keys(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
