//! Fault injection: storage whose operations fail.
//!
//! Before each operation, [`FaultyStorage`] asks a [`Plan`] whether it fails. There are three plans.
//! [`CaseFaults`] injects the faults that a case of the conformance suite names. [`Every`] lets
//! operations fail at regular intervals, over many calls. A [`Sweep`] injects every fault into every
//! operation of every call: `Sweep::new("sessions").run()`.
//!
//! A sweep does not check which error code a storage error becomes. The [`table`] does.
//!
//! For faults in the storage of hosts, see `tests/src/syscalls.rs`.

mod call;
mod case_faults;
mod every;
mod point;
mod state;
mod storage;
mod sweep;
pub mod table;

pub use call::{Attempt, Call, Counts, Finding, MAY_STAND};
pub use case_faults::CaseFaults;
pub use every::Every;
pub use point::{Fault, FaultKind, Point};
pub use state::{State, StateChange};
pub use storage::{Action, FaultyStorage, INJECTED, PendingOperation, Plan};
pub use sweep::Sweep;

use agent_memory_core::storage::ErrorCode;

/// The storage error with a name.
///
/// # Panics
///
/// If `wit/storage` has no error of this name.
pub fn code(name: &str) -> ErrorCode {
    let found = ErrorCode::ALL.iter().find(|code| code.name() == name);
    *found.unwrap_or_else(|| panic!("`{name}` is no storage error"))
}
