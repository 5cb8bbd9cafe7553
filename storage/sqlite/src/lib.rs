//! SQL databases on a file system: one SQLite file each.
//!
//! It never waits for the lock of a place: a caller that writes to a kept database brings that lock
//! along. SQLite's own lock, which other programs may hold, is asked for once by
//! [`try_begin`](Database::try_begin), and for up to [`Options::busy_wait`] by everything else.
//! Connections stay open between calls, with the statements that they have prepared. All functions
//! block on the file system.

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
