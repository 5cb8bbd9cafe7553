//! The paths of the compared programs.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, io};

/// The top level of the repository.
pub fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crate is below the root")
}

/// A program that is built beside this one.
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

/// The Node program that makes the calls.
///
/// # Errors
///
/// The reason why it does not take part.
pub fn node() -> Result<Command, String> {
    let host = repository().join("host-node");
    let (node, program) = (host.join("node_modules/.bin/node"), host.join("dist/timed-calls.js"));
    if !node.exists() || !program.is_file() {
        return Err("host-node is not built: run `npm ci && npm run build` there".to_owned());
    }
    let mut command = Command::new(node);
    command.arg(program);
    Ok(command)
}
