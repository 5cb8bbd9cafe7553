//! Builds the components of the tests and compiles them to machine code, as the host does its own.

use std::env;
use std::path::{Path, PathBuf};

fn main() {
    if let Err(error) = compile() {
        println!("cargo::error={error}");
        std::process::exit(1);
    }
}

fn compile() -> Result<(), Box<dyn std::error::Error>> {
    let here = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let workspace = here.parent().unwrap_or(Path::new("/"));
    for source in ["tests/guests", "wit", "Cargo.lock", "Cargo.toml"] {
        println!("cargo::rerun-if-changed={}", workspace.join(source).display());
    }
    for (package, name) in [("agent-memory-guests", "guests"), ("agent-memory-toy", "toy")] {
        let component = agent_memory_image::build(workspace, package)?;
        let compiled = agent_memory_image::precompile(&component, &env::var("TARGET")?)?;
        compiled.write(Path::new(&env::var("OUT_DIR")?), name)?;
    }
    Ok(())
}
