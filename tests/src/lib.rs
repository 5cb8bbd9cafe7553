//! What looks at the product from outside: the conformance suite's cases and runners, and what the
//! other tests share.
//!
//! `tests/conformance/README.md` tells what a case is and how a runner works.

pub mod case;
pub mod cut_disk;
pub mod expectations;
pub mod faults;
pub mod guests;
pub mod in_memory;
pub mod json_schema;
pub mod kept_records;
pub mod markdown;
pub mod medium;
pub mod mixture;
pub mod model;
pub mod mounts;
pub mod places;
pub mod process;
pub mod product;
pub mod random;
pub mod records_file;
pub mod report;
pub mod runner;
pub mod runners;
pub mod scratch;
pub mod skip;
pub mod traced;

/// How long a hang is waited for before it is called one, and a lock before it is called busy, where
/// neither is what a test is after: much longer than a disk that others use may take for one sync.
pub const PATIENCE: std::time::Duration = std::time::Duration::from_secs(300);
