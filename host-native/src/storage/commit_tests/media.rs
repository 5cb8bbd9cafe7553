//! Errors of the medium. Each part of a test runs in a process with its own mounts or user.

use super::*;
use std::process::Command;

const VARIABLE: &str = "AGENT_MEMORY_TEST_REPOSITORY";

/// Runs a shell script with its own mounts. In the script, `$PART` runs the ignored test `part`.
fn run(part: &str, repository: &Path, script: &str) {
    let possible = Command::new("unshare").args(["--mount", "true"]).output();
    if !possible.is_ok_and(|output| output.status.success()) {
        let why = "only who may mount (root, with `unshare`) can make such a medium";
        return crate::skip::skip(why);
    }
    let test = std::env::current_exe().unwrap();
    let name = module_path!().split_once("::").unwrap().1;
    let part = format!("{} --ignored --exact {name}::{part}", test.display());
    let output = Command::new("unshare")
        .args(["--mount", "sh", "-ec", script])
        .env("PART", part)
        .env(VARIABLE, repository)
        .current_dir(repository)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("1 passed"), "{text}\n{errors}");
}

fn medium() -> PathBuf {
    std::env::var_os(VARIABLE).expect("run by another test").into()
}

#[test]
fn a_commit_to_a_full_medium_fails_with_no_space_and_changes_nothing() {
    let mount = "mount -t tmpfs -o size=256k none . && cd . && $PART";
    run("on_a_small_medium", tempfile::tempdir().unwrap().path(), mount);
}

#[test]
#[ignore = "run by another test, on a small medium"]
fn on_a_small_medium() {
    let tree = open(&medium());
    let writer = writer(&tree);
    writer.commit(&[put("a.md", "old", None)]).unwrap();
    let before = snapshot(&medium());
    let large = "x".repeat(1024 * 1024);
    let failed =
        writer.commit(&[put("a.md", "new", Some("old")), put("b/c.md", &large, None)]).unwrap_err();
    assert_eq!((failed.error.code, failed.change), (ErrorCode::NoSpace, Some(1)));
    assert_eq!(failed.error.detail.as_deref(), Some("ENOSPC"));
    assert_eq!((failed.applied, snapshot(&medium())), (0, before));
    writer.commit(&[put("a.md", "new", Some("old"))]).unwrap();
}

#[test]
fn a_read_only_medium_can_be_read_and_refuses_the_lock() {
    let mount = "mount --bind . . && mount -o remount,ro,bind . && cd \"$PWD\" && $PART";
    for locked_before in [false, true] {
        let repository = Repository::new();
        repository.write("a.md", "text");
        if locked_before {
            drop(writer(&repository.tree));
        }
        run("on_a_read_only_medium", repository.directory.path(), mount);
    }
}

#[test]
#[ignore = "run by another test, on a medium that can only be read"]
fn on_a_read_only_medium() {
    let tree = open(&medium());
    let document = tree.read(Area::Documents, "a.md", 10).unwrap().unwrap();
    assert_eq!(document.contents, b"text");
    assert_eq!(acquire(&tree).unwrap_err().code, ErrorCode::ReadOnly);
}

#[test]
fn without_permission_to_write_the_lock_is_read_only_and_a_document_is_denied() {
    let repository = Repository::new();
    repository.write("a.md", "text");
    drop(writer(&repository.tree));
    let open_lock = "chmod -R a+rwX . && chmod -R go-w .github";
    let script = format!("{open_lock} && setpriv --reuid 65534 --clear-groups $PART");
    run("as_someone_else", repository.directory.path(), &script);
    let script = "chmod -R go-w . && setpriv --reuid 65534 --clear-groups $PART";
    run("as_someone_who_may_only_read", repository.directory.path(), script);
}

#[test]
#[ignore = "run by another test, as another user"]
fn as_someone_else() {
    let before = snapshot(&medium());
    let failed = writer(&open(&medium())).commit(&[put("a.md", "new", Some("text"))]).unwrap_err();
    assert_eq!((failed.error.code, failed.change), (ErrorCode::Permission, Some(0)));
    assert_eq!((failed.applied, snapshot(&medium())), (0, before));
}

#[test]
#[ignore = "run by another test, as another user"]
fn as_someone_who_may_only_read() {
    let tree = open(&medium());
    assert!(tree.read(Area::Documents, "a.md", 10).unwrap().is_some());
    let refused = acquire(&tree).unwrap_err();
    assert_eq!(refused.code, ErrorCode::ReadOnly);
    assert!(refused.message.contains("/.github/agent-memory`"), "{refused}");
}

#[test]
fn an_unreadable_git_directory_is_not_reported_as_broken() {
    for (make, shut) in [
        ("mv away/git .git", ".git"),
        ("echo gitdir: away/git > .git", ".git"),
        ("echo gitdir: away/git > .git", "away"),
    ] {
        let repository = tempfile::tempdir().unwrap();
        let script = format!(
            "mkdir -p away/git && echo ref: refs/heads/main > away/git/HEAD && {make} && \
             chmod a+rx . && chmod 700 {shut} && \
             setpriv --reuid 65534 --clear-groups $PART"
        );
        run("with_a_git_directory_that_is_shut", repository.path(), &script);
    }
}

#[test]
#[ignore = "run by another test, as another user"]
fn with_a_git_directory_that_is_shut() {
    let storage = Storage::new(StorageOptions::default());
    storage.grant(&medium()).unwrap();
    let place = Place::repository(medium().to_str().unwrap());
    let refused = storage.open(&place, &[]).unwrap_err();
    assert_eq!(refused.code, ErrorCode::Permission, "{refused}");
    // In Node, `repository.test.ts` expects the same words.
    let shown = medium().display().to_string();
    let refuses = "the operating system refuses: check the permissions";
    assert_eq!(refused.message, format!("cannot read the `.git` of `{shown}`: {refuses}"));
}

#[test]
fn a_failed_rename_tells_how_many_changes_were_made() {
    let repository = Repository::new();
    for path in ["a.md", "b.md", "c.md"] {
        repository.write(path, "old");
    }
    // A file that something is mounted on cannot be replaced.
    let mount = "cd .github/agent-memory && mount --bind b.md b.md && $PART";
    run("with_one_that_cannot_be_replaced", repository.directory.path(), mount);
}

#[test]
#[ignore = "run by another test, with a document that cannot be replaced"]
fn with_one_that_cannot_be_replaced() {
    let tree = open(&medium());
    let changes = ["a.md", "b.md", "c.md"].map(|path| put(path, "new", Some("old")));
    let failed = writer(&tree).commit(&changes).unwrap_err();
    assert_eq!((failed.change, failed.applied), (Some(1), 1));
    assert_eq!(failed.error.detail.as_deref(), Some("EBUSY"));
    let documents = snapshot(&medium().join(".github"));
    let texts: Vec<_> = documents.values().flatten().collect();
    assert_eq!(texts, ["new", "old", "old"]);
}
