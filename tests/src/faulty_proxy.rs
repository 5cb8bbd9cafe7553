//! A proxy of a PostgreSQL server that breaks one request of a client.

use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use tempfile::TempDir;

use crate::postgres::{SOCKET, url_at};

/// The protocol version at the beginning of a connection for statements. A request to cancel a
/// statement has another number there.
const STARTUP: [u8; 4] = [0, 3, 0, 0];

/// The fault that a request meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The connection ends before the server gets it.
    CutBefore,
    /// The connection ends after the server has answered. The client never learns the answer.
    CutAfter,
    /// The server ends the connection, as it does when it is shut down.
    Shutdown,
    /// The server answers with an error of this SQLSTATE.
    Error(&'static str),
}

/// A proxy in front of a server.
///
/// It counts the requests of a client: a simple query, or the messages of the extended protocol up to a
/// Sync. The server answers each with ReadyForQuery. A new connection counts as a request, too.
#[derive(Debug)]
pub struct FaultyProxy {
    directory: TempDir,
    plan: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared(Mutex<Plan>);

#[derive(Debug, Default)]
struct Plan {
    /// The name of the client whose requests are counted, as its URL gives it.
    client: String,
    /// Whether its requests are counted now.
    is_counting: bool,
    seen: usize,
    fault: Option<(usize, Fault)>,
    /// The number of requests in a row that meet the fault.
    times: usize,
    /// The number of requests that have met the fault so far.
    met: usize,
}

impl Shared {
    fn plan(&self) -> MutexGuard<'_, Plan> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a request of a client, and returns the fault that it meets.
    fn next(&self, client: &str) -> Option<Fault> {
        let mut plan = self.plan();
        if !plan.is_counting || client != plan.client {
            return None;
        }
        plan.seen += 1;
        let (at, fault) = plan.fault?;
        let is_met = plan.seen > at && plan.seen <= at + plan.times;
        plan.met += usize::from(is_met);
        is_met.then_some(fault)
    }
}

impl FaultyProxy {
    /// Starts a proxy of the server whose socket is in a directory.
    ///
    /// # Panics
    ///
    /// If there can be no socket.
    pub fn start(server: &Path) -> Self {
        let directory = tempfile::tempdir().expect("a scratch directory");
        let listener = UnixListener::bind(directory.path().join(SOCKET)).expect("a socket");
        let plan = Arc::<Shared>::default();
        let server = server.join(SOCKET);
        let shared = plan.clone();
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let server = server.clone();
                let shared = shared.clone();
                // A connection that breaks ends its thread.
                thread::spawn(move || serve(client, &server, &shared));
            }
        });
        Self { directory, plan }
    }

    /// The text of a URL for a client with a name. From now on, only the requests of this client are
    /// counted.
    pub fn url_text(&self, client: &str) -> String {
        self.plan.plan().client = client.to_owned();
        format!("{}?application_name={client}", url_at(self.directory.path()))
    }

    /// Counts requests from now on. With the fault `(at, fault)`, the first `at` requests pass, and the
    /// next `times` requests meet the fault.
    pub fn begin(&self, fault: Option<(usize, Fault)>, times: usize) {
        let mut plan = self.plan.plan();
        let client = std::mem::take(&mut plan.client);
        *plan = Plan { client, is_counting: true, fault, times, ..Plan::default() };
    }

    /// Stops counting. Returns how many requests there were, and how many met the fault.
    pub fn end(&self) -> (usize, usize) {
        let mut plan = self.plan.plan();
        plan.is_counting = false;
        (plan.seen, plan.met)
    }
}

/// The answers of a server on one connection.
#[derive(Debug, Default)]
struct Answers {
    state: Mutex<AnswersState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct AnswersState {
    /// How often the server was ready for a query.
    ready: usize,
    /// Once `ready` has this value, no further answer is passed to the client.
    kept_back_after: Option<usize>,
    has_ended: bool,
}

impl Answers {
    fn state(&self) -> MutexGuard<'_, AnswersState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Passes the answers to the client.
    fn pass(&self, mut server: UnixStream, mut client: UnixStream) {
        while let Ok((kind, message)) = typed_message(&mut server) {
            let mut state = self.state();
            let passes = state.kept_back_after.is_none_or(|after| state.ready < after);
            state.ready += usize::from(kind == b'Z');
            self.changed.notify_all();
            drop(state);
            if passes && client.write_all(&message).is_err() {
                break;
            }
        }
        let _ = client.shutdown(Shutdown::Both);
        self.state().has_ended = true;
        self.changed.notify_all();
    }

