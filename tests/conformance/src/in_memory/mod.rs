//! The core over storage in memory.

mod repository;

pub use agent_memory_storage_memory::{FullStorage, Image, MemoryStorage, SqlDatabase};
pub use repository::InMemory;
