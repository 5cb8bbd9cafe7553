//! Tests that mount file systems. Each runs in a process with a mount namespace of its own.

use std::env;
use std::process::Command;

use crate::skip::skip;

/// The variable that is set in a process that may mount.
const MAY_MOUNT: &str = "AGENT_MEMORY_TEST_MAY_MOUNT";

/// The options of `unshare` that give a process its own mounts.
type Way = &'static [&'static str];

const AS_WE_ARE: Way = &["--mount"];
const AS_ROOT_OF_A_NAMESPACE: Way = &["--user", "--map-root-user", "--mount"];

/// Runs the body of a test in a process with its own mounts. Skips the test if this machine allows no
/// mounts.
///
/// # Panics
///
/// If the test fails in that process, or does not run.
#[track_caller]
pub fn where_mounts_are_allowed(test: &str, body: impl FnOnce()) {
    if env::var_os(MAY_MOUNT).is_some() {
        return body();
    }
    match [AS_WE_ARE, AS_ROOT_OF_A_NAMESPACE].into_iter().find(|way| may_mount(way).is_ok()) {
        Some(way) => run_by(way, test),
        None => skip("this process may mount nothing, with `unshare` or without"),
    }
}

/// Like `where_mounts_are_allowed`, but as root of the system, which loop devices need.
///
/// # Panics
///
/// If the test fails in that process, does not run, or does not run as root.
pub fn as_root_with_mounts(test: &str, body: impl FnOnce()) {
    if env::var_os(MAY_MOUNT).is_some() {
        return body();
    }
    if let Err(why) = may_mount(AS_WE_ARE) {
        panic!("`{test}` has to mount file systems, as root: {why}");
    }
    run_by(AS_WE_ARE, test);
}

fn may_mount(way: Way) -> Result<(), String> {
    let directory = tempfile::tempdir().map_err(|error| error.to_string())?;
    let mut command = Command::new("unshare");
    command.args(way).args(["mount", "-t", "tmpfs", "tmpfs"]).arg(directory.path());
    match command.output() {
        Err(error) => Err(format!("`unshare` cannot be started: {error}")),
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
    }
}

fn run_by(way: Way, test: &str) {
    let mut command = Command::new("unshare");
    command.args(way).arg(env::current_exe().expect("the running program has a path"));
    command.args(["--exact", test, "--nocapture"]).env(MAY_MOUNT, "1");
    let output = command.output().expect("`may_mount` has tried it");
    let (said, complained) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    // Without the result line of the inner test, because the outer test prints its own.
    said.lines()
        .filter(|line| !line.starts_with("test result: "))
        .for_each(|line| println!("{line}"));
    assert!(output.status.success(), "{complained}");
    assert!(said.contains("1 passed"), "`{test}` is not run");
}
