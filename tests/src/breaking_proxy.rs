//! Proxies of a PostgreSQL server, such as one that breaks the connection of the first COMMIT.

use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use crate::postgres::SOCKET;

/// The way in which a proxy breaks the connection of the first COMMIT.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Break {
    /// The connection ends before the server gets the COMMIT.
    Before,
    /// The connection ends after the server has answered, which the client never learns.
    After,
}

/// Passes bytes between clients and a server, and breaks the connection of the first COMMIT.
///
/// # Panics
///
/// If the directory cannot have a socket.
pub fn start_proxy(directory: &Path, server: &Path, broken: Break) {
    let has_broken = AtomicUsize::new(0);
    start_passing(directory, server, move |client, to_server, hides_answers| {
        pass(client, to_server, hides_answers, &has_broken, broken);
    });
}

/// Passes bytes from a server to its clients. `pass` passes the bytes of one client to the server. Once
/// it has set `hides_answers`, its last argument, the client gets no more answers. The client's
/// connection ends when the server's ends.
///
/// # Panics
///
/// If the directory cannot have a socket.
pub fn start_passing(
    directory: &Path,
    server: &Path,
    pass: impl Fn(UnixStream, UnixStream, &AtomicBool) + Send + Sync + 'static,
) {
    let listener = UnixListener::bind(directory.join(SOCKET)).unwrap();
    let server = server.join(SOCKET);
    let pass = Arc::new(pass);
    thread::spawn(move || {
        for client in listener.incoming().map_while(Result::ok) {
            let server = server.clone();
            let pass = pass.clone();
            thread::spawn(move || {
                let to_server = UnixStream::connect(&server).unwrap();
                let mut answers = to_server.try_clone().unwrap();
                let mut to_client = client.try_clone().unwrap();
                let hides_answers = Arc::new(AtomicBool::new(false));
                let hidden = hides_answers.clone();
                thread::spawn(move || {
                    let mut bytes = [0; 1 << 16];
                    while let Ok(read @ 1..) = answers.read(&mut bytes) {
                        let passes = !hidden.load(Ordering::SeqCst);
                        if passes && to_client.write_all(&bytes[..read]).is_err() {
                            break;
                        }
                    }
                    let _ = to_client.shutdown(std::net::Shutdown::Both);
                });
                pass(client, to_server, &hides_answers);
            });
        }
    });
}

fn pass(
    mut client: UnixStream,
    mut server: UnixStream,
    hides_answers: &AtomicBool,
    has_broken: &AtomicUsize,
    broken: Break,
) {
    let mut bytes = [0; 1 << 16];
    while let Ok(read @ 1..) = client.read(&mut bytes) {
        let is_commit = bytes[..read].windows(7).any(|window| window == b"COMMIT\0");
        if is_commit && has_broken.fetch_add(1, Ordering::SeqCst) == 0 {
            if broken == Break::After {
                hides_answers.store(true, Ordering::SeqCst);
                let _ = server.write_all(&bytes[..read]);
                // The server does the COMMIT and then ends the connection. Only then does the client's
                // connection end, so the client asks for the outcome after the commit.
                let _ = server.shutdown(std::net::Shutdown::Write);
                return;
            }
            let _ = client.shutdown(std::net::Shutdown::Both);
            let _ = server.shutdown(std::net::Shutdown::Both);
            return;
        }
        if server.write_all(&bytes[..read]).is_err() {
            break;
        }
    }
    let _ = server.shutdown(std::net::Shutdown::Both);
}
