//! Further directories that a call may be granted while it runs.

use std::path::PathBuf;
use std::pin::Pin;

/// A future in a box, which another thread may poll.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A source of further granted directories for a call, such as the client of an MCP server.
pub trait Roots: Send + Sync {
    /// The directories to grant to the call, as [`Builder::allow`](crate::Builder::allow) does. Called
    /// at most once for each call, and only if the place that the call needs is not granted otherwise.
    /// For a call that names no repository, it is called only if no repository is granted.
    fn roots(&self) -> BoxFuture<'_, Vec<PathBuf>>;
}
