//! The component's machine code. One memory of a process at a time can run it without a copy.
#![cfg(target_os = "linux")]

use agent_memory_host::{AgentMemory, Image};
use process::Repository;
use std::fs;

mod process;

/// The anonymous memory of this process in bytes: memory that no file backs.
fn anonymous_memory() -> usize {
    let status = fs::read_to_string("/proc/self/status").expect("Linux has it");
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    let kibibytes = line.and_then(|line| line.trim().strip_suffix(" kB")).expect("a size");
    kibibytes.parse::<usize>().expect("a number") << 10
}

fn memory(repository: &Repository) -> AgentMemory {
    AgentMemory::builder().allow(repository.root()).build().expect("a memory")
}

async fn starts_a_session(memory: &AgentMemory, repository: &Repository) {
    let arguments = repository.arguments(serde_json::json!({ "date": "2025-01-20" }));
    let outcome = memory.call("start_session", &arguments.to_string()).await.expect("an outcome");
    assert!(outcome.answer.is_ok(), "{outcome:?}");
}

#[tokio::test]
async fn the_first_memory_of_a_process_does_not_copy_the_machine_code() {
    let repository = Repository::new();
    let code = Image::embedded().code().len();
    let before = anonymous_memory();
    let first = memory(&repository);
    starts_a_session(&first, &repository).await;
    let used = anonymous_memory() - before;
    assert!(used < code / 2, "{used} bytes, with machine code of {code} bytes");

    // Other memories work at the same time, also after the first has ended.
    let others = [memory(&repository), memory(&repository), memory(&repository)];
    for other in &others {
        starts_a_session(other, &repository).await;
    }
    starts_a_session(&first, &repository).await;
    drop(first);
    for other in others.iter().chain([&memory(&repository), &memory(&repository)]) {
        starts_a_session(other, &repository).await;
    }
}
