//! The runners of the conformance suite that need a host, and helpers of the tests that use the
//! product from outside.
//!
//! The suite itself is the crate `agent-memory-conformance`, in `tests/conformance/`.

pub mod breaking_proxy;
pub mod cut_disk;
pub mod faulty_proxy;
pub mod http_server;
pub mod images;
pub mod issuer;
pub mod line_program;
pub mod markdown;
pub mod medium;
pub mod mounts;
pub mod postgres;
pub mod process;
pub mod product;
pub mod race_writer;
pub mod random;
pub mod random_markdown;
pub mod records_file;
pub mod runners;
pub mod scratch;
pub mod signing;
pub mod skip;
pub mod stored_records;
pub mod syscalls;
pub mod tenant_scene;
pub mod traced;
pub mod wine;

/// How long a test waits for a lock or an answer before it fails. It is much longer than one sync may
/// take on a busy disk.
pub const TIMEOUT: std::time::Duration = std::time::Duration::from_secs(300);
