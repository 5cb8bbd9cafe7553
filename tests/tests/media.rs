//! Full media, read-only media, and directories without permissions. A writer of either host reports
//! the error and leaves no partial data and no temporary files. Readers go on, and the same call
//! succeeds once it is possible.
//!
//! The first two need mounts of their own: root or `unshare --map-root-user`. The last needs a user
//! who is not root. A test that the machine does not allow is skipped.

use std::fs::{self, File, Permissions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use agent_memory_conformance::case::{Documents, Format};
use agent_memory_conformance::in_memory::InMemory;
use agent_memory_conformance::runner::Answer;
use agent_memory_tests::mounts::where_mounts_are_allowed;
use agent_memory_tests::process::{Call, Host, NODE_PROGRAM, Process};
use agent_memory_tests::product::{node_program, program};
use agent_memory_tests::scratch::Scratch;
use agent_memory_tests::skip::skip;
use serde_json::json;
use tempfile::TempDir;

const PAGE: u64 = 4096;
/// More pages or files than any call below needs, and fewer than the medium has.
const ENOUGH: u64 = 60;

#[test]
fn a_full_medium_stops_only_writers_until_there_is_space() {
    where_mounts_are_allowed("a_full_medium_stops_only_writers_until_there_is_space", || {
        for host in Host::all() {
            for exhausted in [Exhausted::Space, Exhausted::Files] {
                fill(*host, exhausted);
            }
        }
    });
}

#[test]
fn a_read_only_medium_stops_only_writers() {
    where_mounts_are_allowed("a_read_only_medium_stops_only_writers", || {
        for host in Host::all() {
            for has_written in [true, false] {
                close_for_writing(*host, has_written);
            }
        }
    });
}

#[test]
fn a_directory_without_permissions_stops_only_writers() {
    let launcher = unprivileged();
    let launcher: Vec<&str> = match &launcher {
        Ok(launcher) => launcher.iter().map(String::as_str).collect(),
        Err(reason) => return skip(reason),
    };
    for host in Host::all() {
        for case in CLOSED {
            close_to_others(*host, &launcher, case);
        }
    }
}

#[test]
fn records_can_be_read_in_a_read_only_directory() {
    let launcher = unprivileged();
    let launcher: Vec<&str> = match &launcher {
        Ok(launcher) => launcher.iter().map(String::as_str).collect(),
        Err(reason) => return skip(reason),
    };
    for host in Host::all() {
        for format in [Format::Json, Format::Sqlite] {
            for is_open_elsewhere in [false, true] {
                read_only_records(*host, &launcher, format, is_open_elsewhere);
            }
        }
    }
}

#[test]
fn a_directory_of_records_that_cannot_be_listed_is_named() {
    let launcher = unprivileged();
    let launcher: Vec<&str> = match &launcher {
        Ok(launcher) => launcher.iter().map(String::as_str).collect(),
        Err(reason) => return skip(reason),
    };
    for host in Host::all() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        set_mode(directory.path(), 0o311);
        let mut process =
            Process::start_on_records_by(&launcher, *host, directory.path(), Format::Json);
        let answer = process.call(&Call { tool: "query_memories", arguments: json!({}) });
        set_mode(directory.path(), 0o700);
        let Answer::Error(error) = answer else { panic!("{host:?}: {answer:?}") };
        assert_eq!(error["error"]["code"], "PERMISSION_ERROR", "{host:?}: {error}");
        let message = error["error"]["message"].as_str().expect("a text");
        let named = format!("cannot list `{}`", directory.path().display());
        assert!(message.starts_with(&named), "{host:?}: {message}");
    }
}

fn mount(arguments: &[&str], directory: &Path) {
    let status = Command::new("mount").args(arguments).arg(directory).status();
    assert!(status.expect("`mount` runs").success(), "mount {arguments:?}");
}

/// A scratch repository on a small medium of its own.
struct Small {
    scratch: Scratch,
    mounted: TempDir,
}

impl Small {
    fn new() -> Self {
        let mounted = tempfile::tempdir().expect("a temporary directory");
        mount(&["-t", "tmpfs", "-o", "size=1m,nr_inodes=150", "tmpfs"], mounted.path());
        let within = TempDir::new_in(&mounted).expect("a scratch directory");
        Self { scratch: Scratch::within(within, &Documents::new()), mounted }
    }

