//! The compared programs.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, io};

/// The top level of the repository.
pub fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crate is below the root")
}

/// The path of a program that is built into the same directory as this one.
///
/// # Errors
///
/// If it is missing; the message says how to build it.
pub fn built(name: &str) -> io::Result<PathBuf> {
    let path = env::current_exe()?.with_file_name(name);
    if path.is_file() {
        return Ok(path);
    }
    Err(io::Error::other(format!(
        "`{}` is missing: build it with `cargo build --release --workspace --bins`",
        path.display()
    )))
}

pub const NODE: &str = "from Node";
pub const PYTHON: &str = "from Python";
pub const PLUGIN: &str = "the plugin, in Python";

/// The programs of the packages and of the plugin, or the reasons why they do not take part.
pub fn packages() -> [(&'static str, Result<Command, String>); 3] {
    [(NODE, node()), (PYTHON, python()), (PLUGIN, plugin())]
}

/// # Errors
///
/// The reason why the package does not take part.
pub fn node() -> Result<Command, String> {
    let host = repository().join("host-node");
    let node = host.join("node_modules/.bin/node");
    let program = host.join("dist/timed-calls.js");
    if !node.exists() || !program.is_file() {
        return Err("host-node is not built: run `npm ci && npm run build` there".to_owned());
    }
    let mut command = Command::new(node);
    command.arg(program);
    Ok(command)
}

/// # Errors
///
/// The reason why the package does not take part.
pub fn python() -> Result<Command, String> {
    let python = repository().join("target/python/installed/bin/python");
    if !python.exists() {
        return Err("the Python package is not built: run `scripts/wheel`".to_owned());
    }
    let mut command = Command::new(python);
    command.arg("-B").arg(repository().join("host-python/programs/timed_calls.py"));
    Ok(command)
}

fn plugin() -> Result<Command, String> {
    let plugin = repository().join("target/plugin/agent-memory-plugin.wasm");
    let mut command = python()?;
    if !plugin.is_file() {
        return Err("the plugin is not built: run `scripts/plugin`".to_owned());
    }
    command.arg(plugin);
    Ok(command)
}
