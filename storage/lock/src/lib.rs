//! The one lock of a place, across threads, processes and hosts.
//!
//! There are two empty SQLite files in the lock directory, never written, each held by
//! `BEGIN IMMEDIATE`. `turn.sqlite` is the lock. `queue.sqlite` is the wait queue: a writer holds it
//! while it waits for the lock, so that a writer that takes the lock again at once does not overtake
//! all others. SQLite's own busy handler is unfair, so the caller asks for both again and again.
//!
//! SQLite locks a file with POSIX locks. A process loses them when it closes *any* handle on that
//! file, so only SQLite ever opens these two.

mod lock_file;
mod request;

pub use lock_file::{IdleLocks, is_busy, is_in_place, result_code};
pub use request::{PlaceLock, Progress, Request};
