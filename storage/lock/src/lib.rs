//! The lock of a place, which excludes threads, processes and hosts.
//!
//! The lock directory has two empty SQLite files. A writer holds one with `BEGIN IMMEDIATE` and
//! never writes to it. `turn.sqlite` is the lock. `queue.sqlite` is the wait queue: a writer holds
//! it while it waits for the lock. So a writer that takes the lock again at once does not overtake
//! the others. SQLite's own busy handler is unfair, so the caller polls both files.
//!
//! SQLite locks a file with POSIX locks. A process loses them when it closes *any* handle of that
//! file, so only SQLite may open these two files. [`holder`] alone opens one, in a process without locks.

mod holder;
mod lock_file;
mod request;
mod system;

pub use holder::holder;
pub use lock_file::{IdleLocks, is_busy, result_code};
pub use request::{FILES, PlaceLock, Progress, Request};
pub use system::{KEEPS_IDLE, is_in_place, open};
