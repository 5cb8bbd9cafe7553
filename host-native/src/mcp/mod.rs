//! The tools as an MCP server. No other module knows MCP.
//!
//! One server speaks all protocol versions: 2026-07-28, where requests are stateless, and 2024-11-05 to
//! 2025-11-25, where a client begins with `initialize`. Over standard input and output `initialize`
//! begins a session; over HTTP there is no session. The server lists the component's tools for models
//! unchanged, in the component's order.
//!
//! A tool's error is a result with `isError` and the error's JSON as text, so that a model can
//! correct itself. A successful result is structured; the same JSON comes as text for older clients.
//! Only a request that cannot be understood is a JSON-RPC error.
//!
//! # Example
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let memory = agent_memory_host::AgentMemory::builder().allow("/srv/repository").build()?;
//! agent_memory_host::mcp::serve_stdio(memory, std::future::pending()).await?;
//! # Ok(())
//! # }
//! ```

mod access;
mod answer;
#[cfg(feature = "http")]
mod authorization;
mod batches;
#[cfg(feature = "http")]
mod connections;
mod error;
#[cfg(feature = "http")]
mod http;
mod instructions;
mod intake;
mod lines;
#[cfg(feature = "http")]
mod metrics;
#[cfg(feature = "http")]
mod origin;
mod prompts;
#[cfg(feature = "http")]
mod readiness;
#[cfg(feature = "http")]
mod refusal;
mod resources;
mod roots;
mod sampling;
mod server;
mod serving;
#[cfg(feature = "http")]
mod streams;
mod subscriptions;
mod version;

use crate::{AgentMemory, Caller};
#[cfg(feature = "http")]
pub(crate) use http::is_local;
#[cfg(feature = "http")]
pub use http::{HTTP_PATH, HttpOptions, serve_http};
use intake::Intake;
use lines::Lines;
#[cfg(feature = "http")]
pub use origin::Origin;
use rmcp::ServiceExt;
use rmcp::service::{QuitReason, RoleServer, ServerInitializeError};
use rmcp::transport::{Transport, stdio_pipes};
use server::Server;
use serving::CLOSING;
pub use serving::ServeError;
use std::pin::pin;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

/// Serves over standard input and output, as [`serve`] does. Nothing else may write to standard
/// output while it serves.
///
/// # Errors
///
/// As [`serve`].
pub async fn serve_stdio(
    memory: AgentMemory,
    stop: impl Future<Output = ()>,
) -> Result<(), ServeError> {
    let (reader, writer) = stdio_pipes();
    serve(memory, reader, writer, stop).await
}

/// Serves one client, whose messages are lines of JSON, until its input ends, its output breaks, or
/// `stop` is ready.
///
/// Then calls in progress have at most 5 s to finish and be answered. After them, summaries in progress
/// have at most 5 s more. Open subscriptions end at once.
///
/// # Errors
///
/// [`ServeError`]. A client that disconnects is not an error.
pub async fn serve<R, W>(
    memory: AgentMemory,
    reader: R,
    writer: W,
    stop: impl Future<Output = ()>,
) -> Result<(), ServeError>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    memory.resume(Caller::default());
    let served = serve_calls(memory.clone(), reader, writer, stop).await;
    memory.close(CLOSING).await;
    served
}

async fn serve_calls<R, W>(
    memory: AgentMemory,
    reader: R,
    writer: W,
    stop: impl Future<Output = ()>,
) -> Result<(), ServeError>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let end = CancellationToken::new();
    let intake = Intake::new(Lines::new(reader, writer), memory.clone(), end.clone());
    let server = Server::new(memory, end.clone(), server::Transport::Stdio);
    let mut session = pin!(run(server, intake));
    tokio::select! {
        result = &mut session => return result,
        () = stop => end.cancel(),
        () = end.cancelled() => {}
    }
    let closed = tokio::time::timeout(CLOSING, session).await;
    closed.unwrap_or_else(|_| {
        tracing::warn!("calls that had not ended after {CLOSING:?} were cancelled");
        Ok(())
    })
}

async fn run(
    server: Server,
    messages: impl Transport<RoleServer> + 'static,
) -> Result<(), ServeError> {
    let running = match server.serve(messages).await {
        Ok(running) => running,
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(ServerInitializeError::TransportError { error, .. }) => {
            tracing::warn!(
                "the client does not read the answer to its first message: {}",
                error.error
            );
            return Ok(());
        }
        Err(error) => return Err(ServeError::Opening(error.to_string())),
    };
    match running.waiting().await {
        Ok(QuitReason::JoinError(error)) | Err(error) => Err(ServeError::Task(error)),
        Ok(_) => Ok(()),
    }
}
