//! Compiles the component to machine code, to be embedded with its description.

use std::env;
use std::path::{Path, PathBuf};

/// The environment variable with the path of a finished component.
const GIVEN: &str = "AGENT_MEMORY_COMPONENT";

fn main() {
    println!("cargo::rerun-if-env-changed={GIVEN}");
    if let Err(error) = compile() {
        println!("cargo::error={error}");
        std::process::exit(1);
    }
}

fn compile() -> Result<(), Box<dyn std::error::Error>> {
    let component = component()?;
    let compiled = agent_memory_image::precompile(&component, &env::var("TARGET")?)?;
    compiled.write(Path::new(&env::var("OUT_DIR")?), "memory")?;
    Ok(())
}

/// The path of the component: from the environment, from the package, or built in the workspace.
fn component() -> Result<PathBuf, Box<dyn std::error::Error>> {
    let here = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let packaged = here.join("component.wasm");
    if let Some(given) = env::var_os(GIVEN).filter(|given| !given.is_empty()) {
        let given = PathBuf::from(given);
        println!("cargo::rerun-if-changed={}", given.display());
        return Ok(given);
    }
    if packaged.is_file() {
        println!("cargo::rerun-if-changed={}", packaged.display());
        return Ok(packaged);
    }
    let workspace = here.parent().ok_or("the package is not in its workspace")?;
    for source in ["core-component", "storage/api", "wit", "Cargo.lock", "Cargo.toml"] {
        println!("cargo::rerun-if-changed={}", workspace.join(source).display());
    }
    Ok(agent_memory_image::build(Path::new(workspace), "agent-memory-core")?)
}
