//! Every bound on what a call may use, and the one error that ends a call at any of them.

use crate::Audience;
use std::time::Duration;
use wasmtime::{ResourceLimiter, Result};

/// What one call may use. A call that wants more gives [`CallError::Ended`](crate::CallError::Ended)
/// and harms no other; a statement that runs for too long is an error that it may handle.
///
/// Beside these, every call has fixed bounds that no sound component comes near: 16 core instances,
/// 4 memories, 16 tables of 100,000 elements, 1,000 open resources, 64 MiB of data handed to storage
/// at once, and 4 KiB kept of what it prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of its memory. 256 MiB.
    pub memory: usize,
    /// How long its own code may run. Waiting for a lock, for the disk or for other calls does not
    /// count. 2 s, told in steps of [`TICK`](Limits::TICK).
    pub guest_time: Duration,
    /// The same for a tool for people, which may convert the longest file of memories. 60 s.
    pub guest_time_for_people: Duration,
    /// How often it may ask storage. 100,000 times.
    pub storage_calls: u32,
    /// How long one SQL statement may run, which does not count as its own time. 30 s.
    pub statement_time: Duration,
}

impl Limits {
    /// How often a running call's time is looked at, and whether anybody waits for it still.
    pub const TICK: Duration = Duration::from_millis(10);

    /// Bytes of memory that are kept for later calls at most, whatever the earlier ones took. 96 MiB.
    pub const KEPT_MEMORY: usize = agent_memory_image::MAX_IDLE_MEMORY;

    const INSTANCES: usize = 16;
    const MEMORIES: usize = 4;
    const TABLES: usize = 16;
    const TABLE_ELEMENTS: usize = 100_000;

    /// Calls under way at once. Later ones wait, and the earliest go first.
    pub(crate) const CALLS_AT_ONCE: usize = 256;

    /// Resources that a call has open at once: trees, writers, connections, transactions.
    pub(crate) const RESOURCES: usize = 1_000;

    /// Bytes that the component hands over in one call of storage. A commit of one document of the
    /// greatest length (16 MiB) takes a quarter.
    pub(crate) const TRANSFER: usize = 64 << 20;

    /// Bytes kept of what the component prints.
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

/// Which of its limits a call went beyond. It travels through the component as a trap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Exceeded {
    #[error("it ran for more than {0:?}")]
    GuestTime(Duration),
    #[error("it needs more than {} MiB of memory", .0 >> 20)]
    Memory(usize),
    #[error("it asked storage more than {0} times")]
    StorageCalls(u32),
    #[error("nobody waits for it any more")]
    GivenUp,
}

/// Holds an instance to the limits of its size.
pub(crate) struct Size {
    pub(crate) memory: usize,
}

impl ResourceLimiter for Size {
    fn memory_growing(&mut self, _: usize, desired: usize, _: Option<usize>) -> Result<bool> {
        if desired > self.memory {
            return Err(Exceeded::Memory(self.memory).into());
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
