//! Tests of follow-ups that an embedder did not answer at first.

use super::*;
use crate::{BoxFuture, Clock, Embedder, ModelError};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Fails twice, and then gives vectors.
#[derive(Default)]
struct Recovering(AtomicUsize);

impl Embedder for Recovering {
    fn name(&self) -> &str {
        "local"
    }

    fn embed<'a>(
        &'a self,
        texts: &'a [String],
        _: Instant,
    ) -> BoxFuture<'a, Result<Vec<Vec<f32>>, ModelError>> {
        let vectors = match self.0.fetch_add(1, Ordering::Relaxed) {
            0 | 1 => Err(ModelError::from("out of order")),
            _ => Ok(texts.iter().map(|_| vec![1.0]).collect()),
        };
        Box::pin(async { vectors })
    }
}

#[tokio::test]
async fn an_embedder_that_has_recovered_is_asked_without_a_write() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().to_str().expect("UTF-8");
    // Each call is an hour later than the one before, so every pause after a failure is over.
    let start = "2025-01-20T10:00:00Z".parse().expect("a time");
    let clock = Clock::Fixed { start, step: Duration::from_secs(3_600) };
    let memory = AgentMemory::builder()
        .toolsets(["records"])
        .setting("records", "directory", path)
        .setting("records", "format", "sqlite")
        .clock(clock)
        .embedder(Arc::new(Recovering::default()))
        .build()
        .expect("built");
    memory.resume_every(Duration::from_millis(1), Caller::default());
    let added = memory.call("add_core_memory", r#"{"content": "The sloop."}"#).await;
    assert!(added.expect("called").answer.is_ok());
    let start = Instant::now();
    loop {
        let models = memory.call("drop_vectors", "{}").await.expect("called").answer;
        if models.is_ok_and(|models| models.contains(r#""vectors":1"#)) {
            break;
        }
        assert!(start.elapsed() < Duration::from_secs(60), "no vector");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let close = memory.close(Duration::from_secs(60));
    tokio::time::timeout(Duration::from_secs(60), close).await.expect("it ends");
    assert!(memory.in_progress().tasks.is_empty());
}

#[tokio::test]
async fn a_later_poll_takes_the_place_of_the_earlier_one() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().to_str().expect("UTF-8");
    let memory = AgentMemory::builder()
        .toolsets(["records"])
        .setting("records", "directory", path)
        .embedder(Arc::new(Recovering::default()))
        .build()
        .expect("built");
    for _ in 0..3 {
        memory.resume(Caller::default());
    }
    let start = Instant::now();
    while memory.in_progress().tasks.len() > 1 {
        assert!(start.elapsed() < Duration::from_secs(60), "the earlier ones go on");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    memory.close(Duration::from_secs(60)).await;
    assert!(memory.in_progress().tasks.is_empty());
}