    /// Fills the medium, except for `but` pages or files.
    fn take(&self, exhausted: Exhausted, but: u64) -> Taken {
        let directory = self.mounted.path().join("taken");
        fs::create_dir(&directory).expect("a directory");
        match exhausted {
            Exhausted::Space => {
                let mut file = File::create(directory.join("file")).expect("a file");
                let mut pages = 0;
                while wrote(file.write_all(&[0; PAGE as usize])) {
                    pages += 1;
                }
                file.set_len((pages - but) * PAGE).expect("a file can be cut");
            }
            Exhausted::Files => {
                let file = |number: u64| directory.join(number.to_string());
                let mut files = 0;
                while wrote(File::create(file(files))) {
                    files += 1;
                }
                for number in files - but..files {
                    fs::remove_file(file(number)).expect("it is there");
                }
            }
        }
        Taken(directory)
    }
}

/// False if the medium is full.
fn wrote<T>(result: std::io::Result<T>) -> bool {
    match result {
        Ok(_) => true,
        Err(error) if error.kind() == ErrorKind::StorageFull => false,
        Err(error) => panic!("the medium is neither full nor sound: {error}"),
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        // If this fails, the end of the process unmounts it.
        let _ = Command::new("umount").arg("--lazy").arg(self.mounted.path()).status();
    }
}

#[derive(Clone, Copy, Debug)]
enum Exhausted {
    Space,
    Files,
}

/// The directory with the files that fill a medium. It is removed when this is dropped.
struct Taken(PathBuf);

impl Drop for Taken {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn call(root: &str, tool: &'static str, more: serde_json::Value) -> Call {
    let mut arguments = json!({"agent_name": "aristotle", "repo_root": root});
    let more = more.as_object().cloned().unwrap_or_default();
    arguments.as_object_mut().expect("an object").extend(more);
    Call { tool, arguments }
}

fn writing(root: &str) -> [Call; 4] {
    let text = "- many words\n".repeat(2500);
    [
        call(root, "start_session", json!({"date": "2025-01-20"})),
        call(
            root,
            "append_entry",
            json!({"date": "2025-01-20", "section": "Context", "content": text}),
        ),
        call(
            root,
            "update_summary",
            json!({"section": "Overview", "content": text, "mode": "replace"}),
        ),
        call(root, "start_session", json!({"date": "2025-01-21"})),
    ]
}

/// Makes every call with more and more space, until there is enough.
fn fill(host: Host, exhausted: Exhausted) {
    let small = Small::new();
    let root = small.scratch.places().repo;
    let expected = InMemory::new(&root, &Documents::new());
    let mut process = Process::start(host, &small.scratch.repo());
    for call in writing(&root) {
        let mut refused = 0;
        for but in 0.. {
            assert!(but < ENOUGH, "`{}` wants more than {ENOUGH} {exhausted:?}", call.tool);
            let taken = small.take(exhausted, but);
            let answer = process.call(&call);
            if let Answer::Result(_) = answer {
                break;
            }
            assert_error(&answer, "StorageError");
            refused += 1;
            // The documents are unchanged, and there are no temporary files.
            assert!(small.scratch.documents() == expected.documents(), "{answer:?}");
            assert_eq!(small.scratch.strays(), Vec::<String>::new());
            let reading = read_summary(&root);
            assert_eq!(process.call(&reading), expected.call(reading.tool, &reading.arguments));
            drop(taken);
        }
        println!("{host:?}, {exhausted:?}: `{}` was refused {refused} times", call.tool);
        assert!(refused > 0, "the medium is never full");
        expected.call(call.tool, &call.arguments);
        assert!(small.scratch.documents() == expected.documents(), "`{}`", call.tool);
    }
}

fn read_summary(root: &str) -> Call {
    call(root, "read_summary", json!({}))
}

/// Mounts the repository read-only over itself.
fn close_for_writing(host: Host, has_written: bool) {
    let small = Small::new();
    let root = small.scratch.places().repo;
    let expected = InMemory::new(&root, &Documents::new());
    let mut process = Process::start(host, &small.scratch.repo());
    let [start, append, ..] = writing(&root);
    for call in [&start, &append] {
        assert_eq!(process.call(call), expected.call(call.tool, &call.arguments));
    }
    let path = small.mounted.path();
    mount(&["--bind", path.to_str().expect("UTF-8")], path);
    mount(&["-o", "remount,bind,ro"], path);
    if !has_written {
        process = Process::start(host, &small.scratch.repo());
    }
    let [_, writing @ ..] = writing(&root);
    for call in &writing {
        assert_error(&process.call(call), "PermissionDenied");
    }
    for reading in [start, read_summary(&root), call(&root, "list_sessions", json!({}))] {
        let answer = expected.call(reading.tool, &reading.arguments);
        assert_eq!(process.call(&reading), answer);
    }
    assert!(small.scratch.documents() == expected.documents(), "nothing is written");
    let status = Command::new("umount").arg("--lazy").arg(path).status();
    assert!(status.expect("`umount` runs").success());
    for call in &writing {
        assert_eq!(process.call(call), expected.call(call.tool, &call.arguments), "{call:?}");
    }
    assert!(small.scratch.documents() == expected.documents());
    assert_eq!(small.scratch.strays(), Vec::<String>::new());
}

fn assert_error(answer: &Answer, code: &str) {
    let Answer::Error(error) = answer else { panic!("{answer:?}") };
    assert_eq!(error["error"], code, "{error}");
}

/// A directory with other permissions, and the tools that succeed nevertheless.
struct Closed {
    path: &'static str,
    mode: u32,
    succeed: &'static [&'static str],
}