    /// Waits until the server was ready `ready` times, or its connection has ended.
    fn wait_for(&self, ready: usize) {
        let waits = |state: &mut AnswersState| state.ready < ready && !state.has_ended;
        drop(self.changed.wait_while(self.state(), waits));
    }
}

/// Serves a client until its connection ends.
fn serve(client: UnixStream, server: &Path, shared: &Shared) -> io::Result<()> {
    let server = UnixStream::connect(server)?;
    // Both connections are closed, also after an error.
    let ended = pass_requests(&client, &server, shared);
    let _ = client.shutdown(Shutdown::Both);
    let _ = server.shutdown(Shutdown::Both);
    ended
}

/// Passes the requests of a client to the server, until a fault ends the connection.
fn pass_requests(
    mut client: &UnixStream,
    mut server: &UnixStream,
    shared: &Shared,
) -> io::Result<()> {
    let first = packet(&mut client)?;
    if first.get(4..8) != Some(&STARTUP) {
        // The client asks the server to cancel a statement.
        return server.write_all(&first);
    }
    let name = parameter(&first, "application_name").unwrap_or_default();
    let answers = Arc::<Answers>::default();
    let passing = (answers.clone(), server.try_clone()?, client.try_clone()?);
    thread::spawn(move || passing.0.pass(passing.1, passing.2));
    let mut request = first;
    let mut is_first = true;
    // The server sends ReadyForQuery after the first packet, and after each request.
    for ready in 1.. {
        match shared.next(&name) {
            None => server.write_all(&request)?,
            Some(Fault::CutBefore) => {
                // The server finishes the earlier requests first.
                answers.wait_for(ready - 1);
                break;
            }
            Some(Fault::CutAfter) => {
                answers.state().kept_back_after = Some(ready - 1);
                server.write_all(&request)?;
                answers.wait_for(ready);
                break;
            }
            Some(fault) if is_first => {
                client.write_all(&refusal(fault))?;
                break;
            }
            Some(Fault::Shutdown) => {
                server.write_all(&query("SELECT pg_terminate_backend(pg_backend_pid())"))?;
                answers.wait_for(ready);
            }
            Some(Fault::Error(state)) => server.write_all(&query(&failing(&request, state)))?,
        }
        is_first = false;
        request.clear();
        loop {
            let (kind, message) = typed_message(&mut client)?;
            request.extend_from_slice(&message);
            match kind {
                b'Q' | b'S' => break,
                // The message Terminate: the client ends the connection.
                b'X' => return server.write_all(&request),
                _ => {}
            }
        }
    }
    Ok(())
}

/// SQL that fails in place of a request. In place of BEGIN it begins the transaction first, and in
/// place of COMMIT it rolls the transaction back first.
fn failing(request: &[u8], state: &str) -> String {
    let before = match request {
        [b'Q', _, _, _, _, sql @ ..] if sql.starts_with(b"BEGIN") => "BEGIN; ",
        [b'Q', _, _, _, _, sql @ ..] if sql.starts_with(b"COMMIT") => "ROLLBACK; ",
        _ => "",
    };
    format!(
        "{before}DO $$ BEGIN RAISE EXCEPTION 'injected' USING ERRCODE = '{state}'; END $$ LANGUAGE plpgsql"
    )
}

fn query(sql: &str) -> Vec<u8> {
    message(b'Q', &[sql.as_bytes(), b"\0"].concat())
}

/// The answer of a server that refuses a new connection.
fn refusal(fault: Fault) -> Vec<u8> {
    let state = match fault {
        // These two codes are about transactions. No server refuses a connection with them.
        Fault::Error("40001" | "40P01") => "53300",
        Fault::Error(state) => state,
        _ => "57P03",
    };
    message(b'E', format!("SFATAL\0VFATAL\0C{state}\0Minjected\0\0").as_bytes())
}

fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len() + 4).expect("a short message").to_be_bytes();
    [&[kind], &length[..], body].concat()
}

/// A message with its kind.
fn typed_message(from: &mut impl Read) -> io::Result<(u8, Vec<u8>)> {
    let mut kind = [0];
    from.read_exact(&mut kind)?;
    let rest = packet(from)?;
    Ok((kind[0], [&kind[..], &rest].concat()))
}

/// Reads a packet: its length in four bytes, and its contents.
fn packet(from: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut packet = vec![0; 4];
    from.read_exact(&mut packet)?;
    let length = u32::from_be_bytes([packet[0], packet[1], packet[2], packet[3]]) as usize;
    packet.resize(length.max(4), 0);
    from.read_exact(&mut packet[4..])?;
    Ok(packet)
}

/// A parameter in the first packet of a connection.
fn parameter(packet: &[u8], name: &str) -> Option<String> {
    let mut texts = packet.get(8..)?.split(|byte| *byte == 0);
    while let Some(found) = texts.next() {
        let value = texts.next()?;
        if found == name.as_bytes() {
            return String::from_utf8(value.to_vec()).ok();
        }
    }
    None
}
