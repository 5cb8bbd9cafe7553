//! What the host keeps for one call.

use super::limits::{Exceeded, Size};
use crate::Limits;
use crate::arrival::Turn;
use crate::memory::Roots;
use crate::storage::Storage;
use std::path::PathBuf;
use std::sync::Arc;
use wasmtime::Result;
use wasmtime::component::ResourceTable;

/// The state of one call: what it may reach, and all that it has opened.
///
/// It is dropped when the call ends in any way, be it a result, a trap, or that nobody waits for it
/// any more; so is whatever the call holds then.
pub(crate) struct Call {
    pub(crate) storage: Storage,
    /// Trees and writers that the component has handles of.
    pub(crate) opened: ResourceTable,
    /// Whether one of them is a writer.
    pub(crate) writes: bool,
    /// The call's place among the writers, until it has asked for a lock.
    pub(crate) turn: Option<Turn>,
    /// Who can name further granted directories, until it was asked.
    pub(crate) roots: Option<Arc<dyn Roots>>,
    /// What it named.
    pub(crate) granted: Vec<PathBuf>,
    pub(super) size: Size,
    printed: Vec<u8>,
    storage_calls: u32,
    storage_calls_limit: u32,
}

impl Call {
    pub(crate) fn new(
        storage: Storage,
        limits: &Limits,
        turn: Option<Turn>,
        roots: Option<Arc<dyn Roots>>,
    ) -> Call {
        let mut opened = ResourceTable::new();
        opened.set_max_capacity(Limits::RESOURCES);
        Call {
            storage,
            opened,
            writes: false,
            turn,
            roots,
            granted: Vec::new(),
            size: Size { memory: limits.memory },
            printed: Vec::new(),
            storage_calls: 0,
            storage_calls_limit: limits.storage_calls,
        }
    }

    /// Counts a call of storage.
    pub(crate) fn count(&mut self) -> Result<()> {
        self.storage_calls += 1;
        if self.storage_calls > self.storage_calls_limit {
            return Err(Exceeded::StorageCalls(self.storage_calls_limit).into());
        }
        Ok(())
    }

    /// Keeps the beginning of what the component prints.
    pub(super) fn print(&mut self, bytes: &[u8]) {
        let room = Limits::PRINTED.saturating_sub(self.printed.len());
        self.printed.extend(bytes.iter().take(room));
    }

    pub(super) fn printed(&self) -> String {
        String::from_utf8_lossy(&self.printed).trim().to_owned()
    }
}