const READERS: &[&str] = &["start_session", "read_summary", "list_sessions"];

const CLOSED: &[Closed] = &[
    Closed {
        path: ".github/agent-memory/aristotle/logs",
        mode: 0o555,
        succeed: &["start_session", "read_summary", "list_sessions", "update_summary"],
    },
    Closed {
        path: ".github/agent-memory/aristotle/logs",
        mode: 0o000,
        succeed: &["read_summary", "update_summary"],
    },
    Closed {
        path: ".github/agent-memory/aristotle",
        mode: 0o555,
        succeed: &["start_session", "read_summary", "list_sessions", "append_entry"],
    },
    Closed { path: ".github/agent-memory/aristotle", mode: 0o000, succeed: &[] },
    Closed {
        path: ".github/agent-memory/aristotle/logs/2025-01-20.md",
        mode: 0o000,
        succeed: &["read_summary", "list_sessions", "update_summary"],
    },
    Closed { path: ".github/agent-memory/aristotle/_schema.md", mode: 0o000, succeed: &[] },
    Closed { path: ".git/agent-memory/queue.sqlite", mode: 0o444, succeed: READERS },
    Closed { path: ".git/agent-memory/turn.sqlite", mode: 0o444, succeed: READERS },
    Closed { path: ".git/agent-memory/turn.sqlite", mode: 0o000, succeed: READERS },
    Closed { path: ".git/agent-memory", mode: 0o000, succeed: READERS },
];

