//! Storage that fails.
//!
//! [`FaultyStorage`] asks a [`Plan`] before each operation what is to happen. There are two plans:
//! [`Planned`] lets fail what a case of the conformance suite names, and a [`Sweep`] lets every
//! operation of every call fail in every way, which a toolset gets by one line:
//! `Sweep::of("sessions").run()`.
//!
//! The storages of the hosts fail by their system calls: `tests/src/syscalls.rs`.

mod call;
mod planned;
mod point;
mod state;
mod storage;
mod sweep;

pub use call::{Attempt, Call, Found, MAY_STAND, Tally};
pub use planned::Planned;
pub use point::{Fault, How, Point};
pub use state::{Alteration, State};
pub use storage::{Event, FaultyStorage, INJECTED, Moment, Plan};
pub use sweep::Sweep;

use agent_memory_core::storage::ErrorCode;

/// The error code of a name.
///
/// # Panics
///
/// Where the name is none of `wit/storage`.
pub fn code(name: &str) -> ErrorCode {
    let found = ErrorCode::ALL.iter().find(|code| code.name() == name);
    *found.unwrap_or_else(|| panic!("`{name}` is no storage error"))
}
