//! `agent-memory validate`: its output, its exit status, and its use as a Git hook.

mod process;
#[path = "../../tests/src/skip.rs"]
mod skip;

use process::{Repository, agent_memory};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const LOG: &str = ".github/agent-memory/aristotle/logs/2025-01-20.md";
const STRAY: &str = ".github/agent-memory/aristotle/logs/notes.txt";

/// A repository in which a session was started.
fn started() -> Repository {
    let repository = Repository::new();
    let arguments = repository.arguments(json!({"date": "2025-01-20"})).to_string();
    let mut call = agent_memory(&repository.root());
    let call = call.args(["call", "start_session", &arguments]);
    assert!(call.output().expect("it runs").status.success());
    repository
}

/// Adds a section that the log already has. Returns the number of the added line.
fn break_log(repository: &Repository) -> usize {
    let log = repository.root().join(LOG);
    let text = fs::read_to_string(&log).expect("the log");
    fs::write(&log, format!("{text}## Context\n")).expect("the log");
    text.lines().count() + 1
}

/// Adds a file that does not belong to the toolset.
fn add_stray(repository: &Repository) {
    fs::write(repository.root().join(STRAY), "").expect("a file");
}

fn validate(directory: &Path, arguments: &[&str]) -> Output {
    let mut validate = agent_memory(directory);
    validate.arg("validate").args(arguments).output().expect("it runs")
}

fn stdout(output: &Output) -> &str {
    str::from_utf8(&output.stdout).expect("UTF-8")
}

fn stderr(output: &Output) -> &str {
    str::from_utf8(&output.stderr).expect("UTF-8")
}

#[test]
fn without_findings_only_the_summary_is_printed_and_it_exits_with_0() {
    let repository = started();
    let output = validate(&repository.root(), &["--strict"]);
    assert_eq!(stdout(&output), "");
    assert_eq!(stderr(&output), "3 documents, 0 errors, 0 warnings\n");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn a_repository_without_memory_has_nothing_to_check() {
    let repository = Repository::new();
    let output = validate(&repository.root(), &["--strict"]);
    assert_eq!(stdout(&output), "");
    assert!(stderr(&output).starts_with("nothing to check"), "{output:?}");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn an_error_is_printed_in_the_form_of_compilers_and_exits_with_1() {
    let repository = started();
    let line = break_log(&repository);
    let output = validate(&repository.root(), &[]);
    let place = format!("{LOG}:{line}: error: ");
    assert!(stdout(&output).starts_with(&place), "{output:?}");
    assert_eq!(stdout(&output).lines().count(), 1, "{output:?}");
    assert_eq!(stderr(&output), "3 documents, 1 error, 0 warnings\n");
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn a_warning_exits_with_1_only_with_strict() {
    let repository = started();
    add_stray(&repository);
    for (flags, status) in [(&[][..], 0), (&["--strict"], 1)] {
        let output = validate(&repository.root(), flags);
        assert!(stdout(&output).starts_with(&format!("{STRAY}:1: warning: ")), "{output:?}");
        assert_eq!(stderr(&output), "4 documents, 0 errors, 1 warning\n");
        assert_eq!(output.status.code(), Some(status), "{flags:?}");
    }
}

#[test]
fn a_finding_has_the_path_from_the_working_directory_to_the_file() {
    let repository = started();
    break_log(&repository);
    let root = repository.root();
    let below = root.join("src/deep");
    fs::create_dir_all(&below).expect("a directory");
    let above = root.parent().expect("a parent");
    let name = root.file_name().and_then(|name| name.to_str()).expect("a name");
    let elsewhere = Repository::new();
    let memory = root.join(".github/agent-memory");
    let cases: [(&Path, Option<&str>, PathBuf); 5] = [
        (&below, None, PathBuf::from("../..")),
        (&root, Some("src"), PathBuf::new()),
        (above, Some(name), PathBuf::from(name)),
        (&elsewhere.root(), root.to_str(), root.clone()),
        (&root, memory.to_str(), PathBuf::new()),
    ];
    for (working, argument, way) in cases {
        let output = validate(working, argument.as_slice());
        let file = way.join(LOG);
        let expected = format!("{}:", file.display());
        assert!(stdout(&output).starts_with(&expected), "{working:?} {argument:?}: {output:?}");
        assert!(working.join(file).exists(), "{working:?} {argument:?}");
        assert_eq!(output.status.code(), Some(1));
    }
}

#[test]
fn the_findings_of_several_pages_are_each_reported_once_and_in_order() {
    let repository = started();
    let logs = repository.root().join(LOG).with_file_name("");
    let names: Vec<String> = (0..450).map(|number| format!("note-{number:03}.txt")).collect();
    for name in &names {
        fs::write(logs.join(name), "").expect("a file");
    }
    let output = validate(&repository.root(), &[]);
    let reported: Vec<&str> = stdout(&output)
        .lines()
        .map(|line| {
            line.split(':').next().and_then(|file| file.rsplit('/').next()).expect("a file")
        })
        .collect();
    assert_eq!(reported, names);
    assert_eq!(stderr(&output), "453 documents, 0 errors, 450 warnings\n");

    let arguments = json!({"repo_root": repository.path()}).to_string();
    let mut call = agent_memory(&repository.root());
    let page = call.args(["call", "validate", &arguments]).output().expect("it runs");
    let page: Value = serde_json::from_slice(&page.stdout).expect("JSON");
    assert!(page["cursor"].is_string(), "one page is enough: make more documents");
}

#[test]
fn json_output_is_one_document_with_paths_from_the_top_level() {
    let repository = started();
    let line = break_log(&repository);
    add_stray(&repository);
    let below = repository.root().join("src");
    fs::create_dir(&below).expect("a directory");
    let output = validate(&below, &["--format", "json"]);
    let mut document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    for finding in document["findings"].as_array_mut().expect("findings") {
        let message = finding["message"].take();
        assert!(message.as_str().is_some_and(|message| !message.is_empty()));
    }
    let expected = json!({
        "repository": repository.path(),
        "documents": 4,
        "errors": 1,
        "warnings": 1,
        "findings": [
            {"file": LOG, "line": line, "severity": "error", "message": null},
            {"file": STRAY, "line": 1, "severity": "warning", "message": null},
        ],
    });
    assert_eq!(document, expected);
    assert_eq!(stderr(&output), "");
    assert_eq!(output.status.code(), Some(1));
}

/// All files below a directory with their contents, and all directories without contents.
fn contents(directory: &Path) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(contents(&path));
            found.insert(path, None);
        } else {
            let bytes = fs::read(&path).expect("a file");
            found.insert(path, Some(bytes));
        }
    }
    found
}

