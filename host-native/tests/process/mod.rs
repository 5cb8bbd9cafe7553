//! Runs the built binary as a process with arguments, an environment and pipes.

#![allow(dead_code, reason = "each test file uses its own part")]

use serde_json::{Value, json};
use std::collections::VecDeque;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};

/// A new Git repository.
pub struct Repository {
    directory: tempfile::TempDir,
}

impl Repository {
    pub fn new() -> Self {
        let repository =
            Repository { directory: tempfile::tempdir().expect("a temporary directory") };
        let git = repository.root().join(".git");
        fs::create_dir(&git).expect("a .git");
        fs::write(git.join("HEAD"), "ref: refs/heads/main\n").expect("a HEAD");
        repository
    }

    pub fn root(&self) -> PathBuf {
        let root = self.directory.path().canonicalize();
        root.expect("the temporary directory is there")
    }

    pub fn path(&self) -> String {
        self.root().into_os_string().into_string().expect("UTF-8")
    }

    /// Arguments for `aristotle`, who works in this repository.
    pub fn arguments(&self, more: Value) -> Value {
        let mut arguments = json!({"agent_name": "aristotle", "repo_root": self.path()});
        for (name, value) in more.as_object().expect("an object") {
            arguments[name] = value.clone();
        }
        arguments
    }
}

/// The binary, run in `directory`, without any of its variables in the environment.
pub fn agent_memory(directory: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_agent-memory"));
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("AGENT_MEMORY_") || text.starts_with("ANTHROPIC_") {
            command.env_remove(name);
        }
    }
    command.env_remove("LOG_LEVEL");
    command.env_remove("CLAUDE_PROJECT_DIR");
    command.current_dir(directory);
    command
}

