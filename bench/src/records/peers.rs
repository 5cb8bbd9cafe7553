//! Other memory servers, if they are installed: the peers. By default they acknowledge a change before
//! it is durable; one of them has a setting that makes it durable.

use std::env;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::memories::Memory;
use crate::contestants::{Asked, ask, handshake, request};
use crate::conversation::Conversation;

/// How many memories one request adds when a peer is filled.
const FILLED_AT_ONCE: usize = 100;

/// The memory server of another project, installed from a package registry, to compare with.
pub struct Peer {
    pub name: &'static str,
    program: &'static str,
    arguments: &'static [&'static str],
    environment: &'static [(&'static str, &'static str)],
    /// Whether its file is JSON Lines. Then the file is written directly to fill the server.
    is_lines: bool,
    install: &'static str,
}

const GRAPH: &[&str] = &["--enable-graph-read", "--enable-graph-write"];
const INSTALL_CRATE: &str = "cargo install mcp-memory --no-default-features";

pub const PEERS: [Peer; 3] = [
    Peer {
        name: "server-memory (npm)",
        program: "mcp-server-memory",
        arguments: &[],
        environment: &[],
        is_lines: true,
        install: "npm install -g @modelcontextprotocol/server-memory",
    },
    Peer {
        name: "mcp-memory (crate)",
        program: "mcp-memory",
        arguments: GRAPH,
        environment: &[],
        is_lines: false,
        install: INSTALL_CRATE,
    },
    Peer {
        name: "mcp-memory, durable",
        program: "mcp-memory",
        arguments: GRAPH,
        environment: &[("MCP_MEMORY_DURABILITY", "sync")],
        is_lines: false,
        install: INSTALL_CRATE,
    },
];

impl Peer {
    /// The program, or the reason why there is none.
    fn find(&self) -> Result<PathBuf, String> {
        let path = env::var_os("PATH").unwrap_or_default();
        let found = env::split_paths(&path).map(|place| place.join(self.program));
        found.into_iter().find(|file| file.is_file()).ok_or_else(|| {
            format!("{}: `{}` is not in `PATH`: `{}`", self.name, self.program, self.install)
        })
    }

    /// The reason why it does not take part, if it does not.
    pub fn absent(&self) -> Option<String> {
        self.find().err()
    }

    /// The server with `memories` memories. A turn adds `adds` more.
    pub fn filled(&self, within: &Path, memories: usize, adds: usize) -> io::Result<Asked> {
        let (server, directory) = self.started(within, memories)?;
        let mut next = memories;
        let make = move || {
            next += adds;
            (next - adds..next).map(|number| create(number, vec![entity(number)])).collect()
        };
        Ok(Asked::new(self.name.to_owned(), server, directory, make))
    }

    /// The server with `memories` memories. A turn sends the query `calls` times.
    pub fn searched(
        &self,
        within: &Path,
        memories: usize,
        query: &str,
        calls: usize,
    ) -> io::Result<Asked> {
        let (server, directory) = self.started(within, memories)?;
        let arguments = json!({"query": query});
        let search = move |id| request(id, "search_nodes", &arguments).to_string();
        let make = move || (memories + 1..=memories + calls).map(&search).collect();
        Ok(Asked::new(self.name.to_owned(), server, directory, make))
    }

    /// Starts the server with `memories` memories. Also returns its directory.
    fn started(&self, within: &Path, memories: usize) -> io::Result<(Conversation, Rc<TempDir>)> {
        let program = self.find().map_err(io::Error::other)?;
        let directory = tempfile::Builder::new().prefix("bench-peer-").tempdir_in(within)?;
        let file = directory.path().join("memory.jsonl");
        if self.is_lines {
            write_lines(&file, memories)?;
        }
        let mut command = Command::new(program);
        command.args(self.arguments).envs(self.environment.iter().copied());
        command.env("MEMORY_FILE_PATH", &file).current_dir(&directory);
        let mut server = Conversation::start(&mut command)?;
        let [hello, initialized] = handshake();
        ask(&mut server, &hello.to_string())?;
        server.say(&initialized.to_string())?;
        if !self.is_lines {
            for first in (0..memories).step_by(FILLED_AT_ONCE) {
                let last = memories.min(first + FILLED_AT_ONCE);
                ask(&mut server, &create(first, (first..last).map(entity).collect()))?;
            }
        }
        Ok((server, Rc::new(directory)))
    }
}

fn entity(number: usize) -> Value {
    let memory = Memory::new(number);
    json!({"name": format!("note {number}"), "entityType": "note",
           "observations": [memory.content()]})
}

fn create(id: usize, entities: Vec<Value>) -> String {
    request(id + 1, "create_entities", &json!({"entities": entities})).to_string()
}

fn write_lines(file: &Path, memories: usize) -> io::Result<()> {
    let mut out = BufWriter::new(File::create(file)?);
    for number in 0..memories {
        let mut line = entity(number);
        line["type"] = json!("entity");
        writeln!(out, "{line}")?;
    }
    out.flush()
}
