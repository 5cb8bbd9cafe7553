//! The product: the library and the MCP server, each on a directory of records.

use std::io;
use std::path::Path;
use std::process::{self, Command};
use std::rc::Rc;

use agent_memory_host::{AgentMemory, Builder};
use serde_json::Value;
use tempfile::TempDir;
use tokio::runtime::Runtime;

use super::memories::{Filled, RecordsFormat};
use crate::comparison::{Contestant, Cost};
use crate::contestants::{Asked, path_text, refused};
use crate::programs;
use crate::work::Calls;

/// The file of the SQLite format.
pub const DATABASE: &str = "memories.db";

/// The library on a directory of records.
pub fn builder(directory: &Path, format: RecordsFormat) -> Builder {
    let directory = directory.to_str().expect("scratch paths are UTF-8");
    let builder = AgentMemory::builder().toolsets(["records", "memory"]);
    builder.setting("records", "directory", directory).setting("records", "format", format.name())
}

/// Makes one call.
pub fn run_one(memory: &AgentMemory, tool: &str, arguments: &Value) -> io::Result<String> {
    let arguments = arguments.to_string();
    match runtime()?.block_on(memory.call(tool, &arguments)) {
        Ok(outcome) if outcome.answer.is_ok() => Ok(outcome.json().to_owned()),
        answer => Err(refused(tool, &format!("{answer:?}"))),
    }
}

/// The same kind of runtime as the server's.
fn runtime() -> io::Result<Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()
}

pub struct Library {
    runtime: Runtime,
    memory: AgentMemory,
    tool: &'static str,
    arguments: Vec<String>,
    _directory: Rc<TempDir>,
}

impl Library {
    pub fn new(filled: Filled, calls: &Calls) -> io::Result<Self> {
        let memory = builder(filled.directory.path(), filled.format).build();
        Ok(Self {
            runtime: runtime()?,
            memory: memory.map_err(io::Error::other)?,
            tool: calls.tool,
            arguments: calls.texts(),
            _directory: filled.directory,
        })
    }
}

impl Contestant for Library {
    fn name(&self) -> &str {
        crate::contestants::Library::NAME
    }

    fn take_turn(&mut self) -> io::Result<Cost> {
        Cost::between(process::id(), self.arguments.len(), || {
            self.runtime.block_on(async {
                for arguments in &self.arguments {
                    match self.memory.call(self.tool, arguments).await {
                        Ok(outcome) if outcome.answer.is_ok() => {}
                        answer => return Err(refused(self.tool, &format!("{answer:?}"))),
                    }
                }
                Ok(())
            })
        })
    }
}

/// The server on a directory of records.
pub fn server(filled: Filled, calls: &Calls) -> io::Result<Asked> {
    let mut command = Command::new(programs::built("agent-memory")?);
    let directory = path_text(filled.directory.path())?;
    command.args(["serve", "--toolset", "records", "--toolset", "memory"]);
    command.args(["--memory-dir", directory]);
    command.args(["--records-format", filled.format.name()]);
    Asked::ours(command, filled.directory, calls)
}
