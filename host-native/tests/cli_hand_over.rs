//! `agent-memory hand-over`: its output, its exit status, and which hosts may write afterwards.

mod process;

use process::{Repository, agent_memory};
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

/// The output of the command, run in `directory`.
fn hand_over(directory: &Path, to: &str, path: impl AsRef<Path>) -> Output {
    let mut command = agent_memory(directory);
    command.args(["hand-over", "--to", to]).arg(path.as_ref());
    command.output().expect("it runs")
}

fn start_session(repository: &Repository) -> Output {
    let mut command = agent_memory(&repository.root());
    command.args(["call", "start_session", &repository.arguments(json!({})).to_string()]);
    command.output().expect("it runs")
}

fn text(bytes: &[u8]) -> &str {
    str::from_utf8(bytes).expect("UTF-8")
}

#[track_caller]
fn succeeds(output: &Output, message: &str) {
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(text(&output.stdout), format!("{message}\n"));
}

#[track_caller]
fn fails(output: &Output, status: i32, parts: &[&str]) {
    assert_eq!(output.status.code(), Some(status), "{output:?}");
    assert_eq!(text(&output.stdout), "");
    for part in parts {
        assert!(text(&output.stderr).contains(part), "{output:?} has no {part}");
    }
}

/// Whether a lock directory has the marker of plugins, and the lock file of the other hosts.
fn signs(lock_directory: &Path) -> (bool, bool) {
    let exists = |name| lock_directory.join(name).exists();
    (exists("plugin.owner"), exists("turn.sqlite"))
}

fn lock_directory(repository: &Repository) -> PathBuf {
    repository.root().join(".git/agent-memory")
}

const HOSTS: &str = "this program, and the packages for Node and Python";

#[test]
fn a_repository_is_handed_over_both_ways_and_twice() {
    let repository = Repository::new();
    let path = repository.path();
    for _ in 0..2 {
        let handed = hand_over(&repository.root(), "plugins", &path);
        succeeds(&handed, &format!("`{path}` is now written by plugins"));
        assert!(signs(&lock_directory(&repository)).0);
        let place = format!("{path}/.github/agent-memory");
        let refused = start_session(&repository);
        assert_eq!(refused.status.code(), Some(3), "{refused:?}");
        let command = format!("`agent-memory hand-over --to hosts {place}`");
        assert!(text(&refused.stdout).contains(&command), "{refused:?}");
    }
    for _ in 0..2 {
        let handed = hand_over(&repository.root(), "hosts", &path);
        succeeds(&handed, &format!("`{path}` is now written by {HOSTS}"));
        assert_eq!(signs(&lock_directory(&repository)), (false, true));
    }
    assert_eq!(start_session(&repository).status.code(), Some(0));
}

#[test]
fn a_repository_is_named_by_a_relative_path_or_by_its_documents() {
    let repository = Repository::new();
    assert_eq!(start_session(&repository).status.code(), Some(0));
    for path in [".", ".github/agent-memory"] {
        let handed = hand_over(&repository.root(), "plugins", path);
        succeeds(&handed, &format!("`{path}` is now written by plugins"));
        assert_eq!(signs(&lock_directory(&repository)), (true, true));
        let handed = hand_over(&repository.root(), "hosts", path);
        succeeds(&handed, &format!("`{path}` is now written by {HOSTS}"));
        assert_eq!(signs(&lock_directory(&repository)), (false, true));
    }
}

#[test]
fn a_directory_where_nobody_has_written_is_handed_over() {
    let scratch = tempfile::tempdir().expect("a directory");
    let lock = scratch.path().join(".agent-memory");
    succeeds(&hand_over(scratch.path(), "hosts", "."), &format!("`.` is now written by {HOSTS}"));
    assert_eq!(signs(&lock), (false, true));
    succeeds(&hand_over(scratch.path(), "plugins", "."), "`.` is now written by plugins");
    assert_eq!(signs(&lock), (true, true));
}

#[test]
fn a_registry_is_handed_over_once_it_was_written() {
    let scratch = tempfile::tempdir().expect("a directory");
    let registry = scratch.path().join("stores.yaml");
    fs::write(&registry, "stores: {}\n").expect("a file");
    let refused = hand_over(scratch.path(), "plugins", "stores.yaml");
    fails(&refused, 2, &["`stores.yaml` is no registry that was written to"]);

    let store = scratch.path().join("team");
    let mut add = agent_memory(scratch.path());
    add.args(["store", "add", "team"]).arg(&store).env("AGENT_MEMORY_DATA_DIR", scratch.path());
    assert_eq!(add.status().expect("it runs").code(), Some(0));
    let handed = hand_over(scratch.path(), "plugins", "stores.yaml");
    succeeds(&handed, "`stores.yaml` is now written by plugins");
    assert!(signs(&scratch.path().join(".agent-memory/stores.yaml")).0);
    let mut again = agent_memory(scratch.path());
    again.args(["store", "add", "other"]).arg(scratch.path().join("other"));
    again.env("AGENT_MEMORY_DATA_DIR", scratch.path());
    fails(&again.output().expect("it runs"), 3, &["hand-over --to hosts", "stores.yaml"]);
}

#[test]
fn a_place_that_is_handed_over_to_hosts_has_no_mark_of_a_plugin() {
    let repository = Repository::new();
    let path = repository.path();
    assert_eq!(hand_over(&repository.root(), "plugins", &path).status.code(), Some(0));
    let mark = lock_directory(&repository).join("plugin.mark");
    fs::write(&mark, "7\n").expect("a mark");
    let handed = hand_over(&repository.root(), "hosts", &path);
    succeeds(&handed, &format!("`{path}` is now written by {HOSTS}"));
    assert!(!mark.exists());
    assert_eq!(signs(&lock_directory(&repository)), (false, true));
    assert_eq!(start_session(&repository).status.code(), Some(0));
}

#[test]
fn a_wrong_path_is_refused_and_nothing_is_made() {
    let repository = Repository::new();
    fs::create_dir(repository.root().join("src")).expect("a directory");
    fs::write(repository.root().join("README.md"), "# Ours\n").expect("a file");
    let top_level = repository.path();
    for to in ["hosts", "plugins"] {
        let missing = hand_over(&repository.root(), to, "nowhere");
        fails(&missing, 2, &["nowhere", "there is no such directory"]);
        let file = hand_over(&repository.root(), to, "README.md");
        fails(&file, 2, &["`README.md` is no registry that was written to"]);
        let below = hand_over(&repository.root(), to, "src");
        fails(&below, 2, &["it is not the top level of its repository", &top_level]);
    }
    assert!(!lock_directory(&repository).exists());
    assert_eq!(fs::read_dir(repository.root().join("src")).expect("it is there").count(), 0);
    let nobody = hand_over(&repository.root(), "nobody", ".");
    fails(&nobody, 2, &["plugins", "hosts"]);
}
