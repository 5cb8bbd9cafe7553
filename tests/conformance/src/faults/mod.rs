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

/// Every storage error, by its name in `wit/storage`; a test holds the two together.
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
/// Where the name is none of `wit/storage`.
pub fn code(name: &str) -> ErrorCode {
    let found = ERRORS.iter().find(|(known, _)| *known == name);
    found.unwrap_or_else(|| panic!("`{name}` is no storage error")).1
}

/// The name of an error code.
pub fn name(code: ErrorCode) -> &'static str {
    ERRORS.iter().find(|(_, known)| *known == code).expect("every code has a name").0
}
