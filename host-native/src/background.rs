//! Work that goes on after calls were answered.

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// The work in progress.
#[derive(Clone, Debug, Default)]
pub(crate) struct InProgress {
    pub(crate) tasks: TaskTracker,
    /// Cancelled when no more work is begun.
    pub(crate) closing: CancellationToken,
    /// Cancelled when the work in progress is given up.
    pub(crate) end: CancellationToken,
}
