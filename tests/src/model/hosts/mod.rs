//! The hosts for sequences. Each sequence has a repository of its own.

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

/// The options of a host: its toolset, clock, time zone and seed.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "as in a case")]
pub struct HostOptions {
    pub toolset: &'static str,
    pub now: Timestamp,
    pub step_ms: u32,
    pub utc_offset_minutes: i32,
    pub seed: u64,
}

/// One host with one repository.
pub trait Host {
    /// Makes the next call. An error is one of the host itself.
    fn call(&mut self, tool: &str, arguments: &Value) -> Result<Answer, String>;

    /// Writes or deletes a document, like a person with an editor.
    fn put(&mut self, path: &str, contents: Option<&[u8]>);

    /// All documents.
    fn documents(&self) -> Documents;

    /// The values of the placeholders.
    fn places(&self) -> Places;

    /// Closes the host. An error names unexpected files.
    fn end(self: Box<Self>) -> Result<(), String>;
}

/// A scratch repository, in memory if this machine has a file system there.
fn scratch() -> Scratch {
    let shared_memory = Path::new("/dev/shm");
    let directory = match tempfile::TempDir::with_prefix_in("agent-memory-", shared_memory) {
        Ok(directory) => directory,
        Err(_) => tempfile::tempdir().expect("a temporary directory"),
    };
    Scratch::within(directory, &Documents::new())
}

/// Writes or deletes a file of a scratch repository's tree, and its empty directories, which version
/// control does not keep.
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
        // Stops at the first directory that is not empty.
        let _ = directories().try_for_each(fs::remove_dir);
    }
}