#[test]
fn validate_writes_nothing() {
    let repository = started();
    let copy = Repository::new();
    break_log(&repository);
    // Like a fresh checkout, which has no lock files.
    for (path, bytes) in contents(&repository.root().join(".github")) {
        let path = path.strip_prefix(repository.root()).expect("below the root");
        let path = copy.root().join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        if let Some(bytes) = bytes {
            fs::write(path, bytes).expect("a file");
        }
    }
    let before = contents(&copy.root());
    assert_eq!(validate(&copy.root(), &[]).status.code(), Some(1));
    assert!(before == contents(&copy.root()), "{:?}", contents(&copy.root()).keys());
}

#[test]
fn a_path_that_is_not_a_repository_exits_with_2_and_is_named() {
    let repository = started();
    let file = repository.root().join(LOG);
    let damaged = Repository::new();
    fs::remove_file(damaged.root().join(".git/HEAD")).expect("a HEAD");
    let arguments = ["/no/such/directory", file.to_str().expect("UTF-8"), &damaged.path()];
    for argument in arguments {
        let output = validate(&repository.root(), &[argument]);
        assert_eq!(output.status.code(), Some(2), "{argument}: {output:?}");
        assert!(stderr(&output).contains(&format!("`{argument}`")), "{output:?}");
        assert_eq!(stdout(&output), "");
    }
}

#[test]
fn the_home_directory_is_checked_only_when_it_is_named() {
    let home = started();
    break_log(&home);
    let in_home = |arguments: &[&str]| {
        let mut validate = agent_memory(&home.root());
        validate.env("HOME", home.root()).arg("validate").args(arguments);
        validate.output().expect("it runs").status.code()
    };
    assert_eq!(in_home(&[]), Some(2));
    assert_eq!(in_home(&["."]), Some(1));
}

