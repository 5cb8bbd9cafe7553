//! Builds the hostile component and compiles it to machine code, as the host does its own.

use std::path::{Path, PathBuf};
use std::{env, fs};

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
    let component = agent_memory_image::build(workspace, "agent-memory-guests")?;
    let image = agent_memory_image::precompile(&component, &env::var("TARGET")?)?;
    fs::write(PathBuf::from(env::var("OUT_DIR")?).join("guests.cwasm"), image)?;
    Ok(())
}
