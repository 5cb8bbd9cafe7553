//! An agent begins today's log in a repository, adds an entry, and reads what earlier sessions left.

use agent_memory_host::AgentMemory;
use serde_json::{Value, json};
use std::error::Error;
use std::path::PathBuf;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let repository = std::env::args_os().nth(1).map(PathBuf::from);
    let repository = repository.ok_or("give the top level of a repository")?;
    let memory = AgentMemory::builder().allow(&repository).build()?;

    for (tool, mut arguments) in [
        ("start_session", json!({})),
        ("append_entry", json!({ "section": "Decisions", "content": "- Embed the memory." })),
        ("read_summary", json!({})),
    ] {
        arguments["agent_name"] = "aristotle".into();
        arguments["repo_root"] = repository.to_str().ok_or("the path is not UTF-8")?.into();
        let outcome = memory.call(tool, &arguments.to_string()).await?;
        let result = outcome.answer.map_err(|error| format!("{tool}: {}", error.message))?;
        let result: Value = serde_json::from_str(&result)?;
        println!("{tool}: {result:#}");
    }
    Ok(())
}
