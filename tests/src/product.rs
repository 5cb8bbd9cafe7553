//! Where the parts of the product are that the tests run.

use std::env;
use std::path::PathBuf;

use agent_memory_conformance::workspace::{profile_directory, repository_root};

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
