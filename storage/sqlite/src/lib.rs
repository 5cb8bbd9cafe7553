//! SQL databases on a file system: one SQLite file each.
//!
//! This crate never takes the lock of a place: a caller that writes to a kept database passes that
//! lock. Other programs may hold SQLite's own lock. [`try_begin`](Database::try_begin) asks for it
//! once. Every other function waits for it for up to [`Options::busy_wait`].
//!
//! Connections stay open between calls, with their prepared statements. All functions block on the
//! file system.

mod authoriser;
mod busy;
mod connection;
mod control;
mod database;
mod error;
mod immutable;
mod interrupt;
mod open;
mod session;
mod statement;
#[cfg(test)]
mod tests;
mod transaction;

pub use self::connection::{IdleConnections, MAX_ROWS_BYTES};
pub use self::database::Database;
pub use self::session::Options;
pub use self::transaction::{Held, Transaction};
