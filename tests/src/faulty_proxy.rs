//! A proxy of a PostgreSQL server that breaks one request of a client.

use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use tempfile::TempDir;

use crate::postgres::{SOCKET, url_at};

/// The code of the first packet of a connection that the client uses for statements.
const STARTUP: [u8; 4] = [0, 3, 0, 0];

/// The fault that a request meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The connection ends before the server gets it.
    CutBefore,
    /// The connection ends after the server has answered. The client never learns the answer.
    CutAfter,
    /// The server ends the connection instead, as one that is shut down.
    Shutdown,
    /// The server answers with an error of this SQLSTATE.
    Error(&'static str),
}

/// A proxy in front of a server.
///
/// It counts the requests of a client: a simple query, or the messages of the extended protocol up to a
/// Sync. The server answers each with ReadyForQuery. A new connection counts as one, too.
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
    /// Whether they are counted now.
    is_counting: bool,
    seen: usize,
    fault: Option<(usize, Fault)>,
    /// How many requests, one after the other, the fault meets.
    times: usize,
    /// The requests that it has met.
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

    /// The text of a URL for a client with a name. From now on its requests may be counted, and those of
    /// no other client.
    pub fn url_text(&self, client: &str) -> String {
        self.plan.plan().client = client.to_owned();
        format!("{}?application_name={client}", url_at(self.directory.path()))
    }

    /// Counts requests from now on. The fault meets the one that comes after `at` others, and those that
    /// follow it until it has met so many.
    pub fn begin(&self, fault: Option<(usize, Fault)>, times: usize) {
        let mut plan = self.plan.plan();
        let client = std::mem::take(&mut plan.client);
        *plan = Plan { client, is_counting: true, fault, times, ..Plan::default() };
    }

    /// Counts no more. Returns how many requests there were, and how many met the fault.
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
    /// What comes after it was ready so often is not passed to the client.
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

    /// Waits until the server was ready so often, or ends.
    fn wait_for(&self, ready: usize) {
        let waits = |state: &mut AnswersState| state.ready < ready && !state.has_ended;
        drop(self.changed.wait_while(self.state(), waits));
    }
}

/// Serves a client until its connection ends.
fn serve(client: UnixStream, server: &Path, shared: &Shared) -> io::Result<()> {
    let server = UnixStream::connect(server)?;
    // However it ends, both ends are closed.
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
        // It asks the server to end a statement.
        return server.write_all(&first);
    }
    let name = parameter(&first, "application_name").unwrap_or_default();
    let answers = Arc::<Answers>::default();
    let passing = (answers.clone(), server.try_clone()?, client.try_clone()?);
    thread::spawn(move || passing.0.pass(passing.1, passing.2));
    let mut request = first;
    let mut is_first = true;
    // The server is ready after each request, and after the first packet.
    for ready in 1.. {
        match shared.next(&name) {
            None => server.write_all(&request)?,
            Some(Fault::CutBefore) => {
                // What was sent before has been done.
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
                // The client ends.
                b'X' => return server.write_all(&request),
                _ => {}
            }
        }
    }
    Ok(())
}

/// Statements that fail where a request would: after its BEGIN, or at its COMMIT, which then ends the
/// transaction.
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

/// The answer to the first packet of a server that takes no connection.
fn refusal(fault: Fault) -> Vec<u8> {
    let state = match fault {
        // No database answers a first packet with those of a transaction.
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

/// A length and what it counts.
fn packet(from: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut packet = vec![0; 4];
    from.read_exact(&mut packet)?;
    let length = u32::from_be_bytes([packet[0], packet[1], packet[2], packet[3]]) as usize;
    packet.resize(length.max(4), 0);
    from.read_exact(&mut packet[4..])?;
    Ok(packet)
}

/// A parameter of a first packet.
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
