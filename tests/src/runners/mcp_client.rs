//! A small MCP client: one server process, one request at a time, over standard input and output or
//! over HTTP.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::TIMEOUT;
use crate::http_server::HttpServer;
use crate::product::program;

/// The kinds of protocol versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProtocolVersion {
    /// Sessions with `initialize`: 2025-06-18.
    Initialize,
    /// Stateless requests: 2026-07-28.
    Stateless,
}

/// A running `agent-memory serve`.
#[derive(Debug)]
pub struct Client {
    connection: Connection,
    version: ProtocolVersion,
    questions: u64,
}

#[derive(Debug)]
enum Connection {
    Stdio(Process),
    /// Requests are stateless.
    Http(HttpServer),
}

/// A server with its unread output.
#[derive(Debug)]
struct Process {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
}

impl Client {
    /// Starts the built binary in a directory, with an empty environment.
    pub fn start(
        arguments: &[String],
        directory: &Path,
        version: ProtocolVersion,
    ) -> Result<Self, String> {
        Self::start_program(&program("agent-memory"), arguments, directory, version)
    }

    /// Like [`start`](Client::start), with another program.
    pub fn start_program(
        program: &Path,
        arguments: &[String],
        directory: &Path,
        version: ProtocolVersion,
    ) -> Result<Self, String> {
        let mut command = Command::new(program);
        command.env_clear();
        Self::start_command(command, arguments, directory, version)
    }

    /// Like [`start`](Client::start), with a command that starts the program, such as `wine PROGRAM`.
    pub fn start_command(
        mut command: Command,
        arguments: &[String],
        directory: &Path,
        version: ProtocolVersion,
    ) -> Result<Self, String> {
        command.arg("serve").args(arguments).current_dir(directory);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(|error| error.to_string())?;
        let input = child.stdin.take();
        let output = child.stdout.take().ok_or("no standard output")?;
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            let lines = BufReader::new(output).lines().map_while(Result::ok);
            lines.into_iter().try_for_each(|line| sender.send(line))
        });
        let connection = Connection::Stdio(Process { child, input, lines });
        let mut client = Self { connection, version, questions: 0 };
        if version == ProtocolVersion::Initialize {
            let hello = json!({
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": "conformance", "version": "1"},
            });
            client.ask("initialize", hello)?;
            if let Connection::Stdio(process) = &mut client.connection {
                let method = "notifications/initialized";
                process.send(&json!({"jsonrpc": "2.0", "method": method}))?;
            }
        }
        Ok(client)
    }

    /// Starts the built binary with stateless requests over HTTP.
    pub fn start_http(arguments: &[String], directory: &Path) -> Self {
        let connection = Connection::Http(HttpServer::start(arguments, directory));
        Self { connection, version: ProtocolVersion::Stateless, questions: 0 }
    }

    /// Sends a request and returns the whole response.
    pub fn ask(&mut self, method: &str, parameters: Value) -> Result<Value, String> {
        self.questions += 1;
        let id = self.questions;
        let process = match &mut self.connection {
            Connection::Stdio(process) => process,
            Connection::Http(server) => return server.stateless(method, parameters).message(),
        };
        let message = match self.version {
            ProtocolVersion::Initialize => {
                json!({"jsonrpc": "2.0", "id": id, "method": method, "params": parameters})
            }
            ProtocolVersion::Stateless => stateless(id, method, parameters),
        };
        process.send(&message)?;
        let deadline = Instant::now() + TIMEOUT;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let line = process
                .lines
                .recv_timeout(left)
                .map_err(|error| format!("no answer to `{method}`: {error}"))?;
            let message: Value = serde_json::from_str(&line)
                .map_err(|error| format!("standard output holds {line:?}: {error}"))?;
            if message["id"] == id {
                return Ok(message);
            }
        }
    }

    /// Sends a request, and kills the server before it answers.
    pub fn kill_during(mut self, method: &str, parameters: Value) -> Result<(), String> {
        let Connection::Stdio(process) = &mut self.connection else {
            return Err("only a server over standard input is killed".into());
        };
        // Dropping the client kills the server.
        process.send(&stateless(self.questions + 1, method, parameters))
    }

    /// Ends the server: closes the input, or asks it to stop. Waits for it to end with success.
    pub fn end(self) -> Result<(), String> {
        match self.connection {
            Connection::Stdio(process) => process.end(),
            Connection::Http(server) => server.end(),
        }
    }
}

impl Process {
    fn end(mut self) -> Result<(), String> {
        self.input = None;
        let deadline = Instant::now() + TIMEOUT;
        loop {
            match self.child.try_wait().map_err(|error| error.to_string())? {
                Some(status) if status.success() => return Ok(()),
                Some(status) => return Err(format!("the server ended with {status}")),
                None if Instant::now() > deadline => {
                    return Err("the server does not end when its input does".into());
                }
                None => thread::sleep(Duration::from_millis(1)),
            }
        }
    }

    fn send(&mut self, message: &Value) -> Result<(), String> {
        let input = self.input.as_mut().ok_or("the input is closed")?;
        writeln!(input, "{message}").and_then(|()| input.flush()).map_err(|error| error.to_string())
    }
}

/// A stateless request.
pub fn stateless(id: u64, method: &str, mut parameters: Value) -> Value {
    parameters["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "conformance", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": parameters})
}

impl Drop for Process {
    fn drop(&mut self) {
        // Both fail if the process has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
