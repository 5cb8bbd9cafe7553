//! The engine's limits of a call, and the error of a call that exceeds a limit. The limits of storage are
//! in `storage/`.

use crate::Audience;
use std::time::Duration;
use wasmtime::{ResourceLimiter, Result};

/// The limits of a call. A call that exceeds one ends with
/// [`CallError::Ended`](crate::CallError::Ended) and harms no other call. Only the limit of a
/// statement is an error that the call may handle.
///
/// Every call also has fixed limits, which are far above what a sound component needs: 16 core
/// instances, 4 memories, 16 tables of 100,000 elements, 1,000 open resources, 64 MiB of data passed
/// to storage at once, and 4 KiB of output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The maximum linear memory of the call in bytes. 256 MiB.
    pub memory: usize,
    /// The maximum run time of the call's own code, in steps of [`TICK`](Limits::TICK). Waiting for a
    /// lock, for the disk or for other calls does not count. 2 s.
    pub guest_time: Duration,
    /// The maximum run time of the call's own code for a tool for people, such as the conversion of a
    /// long file of memories. 60 s.
    pub guest_time_for_people: Duration,
    /// The maximum number of storage calls. 100,000.
    pub storage_calls: u32,
    /// How long one SQL statement may run. It does not count as `guest_time`. 30 s.
    pub statement_time: Duration,
}

impl Limits {
    /// How often a running call is checked for its time and for cancellation.
    pub const TICK: Duration = Duration::from_millis(10);

    /// The maximum linear memory that is kept allocated for later calls, in bytes. 96 MiB.
    pub const KEPT_MEMORY: usize = agent_memory_image::MAX_IDLE_MEMORY;

    const INSTANCES: usize = 16;
    const MEMORIES: usize = 4;
    const TABLES: usize = 16;
    const TABLE_ELEMENTS: usize = 100_000;

    /// How many calls run at once. Later calls wait in the order of their arrival.
    pub(crate) const CALLS_AT_ONCE: usize = 256;

    /// How many resources a call may have open: trees, writers, connections, transactions.
    pub(crate) const RESOURCES: usize = 1_000;

    /// How many bytes the component may pass in one storage call: four times the longest document.
    pub(crate) const TRANSFER: usize = 64 << 20;

    /// How many bytes of the component's output are kept for error messages.
    pub(crate) const PRINTED: usize = 4 << 10;
}

impl Limits {
    pub(crate) fn guest_time_for(&self, audience: Audience) -> Duration {
        match audience {
            Audience::Model => self.guest_time,
            Audience::Person => self.guest_time_for_people,
        }
    }
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            memory: 256 << 20,
            guest_time: Duration::from_secs(2),
            guest_time_for_people: Duration::from_mins(1),
            storage_calls: 100_000,
            statement_time: Duration::from_secs(30),
        }
    }
}

/// The error with which the host stops a call. It passes through the component as a trap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum StopError {
    #[error("it ran for more than {0:?}")]
    GuestTime(Duration),
    #[error("it needs more than {} MiB of memory", .0 >> 20)]
    Memory(usize),
    #[error("it asked storage more than {0} times")]
    StorageCalls(u32),
    #[error("the caller cancelled it")]
    Cancelled,
}

/// The limits on the size of an instance.
pub(crate) struct Size {
    pub(crate) memory: usize,
}

impl ResourceLimiter for Size {
    fn memory_growing(&mut self, _: usize, desired: usize, _: Option<usize>) -> Result<bool> {
        if desired > self.memory {
            return Err(StopError::Memory(self.memory).into());
        }
        Ok(true)
    }

    fn table_growing(&mut self, _: usize, desired: usize, _: Option<usize>) -> Result<bool> {
        Ok(desired <= Limits::TABLE_ELEMENTS)
    }

    fn instances(&self) -> usize {
        Limits::INSTANCES
    }

    fn tables(&self) -> usize {
        Limits::TABLES
    }

    fn memories(&self) -> usize {
        Limits::MEMORIES
    }
}
