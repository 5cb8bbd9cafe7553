//! The MCP server, with a client on its standard input and output.

use std::io;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::{Disk, path_text, refused};
use crate::comparison::{Contestant, Cost};
use crate::conversation::Conversation;
use crate::programs;

/// The command that serves one repository.
pub fn serve(repository: &Path) -> io::Result<Command> {
    let mut command = Command::new(programs::built("agent-memory")?);
    command.args(["serve", "--allow", path_text(repository)?]);
    Ok(command)
}

/// A call in the older protocol versions, after the [handshake].
pub fn request(id: usize, tool: &str, arguments: &Value) -> Value {
    let params = json!({"name": tool, "arguments": arguments});
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
}

/// A call in the stateless protocol version, without a handshake.
pub fn stateless_request(id: usize, tool: &str, arguments: &Value) -> Value {
    let mut request = request(id, tool, arguments);
    request["params"]["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    request
}

/// The first messages of a client with an older protocol version; only the first gets an answer.
pub fn handshake() -> [Value; 2] {
    let client = json!({
        "protocolVersion": "2025-11-25",
        "clientInfo": {"name": "bench", "version": "1"},
        "capabilities": {},
    });
    [
        json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": client}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
    ]
}

pub struct Server {
    server: Conversation,
    requests: Vec<String>,
    disk: Disk,
}

impl Server {
    pub const NAME: &str = "over MCP";

    pub fn new(disk: Disk) -> io::Result<Self> {
        let calls = &disk.calls;
        let request = |(id, arguments)| stateless_request(id, calls.tool, arguments).to_string();
        let requests = calls.arguments.iter().enumerate().map(request).collect();
        let server = Conversation::start(&mut serve(disk.repository.path())?)?;
        Ok(Self { server, requests, disk })
    }
}

impl Contestant for Server {
    fn name(&self) -> &str {
        Self::NAME
    }

    fn prepare(&mut self) -> io::Result<()> {
        self.disk.put_back()
    }

    fn take_turn(&mut self) -> io::Result<Cost> {
        Cost::between(self.server.process(), self.requests.len(), || {
            for request in &self.requests {
                self.server.say(request)?;
                let answer = self.server.hear()?;
                if !answer.contains(r#""structuredContent":{"#)
                    || answer.contains(r#""isError":true"#)
                {
                    return Err(refused(self.disk.calls.tool, answer));
                }
            }
            Ok(())
        })
    }
}
