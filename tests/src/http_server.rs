//! `agent-memory serve --http`, and requests to it that a library would not send.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::TIMEOUT;
use crate::product::program;

/// A running server.
#[derive(Debug)]
pub struct HttpServer {
    child: Child,
    /// The address and the port, such as `127.0.0.1:40123`.
    pub address: String,
}

/// An answer.
#[derive(Debug)]
pub struct Reply {
    /// The status of HTTP.
    pub status: u16,
    /// The header fields, with names in lower case.
    pub fields: Vec<(String, String)>,
    /// The body, joined from its chunks.
    pub body: String,
}

impl Reply {
    /// The value of a field.
    pub fn field(&self, name: &str) -> Option<&str> {
        let found = self.fields.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// The JSON-RPC message, if it is one.
    ///
    /// # Errors
    ///
    /// The status and the body.
    pub fn message(&self) -> Result<Value, String> {
        let message = self.json();
        if message["jsonrpc"] == "2.0" {
            return Ok(message);
        }
        Err(format!("status {}: {:?}", self.status, self.body))
    }

    /// The body as JSON, or null if it is not JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_default()
    }
}

impl HttpServer {
    /// Starts the built binary on a free port. `directory` is its working directory and its home
    /// directory. It gets no other environment variable.
    #[track_caller]
    pub fn start(arguments: &[String], directory: &Path) -> Self {
        Self::start_at("127.0.0.1:0", arguments, directory, Stdio::null())
    }

