//! The name and the instructions that the server gives to its clients.

use crate::{AgentMemory, MountedToolset};
use rmcp::model::Implementation;

/// The server's name and version.
pub(super) fn identity() -> Implementation {
    Implementation::new("agent-memory", env!("CARGO_PKG_VERSION")).with_title("Agent memory")
}

/// The instructions for clients, of at most 2,048 characters: some clients cut longer instructions.
pub(super) fn instructions(memory: &AgentMemory) -> String {
    let uses: String = memory.toolsets().iter().map(|toolset| use_of(toolset, memory)).collect();
    format!("{}{uses}", include_str!("instructions.txt"))
}

/// One line with the use of a toolset and the names of its tools.
fn use_of(toolset: &MountedToolset, memory: &AgentMemory) -> String {
    let tools = memory.tools_for_models().filter(|tool| toolset.tools.contains(&tool.name));
    let names: Vec<_> = tools.map(|tool| format!("`{}`", tool.name)).collect();
    format!("- {}: {}\n", toolset.description, names.join(", "))
}