fn close_to_others(host: Host, launcher: &[&str], closed: &Closed) {
    let scratch = Scratch::new(&Documents::new());
    let root = scratch.places().repo;
    let expected = InMemory::new(&root, &Documents::new());
    let above = scratch.repo();
    let above = above.parent().expect("a scratch directory");
    set_mode(above, 0o777);
    if !launcher.is_empty() {
        let status = Command::new("chown").args(["-R", "65534:65534"]).arg(above).status();
        assert!(status.expect("`chown` runs").success());
    }
    let mut process = Process::start_by(launcher, host, &scratch.repo());
    let [start, append, mut update, _] = writing(&root);
    for call in [&start, &append, &update] {
        assert_eq!(process.call(call), expected.call(call.tool, &call.arguments));
    }
    // Another text, since the same one would change nothing.
    update.arguments["mode"] = json!("append");
    // A new process, which does not have the lock files open.
    process = Process::start_by(launcher, host, &scratch.repo());
    let calls =
        [start, read_summary(&root), call(&root, "list_sessions", json!({})), append, update];
    let path = scratch.repo().join(closed.path);
    let mode = fs::metadata(&path).expect("it is there").permissions().mode();
    let mut succeed = Vec::new();
    for call in &calls {
        set_mode(&path, closed.mode);
        let answer = process.call(call);
        set_mode(&path, mode);
        if let Answer::Result(_) = answer {
            succeed.push(call.tool);
            assert_eq!(answer, expected.call(call.tool, &call.arguments));
        } else {
            assert_error(&answer, "PermissionDenied");
        }
        assert!(scratch.documents() == expected.documents(), "{answer:?}");
    }
    assert_eq!(succeed, closed.succeed, "{host:?}: `{}` {:o}", closed.path, closed.mode);
    for call in &calls {
        assert_eq!(process.call(call), expected.call(call.tool, &call.arguments));
    }
    assert!(scratch.documents() == expected.documents());
    assert_eq!(scratch.strays(), Vec::<String>::new());
}

/// Reads a directory of records as a user who may not write in it.
fn read_only_records(host: Host, launcher: &[&str], format: Format, is_open_elsewhere: bool) {
    let what = format!("{host:?}, {format:?}, open elsewhere: {is_open_elsewhere}");
    let above = tempfile::tempdir().expect("a temporary directory");
    let directory = above.path().join("memories");
    let call = |tool, arguments| Call { tool, arguments };
    let add = call("add_core_memory", json!({"content": "x"}));
    let made = Command::new(program("agent-memory"))
        .args(["call", "--toolset=records", "--records-format", format.name(), "--memory-dir"])
        .arg(&directory)
        .args([add.tool, &add.arguments.to_string()])
        .output();
    assert!(made.expect("it runs").status.success());
    let mut elsewhere = Process::start_on_records(Host::Native, &directory, format);
    let total = if is_open_elsewhere {
        assert!(matches!(elsewhere.call(&add), Answer::Result(_)));
        2
    } else {
        1
    };
    let status = Command::new("chmod").args(["-R", "u-w,go=u"]).arg(above.path()).status();
    assert!(status.expect("`chmod` runs").success());

    let mut process = Process::start_on_records_by(launcher, host, &directory, format);
    let mut result = |call: &Call| match process.call(call) {
        Answer::Result(result) => result,
        answer => panic!("{what}: {call:?}: {answer:?}"),
    };
    let found = result(&call("query_memories", json!({})));
    assert_eq!(found["total"], total, "{what}: {found}");
    let stats = result(&call("get_memory_stats", json!({})));
    assert_eq!(stats["total_memories"], total, "{what}: {stats}");
    let recalled = result(&call("recall_context", json!({})));
    assert_eq!(recalled["count"], total, "{what}: {recalled}");
    assert_eq!(recalled["warnings"].as_array().map(Vec::len), Some(1), "{what}: {recalled}");
    let Answer::Error(error) = process.call(&add) else { panic!("{what}: it was written") };
    assert_eq!(error["error"]["code"], "PERMISSION_ERROR", "{what}: {error}");

    let status = Command::new("chmod").args(["-R", "u+w"]).arg(above.path()).status();
    assert!(status.expect("`chmod` runs").success());
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).expect("it is ours");
}

/// The launcher for a user whom permissions apply to; empty if that is the current user.
fn unprivileged() -> Result<Vec<String>, String> {
    if !rustix::process::geteuid().is_root() {
        return Ok(Vec::new());
    }
    let launcher = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
    let mut needed = vec![program("agent-memory")];
    if let Some((node, script)) = node_program(NODE_PROGRAM) {
        needed.extend([node, script]);
    }
    for path in needed {
        let mut command = Command::new(launcher[0]);
        command.args(&launcher[1..]).args(["test", "-r"]).arg(&path);
        match command.status() {
            Err(error) => return Err(format!("we are root, and `setpriv` does not run: {error}")),
            Ok(status) if !status.success() => {
                return Err(format!("only root can read `{}`", path.display()));
            }
            Ok(_) => {}
        }
    }
    Ok(launcher.map(str::to_owned).into())
}
