//! Where the parts of the product are that the tests run.

use std::path::{Path, PathBuf};
use std::{env, fs};

/// The top level of the repository.
pub fn repository_root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().expect("the crate is below the root").to_owned()
}

/// The directory of build outputs: where this test runs from.
pub fn target_directory() -> PathBuf {
    profile_directory().parent().expect("a profile is below the target directory").to_owned()
}

fn profile_directory() -> PathBuf {
    let test = env::current_exe().expect("the running program has a path");
    // <target>/<profile>/deps/<test>, or <target>/<profile>/<program>.
    let directory = test.parent().expect("a file is in a directory");
    if directory.ends_with("deps") {
        directory.join("..").canonicalize().expect("it exists")
    } else {
        directory.to_owned()
    }
}

/// A program of this workspace, built beside the tests.
///
/// # Panics
///
/// Where it is not built, saying how to build it.
pub fn program(name: &str) -> PathBuf {
    let path = profile_directory().join(name);
    assert!(
        path.is_file(),
        "{} is not built: run `cargo build --release --workspace` first",
        path.display()
    );
    path
}

/// The finished component, before it is compiled ahead of time.
///
/// # Panics
///
/// Where it is not built, saying how to build it.
pub fn component() -> PathBuf {
    let built = "target/component/wasm32-wasip2/component/agent_memory_core.wasm";
    let path = env::var_os("AGENT_MEMORY_COMPONENT")
        .map_or_else(|| repository_root().join(built), PathBuf::from);
    assert!(path.is_file(), "{} is not built: run `cargo build --release` first", path.display());
    path
}

/// The Node host's directory, its Node, and one of its built programs; none where it is not built.
pub fn node_program(name: &str) -> Option<(PathBuf, PathBuf)> {
    let host = repository_root().join("host-node");
    let node = host.join("node_modules/.bin/node");
    let program = host.join("dist").join(name);
    (node.exists() && program.is_file()).then_some((node, program))
}

/// The text of a file of the repository.
///
/// # Panics
///
/// Where it cannot be read.
pub fn source(path: &str) -> String {
    let path = repository_root().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The names in an enum of a source file, which begins with this text.
///
/// # Panics
///
/// Where the file has no such enum.
pub fn variants(file: &str, head: &str) -> Vec<String> {
    let text = source(file);
    let (_, rest) = text.split_once(head).expect("the enum is there");
    let (body, _) = rest.split_once('}').expect("an enum ends");
    let lines = body.lines().map(str::trim).filter_map(|line| line.strip_suffix(','));
    lines.map(str::to_owned).collect()
}
