//! The hosts that sequences run on, each with a repository of its own for each sequence.

pub mod component;
pub mod core;
pub mod node;

use std::fs;
use std::path::Path;

use agent_memory_conformance::case::{Documents, Places};
use agent_memory_conformance::runner::Answer;
use jiff::Timestamp;
use serde_json::Value;

use crate::scratch::Scratch;

/// What a host mounts, and what it is told of the calls that come.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "as in a case")]
pub struct Circumstances {
    pub toolset: &'static str,
    pub now: Timestamp,
    pub step_ms: u32,
    pub utc_offset_minutes: i32,
    pub seed: u64,
}

/// One host with one repository.
pub trait Host {
    /// Makes the next call. An error is the host's own failure.
    fn call(&mut self, tool: &str, arguments: &Value) -> Result<Answer, String>;

    /// Puts a document into the tree, or deletes it, as a person with an editor does.
    fn put(&mut self, path: &str, contents: Option<&[u8]>);

    /// All that the tree holds.
    fn documents(&self) -> Documents;

    /// What the placeholders stand for.
    fn places(&self) -> Places;

    /// Ends it. An error says what it left where nothing should be.
    fn end(self: Box<Self>) -> Result<(), String>;
}

/// A scratch repository, in memory where this machine has a file system there.
fn scratch() -> Scratch {
    let shared_memory = Path::new("/dev/shm");
    let directory = match tempfile::TempDir::with_prefix_in("agent-memory-", shared_memory) {
        Ok(directory) => directory,
        Err(_) => tempfile::tempdir().expect("a temporary directory"),
    };
    Scratch::within(directory, &Documents::new())
}

/// Writes or deletes a file of a scratch repository's tree, with the directories that go with it:
/// version control keeps no empty ones.
fn put(scratch: &Scratch, path: &str, contents: Option<&[u8]>) {
    let root = scratch.repo().join(".github/agent-memory");
    let file = root.join(path);
    let directories = || file.ancestors().skip(1).take_while(|directory| *directory != root);
    let done = match contents {
        Some(contents) => fs::create_dir_all(file.parent().expect("a file is in a directory"))
            .and_then(|()| fs::write(&file, contents)),
        None => fs::remove_file(&file),
    };
    done.unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    if contents.is_none() {
        // The first that is not empty ends it.
        let _ = directories().try_for_each(fs::remove_dir);
    }
}
