//! A store `team` in a scratch directory, and `agent-memory store` on it.

#![allow(dead_code, reason = "each test file uses its own part")]

use super::process::agent_memory;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

pub const NOW: &str = "2025-01-20T10:00:00.000Z";

/// A memory as a tool writes it.
pub const DEPLOY: &str = "---\ncreated_at: 2025-01-10T08:00:00.000Z\nupdated_at: \
    2025-01-10T08:00:00.000Z\ntags:\n  - ops\nsource: mcp\n---\nDeploy on Tuesdays.\n";

pub struct Scratch {
    directory: tempfile::TempDir,
}

impl Scratch {
    /// A scratch directory with an empty store.
    pub fn new() -> Self {
        let scratch = Scratch { directory: tempfile::tempdir().expect("a temporary directory") };
        fs::create_dir(scratch.root().join("tmp")).expect("a directory");
        let store = scratch.store();
        let added = scratch.run(&["add", "team", store.to_str().expect("UTF-8")]);
        assert_eq!(added.status.code(), Some(0), "{added:?}");
        scratch
    }

    pub fn root(&self) -> PathBuf {
        self.directory.path().canonicalize().expect("it is there")
    }

    pub fn store(&self) -> PathBuf {
        self.root().join("team")
    }

    pub fn put(&self, path: &str, contents: impl AsRef<[u8]>) {
        let file = self.root().join(path);
        fs::create_dir_all(file.parent().expect("a parent")).expect("a directory");
        fs::write(file, contents).expect("a file");
    }

    pub fn text(&self, path: &str) -> String {
        fs::read_to_string(self.root().join(path)).expect(path)
    }

    /// Whether no copy of a memory is left.
    pub fn has_no_draft(&self) -> bool {
        fs::read_dir(self.root().join("tmp")).expect("the directory").count() == 0
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = agent_memory(&self.root());
        command.arg("store").args(arguments).stdin(Stdio::null());
        command.env_remove("VISUAL").env_remove("EDITOR").env("TMPDIR", self.root().join("tmp"));
        command.env("AGENT_MEMORY_DATA_DIR", self.root().join("data"));
        command.env("AGENT_MEMORY_FIXED_CLOCK", NOW).env("LOG_LEVEL", "ERROR");
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("it runs")
    }

    /// Edits `notes/deploy` with a shell script as the editor. Its `$1` is the file.
    pub fn edit(&self, script: &str, arguments: &[&str]) -> Output {
        let mut command = self.command(&["edit", "team", "notes/deploy"]);
        command.args(arguments).env("EDITOR", format!("f() {{ {script}\n}}; f"));
        command.output().expect("it runs")
    }
}

pub fn stdout(output: &Output) -> &str {
    str::from_utf8(&output.stdout).expect("UTF-8")
}

pub fn stderr(output: &Output) -> &str {
    str::from_utf8(&output.stderr).expect("UTF-8")
}

pub fn succeeds(output: &Output, prints: &str, tells: &str) {
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!((stdout(output), stderr(output)), (prints, tells));
}

pub fn fails(output: &Output, status: i32, tells: &[&str]) {
    assert_eq!(output.status.code(), Some(status), "{output:?}");
    assert_eq!(stdout(output), "");
    for text in tells {
        assert!(stderr(output).contains(text), "`{text}`: {output:?}");
    }
}

/// The file with the text that an edit kept, read from its message.
pub fn kept(output: &Output) -> PathBuf {
    let (_, quoted) = stderr(output).rsplit_once("--from '").expect("a file is kept");
    let (file, _) = quoted.split_once('\'').expect("the end of its name");
    Path::new(file).to_owned()
}
