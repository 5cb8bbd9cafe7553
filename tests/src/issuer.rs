//! An authorization server for tests. It serves its metadata and its public keys.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use serde_json::{Value, json};

use crate::signing::SigningKey;

/// A running server, at an address of this machine.
pub struct Issuer {
    /// Its URL, and the claim `iss` of its tokens.
    pub url: String,
    state: Arc<Mutex<State>>,
}

/// The way in which the server answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// As the standards say.
    #[default]
    Up,
    /// It hangs up.
    Down,
    /// It accepts connections and never answers.
    Silent,
    /// With a redirect to another server.
    Elsewhere(String),
    /// With a body that is longer than a client reads.
    Endless,
    /// Its metadata names another issuer.
    Misnamed,
}

#[derive(Default)]
struct State {
    mode: Mode,
    keys: Vec<Value>,
    /// The requests, as `GET /path` and header fields.
    requests: Vec<String>,
    /// Connections that are not answered.
    silent: Vec<TcpStream>,
}

impl Issuer {
    /// Starts a server with these keys.
    pub fn start(keys: &[&SigningKey]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let issuer = Issuer { url: url.clone(), state: Arc::default() };
        issuer.has_keys(keys);
        let state = issuer.state.clone();
        // The thread ends with the process.
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let _ = answer(stream, &url, &state);
            }
        });
        issuer
    }

    /// Changes its keys.
    pub fn has_keys(&self, keys: &[&SigningKey]) {
        lock(&self.state).keys = keys.iter().map(|key| key.jwk()).collect();
    }

    /// Changes how it answers.
    pub fn set(&self, mode: Mode) {
        lock(&self.state).mode = mode;
    }

    /// The requests so far: each with its first line and its header fields.
    pub fn requests(&self) -> Vec<String> {
        lock(&self.state).requests.clone()
    }

    /// How often its keys were asked for.
    pub fn fetches(&self) -> usize {
        self.requests().iter().filter(|request| request.starts_with("GET /keys ")).count()
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

fn answer(stream: TcpStream, url: &str, state: &Mutex<State>) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    let mut head = Vec::new();
    while let Some(line) = lines.next().transpose()?.filter(|line| !line.is_empty()) {
        head.push(line);
    }
    let path = head.first().and_then(|line| line.split(' ').nth(1)).unwrap_or_default().to_owned();
    let mut state = lock(state);
    state.requests.push(head.join("\n"));
    let named = |name: &str| {
        let metadata = json!({
            "issuer": name,
            "jwks_uri": format!("{url}/keys"),
            "token_endpoint": format!("{url}/token"),
        });
        (200, metadata.to_string())
    };
    let is_metadata = path == "/.well-known/oauth-authorization-server";
    let (status, body) = match state.mode.clone() {
        Mode::Down => return Ok(()),
        Mode::Silent => {
            state.silent.push(stream);
            return Ok(());
        }
        Mode::Elsewhere(location) => {
            return write!(&stream, "HTTP/1.1 302 Found\r\nLocation: {location}{path}\r\n\r\n");
        }
        Mode::Endless => (200, " ".repeat(1 << 20)),
        Mode::Misnamed if is_metadata => named("https://other.example.com"),
        _ if is_metadata => named(url),
        _ if path == "/keys" => (200, json!({ "keys": state.keys }).to_string()),
        _ => (404, String::new()),
    };
    drop(state);
    let length = body.len();
    write!(
        &stream,
        "HTTP/1.1 {status} OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
}
