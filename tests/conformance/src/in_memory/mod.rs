//! Storage in memory, and the core on it.

mod database;
mod repository;
mod storage;

pub use database::{Image, SqlDatabase};
pub use repository::InMemory;
pub use storage::InMemoryStorage;
