use std::time::Duration;

/// How long calls in progress may take to end after the input has ended. Summaries in progress then get
/// the same time again.
pub(super) const CLOSING: Duration = Duration::from_secs(5);

/// Why serving could not begin, or ended early.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The client's first message does not begin a session of any protocol version.
    #[error("the client's first message does not begin an MCP session: {0}")]
    Opening(String),
    /// Other machines reach the listener, and there are no tokens.
    #[cfg(feature = "http")]
    #[error(
        "`{0}` is reached from other machines, whose users cannot be told apart without tokens: make \
         one with `agent-memory token create NAME` and the server's `--data-dir`, or listen on \
         `127.0.0.1`"
    )]
    Exposed(std::net::SocketAddr),
    /// Access tokens are accepted, but the options have no public URL, and the listener is not on a
    /// loopback address.
    #[cfg(feature = "http")]
    #[error(
        "access tokens are for the URL at which clients reach this server, which is not `{0}`: give it \
         with `--public-url`, such as `https://memory.example.com/mcp`"
    )]
    NoPublicUrl(std::net::SocketAddr),
    /// Access tokens are accepted, but the options have no tokens to which their subjects could be
    /// bound.
    #[cfg(feature = "http")]
    #[error("access tokens stand for tokens: set both")]
    NoTokens,
    /// The tokens cannot be read.
    #[cfg(feature = "http")]
    #[error("the tokens cannot be read: {0}")]
    Tokens(#[source] crate::storage::Error),
    /// The listener failed.
    #[cfg(feature = "http")]
    #[error("the listener failed: {0}")]
    Listener(#[source] std::io::Error),
    /// A task of the server ended by a bug of this program.
    #[error("a task of the server failed, which is a bug of this program: {0}")]
    Task(#[source] tokio::task::JoinError),
}
