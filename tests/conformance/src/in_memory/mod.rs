//! The core over storage in memory.

mod database;
mod repository;
mod storage;

pub use database::{Image, SqlDatabase};
pub use repository::InMemory;
pub use storage::FullStorage;
