//! The product: the library, which fills a database, and the MCP server.

use std::io;
use std::path::Path;
use std::process::Command;
use std::rc::Rc;

use agent_memory_host::{AgentMemory, Durability};
use rusqlite::Connection;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::episodes::{AGENT, Episode};
use crate::contestants::{Asked, path_text, refused};
use crate::programs;
use crate::work::Calls;

/// The file of the layers.
pub const DATABASE: &str = "agent_memory.db";

/// The number of rows that one call indexes.
const PAGE: usize = 256;

/// Imports episodes in pages of the size that one call indexes, so that the index has them all.
pub fn fill(directory: &Path, episodes: usize) -> io::Result<()> {
    let memory = open(directory)?;
    for first in (0..episodes).step_by(PAGE) {
        let page = first..episodes.min(first + PAGE);
        let lines: Vec<String> =
            page.map(|number| Episode::new(number).line().to_string()).collect();
        let arguments = json!({"agent_id": AGENT, "entries": lines.join("\n"), "merge": true});
        call(&memory, "import_layers", &arguments)?;
    }
    drop(memory);
    let database = Connection::open(directory.join(DATABASE)).map_err(io::Error::other)?;
    let checkpoint = database.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
    checkpoint.map_err(io::Error::other)
}

/// The library with relaxed durability: it does not wait for the disk.
pub fn open(directory: &Path) -> io::Result<AgentMemory> {
    let file = directory.join(DATABASE);
    let builder = AgentMemory::builder().toolsets(["layers"]).durability(Durability::Relaxed);
    builder.setting("layers", "file", path_text(&file)?).build().map_err(io::Error::other)
}

/// Makes one call.
pub fn call(memory: &AgentMemory, tool: &str, arguments: &Value) -> io::Result<Value> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    match runtime.block_on(memory.call(tool, &arguments.to_string())) {
        Ok(outcome) if outcome.answer.is_ok() => Ok(serde_json::from_str(outcome.json())?),
        answer => Err(refused(tool, &format!("{answer:?}"))),
    }
}

/// The server on a database of layers.
pub fn server(directory: Rc<TempDir>, calls: &Calls) -> io::Result<Asked> {
    let mut command = Command::new(programs::built("agent-memory")?);
    let file = directory.path().join(DATABASE);
    command.args(["serve", "--toolset", "layers", "--layers-db", path_text(&file)?]);
    Asked::ours(command, directory, calls)
}
