//! Fault injection: storage whose operations fail.
//!
//! Before each operation, [`FaultyStorage`] asks a [`Plan`] whether it fails. There are two plans.
//! [`CaseFaults`] injects the faults that a case of the conformance suite names. A [`Sweep`] injects
//! every fault into every operation of every call: `Sweep::of("sessions").run()`.
//!
//! A sweep does not know which error code a storage error has to become. The [`table`] does.
//!
//! For faults in the storage of hosts, see `tests/src/syscalls.rs`.

mod call;
mod case_faults;
mod point;
mod state;
mod storage;
mod sweep;
pub mod table;

pub use call::{Attempt, Call, Counts, Finding, MAY_STAND};
pub use case_faults::CaseFaults;
pub use point::{Fault, FaultKind, Point};
pub use state::{State, StateChange};
pub use storage::{Action, FaultyStorage, INJECTED, PendingOperation, Plan};
pub use sweep::Sweep;

use agent_memory_core::storage::ErrorCode;

/// All storage errors with their names in `wit/storage`. A test compares the list with that file.
pub const ERRORS: [(&str, ErrorCode); 14] = [
    ("not-found", ErrorCode::NotFound),
    ("already-exists", ErrorCode::AlreadyExists),
    ("version-mismatch", ErrorCode::VersionMismatch),
    ("not-granted", ErrorCode::NotGranted),
    ("no-space", ErrorCode::NoSpace),
    ("read-only", ErrorCode::ReadOnly),
    ("permission", ErrorCode::Permission),
    ("too-large", ErrorCode::TooLarge),
    ("invalid-path", ErrorCode::InvalidPath),
    ("busy", ErrorCode::Busy),
    ("nested", ErrorCode::Nested),
    ("cancelled", ErrorCode::Cancelled),
    ("corrupted", ErrorCode::Corrupted),
    ("io", ErrorCode::Io),
];

/// The error code of a name.
///
/// # Panics
///
/// If `wit/storage` has no error of this name.
pub fn code(name: &str) -> ErrorCode {
    let found = ERRORS.iter().find(|(known, _)| *known == name);
    found.unwrap_or_else(|| panic!("`{name}` is no storage error")).1
}

/// The name of an error code.
pub fn name(code: ErrorCode) -> &'static str {
    ERRORS.iter().find(|(_, known)| *known == code).expect("every code has a name").0
}
