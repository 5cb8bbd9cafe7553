//! Storage in memory, and the core on it.

mod repository;

pub use agent_memory_storage_memory::{InMemoryStorage, Image, MemoryStorage, SqlDatabase};
pub use repository::InMemory;
