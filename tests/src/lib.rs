//! The runners of the conformance suite that need a host, and what the tests that look at the
//! product from outside share.
//!
//! The suite itself is the crate `agent-memory-conformance`, in `tests/conformance/`.

pub mod cut_disk;
pub mod images;
pub mod kept_records;
pub mod markdown;
pub mod medium;
pub mod mixture;
pub mod model;
pub mod mounts;
pub mod process;
pub mod product;
pub mod random;
pub mod records_file;
pub mod runners;
pub mod scratch;
pub mod skip;
pub mod syscalls;
pub mod traced;

/// How long a hang is waited for before it is called one, and a lock before it is called busy, where
/// neither is what a test is after: much longer than a disk that others use may take for one sync.
pub const TIMEOUT: std::time::Duration = std::time::Duration::from_secs(300);