    /// Like [`start`](Self::start), at a given address. Standard error goes to `log`.
    #[track_caller]
    pub fn start_at(address: &str, arguments: &[String], directory: &Path, log: Stdio) -> Self {
        let mut command = Command::new(program("agent-memory"));
        command.args(["serve", "--http", address]).args(arguments);
        command.current_dir(directory).env_clear().env("HOME", directory);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log);
        let mut child = command.spawn().expect("the server starts");
        let mut line = String::new();
        let output = child.stdout.take().expect("standard output");
        BufReader::new(output).read_line(&mut line).expect("a line");
        let address =
            line.trim().strip_prefix("http://").and_then(|rest| rest.strip_suffix("/mcp"));
        let address = address.unwrap_or_else(|| panic!("no URL: {line:?}")).to_owned();
        Self { child, address }
    }

    /// Sends bytes on a new connection. `None` if no server listens.
    pub fn connect(&self, bytes: &[u8]) -> Option<TcpStream> {
        let mut stream = TcpStream::connect(&self.address).ok()?;
        stream.set_read_timeout(Some(TIMEOUT)).expect("a timeout");
        // The server may close the connection before it has read all bytes.
        let _ = stream.write_all(bytes);
        Some(stream)
    }

    /// Sends bytes, and reads the answer to its end. Without an answer, the status is 0.
    pub fn send(&self, bytes: &[u8]) -> Reply {
        let mut answer = Vec::new();
        // A server that refuses a long body may reset the connection after its answer.
        let _ = self.connect(bytes).map(|mut stream| stream.read_to_end(&mut answer));
        reply(&answer)
    }

    /// The bytes of a request of MCP 2026-07-28.
    pub fn stateless_bytes(&self, method: &str, parameters: Value) -> Vec<u8> {
        let name = parameters["name"].as_str().or(parameters["uri"].as_str()).unwrap_or_default();
        let fields =
            [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", method), ("Mcp-Name", name)];
        let body = crate::runners::mcp_client::stateless(1, method, parameters.clone());
        self.bytes("POST", "/mcp", &fields, &body.to_string())
    }

    /// Sends a request with the usual header fields. `fields` adds to them or replaces them. A field
    /// with an empty value is left out.
    pub fn request(&self, method: &str, path: &str, fields: &[(&str, &str)], body: &str) -> Reply {
        self.send(&self.bytes(method, path, fields, body))
    }

    /// The bytes that [`request`](Self::request) sends.
    pub fn bytes(&self, method: &str, path: &str, fields: &[(&str, &str)], body: &str) -> Vec<u8> {
        let length = body.len().to_string();
        let usual = [
            ("Host", self.address.as_str()),
            ("Connection", "close"),
            ("Accept", "application/json, text/event-stream"),
            ("Content-Type", "application/json"),
            ("Content-Length", &length),
        ];
        let is_given =
            |name: &str| fields.iter().any(|(given, _)| given.eq_ignore_ascii_case(name));
        let usual = usual.iter().filter(|(name, _)| !is_given(name));
        let fields = usual.chain(fields).filter(|(_, value)| !value.is_empty());
        let fields: String = fields.map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        format!("{method} {path} HTTP/1.1\r\n{fields}\r\n{body}").into_bytes()
    }

    /// Sends a request of MCP 2026-07-28.
    pub fn stateless(&self, method: &str, parameters: Value) -> Reply {
        self.send(&self.stateless_bytes(method, parameters))
    }

    /// Like [`stateless`](Self::stateless), with a bearer token. An empty `token` means none.
    pub fn stateless_as(&self, token: &str, method: &str, parameters: Value) -> Reply {
        let name = parameters["name"].as_str().or(parameters["uri"].as_str()).unwrap_or_default();
        let bearer = format!("Bearer {token}");
        let fields = [
            ("MCP-Protocol-Version", "2026-07-28"),
            ("Mcp-Method", method),
            ("Mcp-Name", name),
            ("Authorization", if token.is_empty() { "" } else { &bearer }),
        ];
        let body = crate::runners::mcp_client::stateless(1, method, parameters.clone());
        self.request("POST", "/mcp", &fields, &body.to_string())
    }

    /// Calls a tool, and returns its result.
    #[track_caller]
    pub fn call(&self, tool: &str, arguments: Value) -> Value {
        let reply = self.stateless("tools/call", json!({ "name": tool, "arguments": arguments }));
        let result = &reply.json()["result"];
        assert_eq!(reply.status, 200, "{tool}: {}", reply.body);
        assert_ne!(result["isError"], true, "{tool}: {}", reply.body);
        result["structuredContent"].clone()
    }

    /// Asks the server to stop, as the system does.
    pub fn terminate(&self) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("a signal");
    }

    /// Asks the server to stop, and waits until it has ended with success.
    ///
    /// # Errors
    ///
    /// If it ends otherwise.
    pub fn end(self) -> Result<(), String> {
        self.terminate();
        let status = self.wait();
        if status.success() { Ok(()) } else { Err(format!("the server ended with {status}")) }
    }

    /// Waits for the server to end.
    #[track_caller]
    pub fn wait(mut self) -> ExitStatus {
        let deadline = Instant::now() + TIMEOUT;
        loop {
            match self.child.try_wait().expect("a status") {
                Some(status) => return status,
                None => assert!(Instant::now() < deadline, "the server does not end"),
            }
            thread::sleep(Duration::from_millis(1));
        }
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        // Both fail if the process has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Sends bytes to an address, and reads the answer to its end. Without an answer, the status is 0.
pub fn send_to(address: &str, bytes: &[u8]) -> Reply {
    let mut answer = Vec::new();
    if let Ok(mut stream) = TcpStream::connect(address) {
        stream.set_read_timeout(Some(TIMEOUT)).expect("a timeout");
        // The server may close the connection before it has read all bytes.
        let _ = stream.write_all(bytes).and_then(|()| stream.read_to_end(&mut answer).map(drop));
    }
    reply(&answer)
}

fn reply(answer: &[u8]) -> Reply {
    let answer = String::from_utf8_lossy(answer);
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    let mut lines = head.lines();
    let status = lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok());
    let fields = lines.filter_map(|line| line.split_once(": "));
    let fields = fields.map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()));
    let fields: Vec<_> = fields.collect();
    let is_chunked = fields.iter().any(|(name, _)| name == "transfer-encoding");
    let body = if is_chunked { without_chunks(body) } else { body.to_owned() };
    Reply { status: status.unwrap_or_default(), fields, body }
}

fn without_chunks(mut body: &str) -> String {
    let mut whole = String::new();
    while let Some((size, rest)) = body.split_once("\r\n") {
        let size = usize::from_str_radix(size.trim(), 16).unwrap_or_default();
        let Some(chunk) = rest.get(..size).filter(|chunk| !chunk.is_empty()) else { break };
        whole += chunk;
        body = rest[size..].trim_start_matches("\r\n");
    }
    whole
}
