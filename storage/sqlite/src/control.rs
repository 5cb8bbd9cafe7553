//! The host's own statements around a transaction: to begin it, to take the snapshot of a read
//! transaction, and to end it.

pub(super) const BEGIN_READ: &str = "BEGIN DEFERRED";
pub(super) const BEGIN_WRITE: &str = "BEGIN IMMEDIATE";
pub(super) const COMMIT: &str = "COMMIT";
pub(super) const ROLLBACK: &str = "ROLLBACK";

/// Takes the snapshot of a read transaction, which begins with the first read.
pub(super) const FIRST_READ: &str = "SELECT 1 FROM sqlite_schema LIMIT 1";

/// The statements that no call may run.
pub(super) const CONTROL: [&str; 4] = [BEGIN_READ, BEGIN_WRITE, COMMIT, ROLLBACK];
