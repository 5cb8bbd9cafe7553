//! Work that goes on after calls were answered.

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// The work in progress.
#[derive(Clone, Debug, Default)]
pub(crate) struct InProgress {
    pub(crate) tasks: TaskTracker,
    pub(crate) end: CancellationToken,
}
