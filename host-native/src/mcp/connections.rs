//! The connections of the HTTP server: how many there are at once, and how long each may be silent.

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_io_timeout::TimeoutStream;
use tokio_util::sync::CancellationToken;

/// The pause after the system could not accept a connection, for example because it is out of file
/// descriptors.
const REST: Duration = Duration::from_millis(200);

/// The limits of connections, before any token is checked.
pub(super) struct Limits {
    /// The maximum number of connections at once; further connections wait. Each connection needs a
    /// file descriptor, and reading documents needs some, too.
    pub connections: usize,
    /// How long a client may take to send the head of its next request, and how long it may read nothing
    /// of its answer.
    pub silence: Duration,
}

/// Answers requests until `hang_up` is cancelled. Then returns once the requests in progress are
/// answered.
pub(super) async fn serve(
    listener: TcpListener,
    app: Router,
    limits: Limits,
    hang_up: CancellationToken,
) {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(limits.silence);
    let free = Arc::new(Semaphore::new(limits.connections));
    let connections = GracefulShutdown::new();
    let next = async || {
        let permit = free.clone().acquire_owned().await.ok();
        (accept(&listener).await, permit)
    };
    while let Some((stream, permit)) = hang_up.run_until_cancelled(next()).await {
        let service = TowerToHyperService::new(app.clone());
        let mut stream = TimeoutStream::new(stream);
        stream.set_write_timeout(Some(limits.silence));
        let connection = http.serve_connection(TokioIo::new(Box::pin(stream)), service);
        let connection = connections.watch(connection);
        tokio::spawn(async move {
            let _permit = permit;
            if let Err(error) = connection.await {
                tracing::debug!("a connection ended: {error}");
            }
        });
    }
    connections.shutdown().await;
}

async fn accept(listener: &TcpListener) -> TcpStream {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => return stream,
            Err(error) => {
                tracing::warn!("a connection cannot be accepted: {error}");
                tokio::time::sleep(REST).await;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::routing::get;
    use std::net::SocketAddr;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

    async fn start(limits: Limits) -> (SocketAddr, CancellationToken) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let long = get(async || "x".repeat(1 << 20));
        let app = Router::new().route("/", get(async || "here")).route("/long", long);
        let hang_up = CancellationToken::new();
        tokio::spawn(serve(listener, app, limits, hang_up.clone()));
        (address, hang_up)
    }

    async fn connect(address: SocketAddr, bytes: &[u8]) -> TcpStream {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(bytes).await.unwrap();
        stream
    }

    async fn read(mut stream: TcpStream) -> String {
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer
    }

    #[tokio::test]
    async fn a_silent_client_keeps_nobody_out() {
        let limits = Limits { connections: 2, silence: Duration::from_millis(100) };
        let (address, _hang_up) = start(limits).await;
        let silent = [connect(address, b"").await, connect(address, b"GET / HT").await];
        let answer = read(connect(address, REQUEST).await).await;
        assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("here"), "{answer}");
        for stream in silent {
            let ended = read(stream).await;
            assert!(!ended.contains("200"), "{ended}");
        }
    }

    #[tokio::test]
    async fn a_client_that_reads_nothing_keeps_nobody_out() {
        let limits = Limits { connections: 1, silence: Duration::from_millis(100) };
        let (address, _hang_up) = start(limits).await;
        let request = b"GET /long HTTP/1.1\r\nHost: localhost\r\n\r\n";
        let mut deaf = connect(address, request).await;
        let next = tokio::spawn(async move { read(connect(address, REQUEST).await).await });
        // Writes until the server closes the connection.
        while deaf.write_all(request).await.is_ok() {}
        let answer = next.await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("here"), "{answer}");
    }

    #[tokio::test]
    async fn an_idle_connection_does_not_hold_up_the_end() {
        let limits = Limits { connections: 2, silence: Duration::from_secs(600) };
        let (address, hang_up) = start(limits).await;
        let mut idle = connect(address, b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
        let mut begin = [0; 12];
        idle.read_exact(&mut begin).await.unwrap();
        assert_eq!(&begin, b"HTTP/1.1 200");
        hang_up.cancel();
        read(idle).await;
    }
}
