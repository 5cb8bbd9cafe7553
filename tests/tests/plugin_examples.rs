//! The examples of `docs/plugin.md`: hosts that start a session with the plugin.

use std::env;
use std::path::Path;
use std::process::{Command, Output};

use agent_memory_conformance::case::Documents;
use agent_memory_conformance::workspace::{repository_root, source};
use agent_memory_tests::product::{plugin, python};
use agent_memory_tests::runners;
use agent_memory_tests::scratch::Scratch;
use agent_memory_tests::skip::not_asked_for;

const ASKED: &str = "AGENT_MEMORY_RUST_EXAMPLE";

/// The code in a language below a heading of the page, with the path of a project instead of its own.
fn example(heading: &str, language: &str, its_project: &str, project: &Path) -> String {
    let page = source("docs/plugin.md");
    let (_, rest) = page.split_once(&format!("\n### {heading}\n")).expect("the heading");
    let (_, rest) = rest.split_once(&format!("```{language}\n")).expect("the code");
    let (code, _) = rest.split_once("\n```").expect("the end of the code");
    assert_eq!(code.matches(its_project).count(), 1, "{code}");
    code.replace(its_project, project.to_str().expect("UTF-8"))
}

/// Checks the answer of `start_session`, and that its documents are there.
fn check(output: &Output, scratch: &Scratch) {
    assert!(output.status.success(), "{output:?}");
    let answer = String::from_utf8_lossy(&output.stdout).replace('\\', "");
    assert!(answer.contains(r#""created":true"#), "{answer}");
    let documents = scratch.documents();
    assert!(documents.contains_key("aristotle/_schema.md"), "{:?}", documents.keys());
}

#[test]
fn the_example_for_the_command_line_of_wasmtime_runs() {
    if runners::plugin::left_out() {
        return;
    }
    let python = python().expect("it is built");
    let scratch = Scratch::new(&Documents::new());
    let code = example("The command line of wasmtime", "sh", "~/project", &scratch.repo());
    let mut path = python.parent().expect("a directory").as_os_str().to_owned();
    path.push(":");
    path.push(env::var_os("PATH").unwrap_or_default());
    let mut shell = Command::new("sh");
    shell.args(["-c", &code]).env("PATH", path).current_dir(repository_root());
    check(&shell.output().expect("it runs"), &scratch);
}

#[test]
fn the_example_in_python_runs() {
    if runners::plugin::left_out() {
        return;
    }
    let python = python().expect("it is built");
    let scratch = Scratch::new(&Documents::new());
    let code = example("Python", "python", "/home/me/project", &scratch.repo());
    let mut python = Command::new(python);
    python.args(["-c", &code]).current_dir(repository_root());
    check(&python.output().expect("it runs"), &scratch);
}

/// The example compiles wasmtime with other features, which takes minutes.
#[test]
fn the_example_in_rust_runs() {
    if env::var_os(ASKED).is_none_or(|asked| asked != "1") {
        return not_asked_for(&format!("{ASKED}=1"));
    }
    if runners::plugin::left_out() {
        return;
    }
    let plugin = plugin().expect("it is built");
    let scratch = Scratch::new(&Documents::new());
    let root = repository_root();
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["run", "--locked", "--quiet", "--manifest-path"]);
    cargo.arg(root.join("host-wasi/embedder/Cargo.toml")).arg("--").arg(plugin).arg(scratch.repo());
    cargo.env("CARGO_TARGET_DIR", root.join("target/embedder"));
    check(&cargo.output().expect("it runs"), &scratch);
}