#[test]
fn a_directory_without_git_is_checked_when_it_is_named() {
    let repository = started();
    break_log(&repository);
    fs::remove_dir_all(repository.root().join(".git")).expect("a .git");
    // This needs a temporary directory outside of any repository.
    assert_eq!(validate(&repository.root(), &[]).status.code(), Some(2));
    assert_eq!(validate(&repository.root(), &["."]).status.code(), Some(1));
}

#[cfg(unix)]
#[test]
fn storage_that_fails_exits_with_3() {
    let repository = Repository::new();
    let elsewhere = started();
    let memory = repository.root().join(".github/agent-memory");
    fs::create_dir(repository.root().join(".github")).expect("a directory");
    let target = elsewhere.root().join(".github/agent-memory");
    std::os::unix::fs::symlink(target, memory).expect("a link");
    let output = validate(&repository.root(), &[]);
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    assert!(stderr(&output).contains("not a directory"), "{output:?}");
}

/// The rest of the example in `docs/hooks-and-ci.md` whose first line is `first`.
fn example(first: &str) -> String {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/hooks-and-ci.md");
    let page = fs::read_to_string(page).expect("the page");
    let (_, rest) = page.split_once(&format!("\n{first}\n")).expect("the example");
    rest.split("\n```").next().expect("its end").to_owned()
}

/// A command with the built program on its `PATH`, without the user's Git configuration.
fn with_path(program: &str, directory: &Path) -> Command {
    let binary = Path::new(env!("CARGO_BIN_EXE_agent-memory"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let first = binary.parent().expect("a directory").to_owned();
    let path = [first].into_iter().chain(std::env::split_paths(&path));
    let mut command = Command::new(program);
    command.current_dir(directory).env("PATH", std::env::join_paths(path).expect("paths"));
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    for variable in ["GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE"] {
        command.env_remove(variable);
    }
    command
}

#[cfg(unix)]
#[test]
fn the_hook_of_the_readme_stops_a_commit_that_breaks_a_log() {
    let hook = example("#!/bin/sh");
    let directory = tempfile::tempdir().expect("a temporary directory");
    let root = directory.path().canonicalize().expect("it is there");
    let git = |arguments: &[&str]| {
        let mut git = with_path("git", &root);
        git.args(["-c", "user.name=a", "-c", "user.email=a@example.com"]).args(arguments);
        git.output()
    };
    if git(&["init", "-q", "."]).is_err() {
        return skip::skip("there is no git");
    }
    let file = root.join(".git/hooks/pre-commit");
    fs::write(&file, format!("#!/bin/sh\n{hook}\n")).expect("the hook");
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&file, executable).expect("the hook");
    let commit = || {
        assert!(git(&["add", "-A"]).expect("git").status.success());
        git(&["commit", "-q", "-m", "x"]).expect("git")
    };

    let arguments = json!({"agent_name": "aristotle", "repo_root": root, "date": "2025-01-20"});
    let mut call = agent_memory(&root);
    let call = call.args(["call", "start_session", &arguments.to_string()]).output();
    assert!(call.expect("it runs").status.success());
    let sound = commit();
    assert!(sound.status.success(), "{sound:?}");

    let log = root.join(LOG);
    let text = fs::read_to_string(&log).expect("the log");
    fs::write(&log, format!("{text}## Context\n")).expect("the log");
    let broken = commit();
    assert!(!broken.status.success(), "{broken:?}");
    assert!(stdout(&broken).contains(LOG) || stderr(&broken).contains(LOG), "{broken:?}");
}

#[cfg(unix)]
#[test]
fn the_entries_for_pre_commit_run_the_check() {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../.pre-commit-hooks.yaml");
    let manifest = fs::read_to_string(manifest).expect("the manifest");
    let entry = |text: &str| {
        let line = text.lines().find_map(|line| line.trim().strip_prefix("entry: "));
        line.expect("an entry").to_owned()
    };
    let entries = [entry(&manifest), entry(&example("repos:"))];
    let repository = started();
    let run = |entry: &str| {
        let mut shell = with_path("sh", &repository.root());
        shell.args(["-c", entry]).output().expect("it runs").status.code()
    };
    for entry in &entries {
        assert_eq!(run(entry), Some(0), "{entry}");
    }
    break_log(&repository);
    for entry in &entries {
        assert_eq!(run(entry), Some(1), "{entry}");
    }
}
