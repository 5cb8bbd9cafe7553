//! Storage in memory, and the core on it.

mod repository;

pub use agent_memory_storage_memory::{Image, InMemoryStorage, MemoryStorage, SqlDatabase};
pub use repository::InMemory;
