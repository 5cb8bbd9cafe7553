//! Writers of one client do not wait for writers of another.

use super::*;

const TOOL: &str = "add_core_memory";

async fn added(memory: AgentMemory, arrival: Arrival) -> Result<Outcome, CallError> {
    let arguments = r#"{"content": "The sloop."}"#;
    memory.call_as(arrival, TOOL, arguments, Caller::default()).await
}

#[tokio::test]
async fn a_writer_that_has_not_asked_for_its_lock_holds_up_no_other_client() {
    let directory = tempfile::tempdir().expect("a directory");
    let memory = AgentMemory::builder()
        .toolsets(["records"])
        .setting("records", "directory", directory.path().to_str().expect("UTF-8"))
        .lock_wait(Duration::from_secs(600))
        .build()
        .expect("built");
    let slow = memory.arrive_for("ada", TOOL);
    let second = memory.arrive_for("ada", TOOL);
    let second = tokio::spawn(added(memory.clone(), second));
    let other = added(memory.clone(), memory.arrive_for("bob", TOOL)).await;
    assert!(other.expect("an answer").answer.is_ok());
    assert!(!second.is_finished());
    drop(slow);
    assert!(second.await.expect("it ends").expect("an answer").answer.is_ok());
}
