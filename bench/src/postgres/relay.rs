//! A relay between a server and its database. It delays the bytes as a network does, and counts round
//! trips.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

/// The port of a database whose URL names none.
const PORT: u16 = 5432;

/// The largest number of bytes that are relayed at once.
const CHUNK: usize = 64 << 10;

/// A relay on a port of this machine, until the program ends.
pub struct Relay {
    url: String,
    round_trips: Arc<AtomicUsize>,
}

impl Relay {
    /// Starts a relay to the database of a URL. `delay` is for both ways together.
    ///
    /// # Errors
    ///
    /// If the URL names no host, or no port is free.
    pub fn start(url: &str, delay: Duration) -> io::Result<Self> {
        let parts = url.split_once("://").and_then(|(scheme, rest)| {
            let (authority, path) = rest.split_once('/')?;
            let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
            Some((scheme, user, host, path))
        });
        let Some((scheme, user, host, path)) = parts else {
            return Err(io::Error::other("the URL of the database has no host or no database"));
        };
        let upstream = Upstream::new(host);
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let at = if user.is_empty() { "" } else { "@" };
        let url = format!("{scheme}://{user}{at}{address}/{path}");
        let round_trips = Arc::new(AtomicUsize::new(0));
        let counted = round_trips.clone();
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                // If the relay fails, the client sees that its connection is closed.
                let _ = relay(client, &upstream, delay / 2, &counted);
            }
        });
        Ok(Self { url, round_trips })
    }

    /// The number of round trips over all connections: how often a client sent something after an
    /// answer.
    pub fn round_trips(&self) -> usize {
        self.round_trips.load(Ordering::SeqCst)
    }

    /// The URL of the database through the relay.
    pub fn url(&self) -> &str {
        &self.url
    }
}

/// The address of the database.
enum Upstream {
    Socket(String),
    Port(String),
}

impl Upstream {
    fn new(host: &str) -> Self {
        let host = host.replace("%2F", "/").replace("%2f", "/");
        if host.starts_with('/') {
            return Self::Socket(format!("{host}/.s.PGSQL.{PORT}"));
        }
        let has_port = host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
        Self::Port(if has_port { host } else { format!("{host}:{PORT}") })
    }
}

fn relay(
    client: TcpStream,
    upstream: &Upstream,
    delay: Duration,
    round_trips: &Arc<AtomicUsize>,
) -> io::Result<()> {
    client.set_nodelay(true)?;
    let is_answered = Arc::new(AtomicBool::new(true));
    let counted = (is_answered.clone(), round_trips.clone());
    let sends = move || {
        if counted.0.swap(false, Ordering::SeqCst) {
            counted.1.fetch_add(1, Ordering::SeqCst);
        }
    };
    let answers = move || is_answered.store(true, Ordering::SeqCst);
    match upstream {
        Upstream::Socket(path) => {
            let server = UnixStream::connect(path)?;
            let end = server.try_clone()?;
            pass(client.try_clone()?, server.try_clone()?, delay, sends, move || {
                // An error is ignored: the connection may have ended already.
                let _ = end.shutdown(Shutdown::Write);
            });
            pass(server, client.try_clone()?, delay, answers, move || {
                let _ = client.shutdown(Shutdown::Both);
            });
        }
        Upstream::Port(address) => {
            let server = TcpStream::connect(address)?;
            server.set_nodelay(true)?;
            let end = server.try_clone()?;
            pass(client.try_clone()?, server.try_clone()?, delay, sends, move || {
                let _ = end.shutdown(Shutdown::Write);
            });
            pass(server, client.try_clone()?, delay, answers, move || {
                let _ = client.shutdown(Shutdown::Both);
            });
        }
    }
    Ok(())
}

/// Passes bytes on, `delay` after they arrived. `note` is called for each part that arrives.
fn pass(
    mut from: impl Read + Send + 'static,
    mut to: impl Write + Send + 'static,
    delay: Duration,
    note: impl Fn() + Send + 'static,
    end: impl FnOnce() + Send + 'static,
) {
    let (sender, chunks) = mpsc::channel::<(Instant, Vec<u8>)>();
    thread::spawn(move || {
        let mut buffer = vec![0; CHUNK];
        while let Ok(count @ 1..) = from.read(&mut buffer) {
            note();
            if sender.send((Instant::now() + delay, buffer[..count].to_vec())).is_err() {
                return;
            }
        }
    });
    thread::spawn(move || {
        for (due, chunk) in chunks {
            thread::sleep(due.saturating_duration_since(Instant::now()));
            if to.write_all(&chunk).is_err() {
                break;
            }
        }
        end();
    });
}