/// The output of the program on a terminal, with these variables. `None` without the program `script`.
pub fn on_a_terminal(
    directory: &Path,
    arguments: &[&str],
    variables: &[(&str, &str)],
) -> Option<String> {
    if !cfg!(target_os = "linux") {
        println!("no terminal is tried: `script` has other options here");
        return None;
    }
    let program = agent_memory(directory).get_program().to_owned();
    let words = [program.to_str().expect("UTF-8")].into_iter().chain(arguments.iter().copied());
    let words: Vec<String> = words.map(|word| format!("'{word}'")).collect();
    let mut script = Command::new("script");
    script.args(["-qec", &words.join(" "), "/dev/null"]).stdin(Stdio::null());
    script.current_dir(directory).env("TERM", "xterm").env("SHELL", "/bin/sh");
    for variable in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "CI"] {
        script.env_remove(variable);
    }
    match script.envs(variables.iter().copied()).output() {
        Ok(output) => Some(String::from_utf8(output.stdout).expect("UTF-8")),
        Err(error) => {
            println!("no terminal is tried: there is no `script` ({error})");
            None
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProtocolVersion {
    Stateless,
    Initialized,
}

pub const PROTOCOL_VERSIONS: [ProtocolVersion; 2] =
    [ProtocolVersion::Stateless, ProtocolVersion::Initialized];

/// An MCP client that talks to `agent-memory serve` in lines of JSON.
pub struct Client {
    server: Child,
    requests: Option<ChildStdin>,
    lines: BufReader<ChildStdout>,
    version: ProtocolVersion,
    last: u64,
    /// Requests of the server that arrived before the answer that the client waits for.
    early: VecDeque<Value>,
}

impl Client {
    /// Starts a server in a repository. Does the handshake if the protocol version has one.
    pub fn start(repository: &Repository, version: ProtocolVersion) -> Self {
        Client::new(agent_memory(&repository.root()).arg("serve"), version)
    }

    pub fn new(serve: &mut Command, version: ProtocolVersion) -> Self {
        let mut client = Client::unopened(serve, version);
        if version == ProtocolVersion::Initialized {
            client.initialize("2025-11-25", json!({}));
        }
        client
    }

    pub fn unopened(serve: &mut Command, version: ProtocolVersion) -> Self {
        Client::logging(serve, version, Stdio::null())
    }

    /// Starts a server, and writes its log to `log`.
    pub fn logging(serve: &mut Command, version: ProtocolVersion, log: Stdio) -> Self {
        serve.stdin(Stdio::piped()).stdout(Stdio::piped());
        serve.stderr(log);
        let mut server = serve.spawn().expect("the server starts");
        Client {
            requests: server.stdin.take(),
            lines: BufReader::new(server.stdout.take().expect("its output")),
            server,
            version,
            last: 0,
            early: VecDeque::new(),
        }
    }

    pub fn initialize(&mut self, version: &str, capabilities: Value) -> Value {
        let answer = self.request(
            "initialize",
            json!({
                "protocolVersion": version,
                "capabilities": capabilities,
                "clientInfo": {"name": "test", "version": "1"},
            }),
        );
        self.send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        answer
    }

    pub fn send_text(&mut self, text: &str) {
        let requests = self.requests.as_mut().expect("the input is open");
        requests.write_all(text.as_bytes()).expect("it is read");
        requests.flush().expect("it is read");
    }

    pub fn send(&mut self, message: Value) {
        self.send_text(&format!("{message}\n"));
    }

    /// Sends a request in the form of the protocol version, and returns its id.
    pub fn ask(&mut self, method: &str, mut params: Value) -> u64 {
        self.last += 1;
        if self.version == ProtocolVersion::Stateless {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": {},
            });
        }
        self.send(json!({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params}));
        self.last
    }

    /// The next message. Every line that the server prints has to be a message.
    pub fn receive(&mut self) -> Value {
        self.early.pop_front().unwrap_or_else(|| self.read())
    }

    fn read(&mut self) -> Value {
        let mut line = String::new();
        self.lines.read_line(&mut line).expect("its output");
        read_message(&line)
    }

    /// The answers to a batch, which are the next line.
    pub fn receive_batch(&mut self) -> Vec<Value> {
        let mut line = String::new();
        self.lines.read_line(&mut line).expect("its output");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("no batch ({error}): {line}"))
    }

    pub fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params);
        let mut answer = self.read();
        while answer["method"].is_string() && !answer["id"].is_null() {
            self.early.push_back(answer);
            answer = self.read();
        }
        assert_eq!(answer["id"], id, "the answer to `{method}`: {answer}");
        answer
    }

    pub fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.request("tools/call", json!({"name": tool, "arguments": arguments}))
    }

    /// Ends the input, and returns the remaining messages and the exit status.
    pub fn end(mut self) -> (Vec<Value>, ExitStatus) {
        drop(self.requests.take());
        let mut rest = String::new();
        self.lines.read_to_string(&mut rest).expect("its output");
        let status = self.server.wait().expect("it ends");
        (rest.lines().map(read_message).collect(), status)
    }

    /// Like [`end`](Self::end), but a line may be a batch of messages.
    pub fn end_with_batches(mut self) -> (Vec<Value>, ExitStatus) {
        drop(self.requests.take());
        let mut rest = String::new();
        self.lines.read_to_string(&mut rest).expect("its output");
        let status = self.server.wait().expect("it ends");
        let line = |line: &str| serde_json::from_str(line).expect("JSON");
        (rest.lines().map(line).collect(), status)
    }

    /// Kills the server, as `kill -9` does.
    pub fn kill(mut self) {
        self.server.kill().expect("it is killed");
        self.server.wait().expect("it has ended");
    }

    pub fn id(&self) -> u32 {
        self.server.id()
    }

    /// Waits for a server that ends by itself, with its input still open.
    pub fn wait(mut self) -> ExitStatus {
        self.server.wait().expect("it ends")
    }
}

fn read_message(line: &str) -> Value {
    let message: Value = serde_json::from_str(line).unwrap_or_else(|error| {
        panic!("the server printed a line that is not JSON ({error}): {line:?}");
    });
    assert_eq!(message["jsonrpc"], "2.0", "not JSON-RPC: {line}");
    message
}
