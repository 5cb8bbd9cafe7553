//! For build scripts: builds a package as a component, and compiles a component to machine code.

use crate::config::engine_config_of;
use crate::engine_config;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;
use wasmtime::component::{Component, Linker};
use wasmtime::{Engine, Store};

/// The triple that components are compiled for.
const TARGET: &str = "wasm32-wasip2";

/// Why building or compiling failed. The message is for the person who builds.
#[derive(Debug)]
pub struct CompileError(String);

impl fmt::Display for CompileError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for CompileError {}

/// Builds a library package of the workspace as a component and returns the file's path,
/// `target/component/wasm32-wasip2/component/<package>.wasm`.
///
/// It runs cargo in a separate target directory, because the outer cargo holds the lock of the usual
/// one. Compiler wrappers and flags of the outer build, such as clippy's, are not inherited.
///
/// # Errors
///
/// If the build fails. If the target is not installed, the message is the command that installs it.
pub fn build(workspace: &Path, package: &str) -> Result<PathBuf, CompileError> {
    require_target(workspace)?;
    let target = workspace.join("target").join("component");
    let mut cargo = Command::new(environment_or("CARGO", "cargo"));
    cargo
        .current_dir(workspace)
        .args(["rustc", "--package", package, "--lib"])
        .args(["--crate-type", "cdylib"])
        .args(["--target", TARGET, "--profile", "component"])
        .env("CARGO_TARGET_DIR", &target)
        .env("CARGO_BUILD_BUILD_DIR", &target);
    for name in INHERITED {
        cargo.env_remove(name);
    }
    let status =
        cargo.status().map_err(|error| CompileError(format!("cannot run cargo: {error}")))?;
    if !status.success() {
        return Err(CompileError(format!(
            "building `{package}` as a component failed; its messages are above"
        )));
    }
    let file = format!("{}.wasm", package.replace('-', "_"));
    Ok(target.join(TARGET).join("component").join(file))
}

/// Variables of the outer cargo and its wrappers that must not affect the build of the component. The
/// flags of the component are in `.cargo/config.toml`.
const INHERITED: [&str; 4] =
    ["RUSTC_WORKSPACE_WRAPPER", "RUSTC_WRAPPER", "RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS"];

fn require_target(workspace: &Path) -> Result<(), CompileError> {
    let output = Command::new(environment_or("RUSTC", "rustc"))
        .current_dir(workspace)
        .args(["--print", "target-libdir", "--target", TARGET])
        .output()
        .map_err(|error| CompileError(format!("cannot run rustc: {error}")))?;
    let libraries = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
    if output.status.success() && libraries.is_dir() {
        Ok(())
    } else {
        Err(CompileError(format!("rustup target add {TARGET}")))
    }
}

fn environment_or(name: &str, default: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| default.to_owned())
}

/// The processor features of x86-64-v2, which every x86-64 processor since 2009 has. Without them,
/// the vector instruction that shuffles bytes would be a call into the host.
const X86_64_V2: [&str; 5] = ["has_sse3", "has_ssse3", "has_sse41", "has_sse42", "has_popcnt"];

/// A compiled component and its description.
#[derive(Debug)]
pub struct Compiled {
    /// Machine code for every processor of the target, on x86-64 from v2 on. It does not depend on
    /// the processor of the building machine.
    pub code: Vec<u8>,
    /// The answer of the component's `describe`, as JSON.
    pub description: String,
}

impl Compiled {
    /// Writes code and description as `NAME.cwasm` and `NAME.json` into a directory, such as the output
    /// directory of a build script.
    ///
    /// # Errors
    ///
    /// If a file cannot be written.
    pub fn write(&self, directory: &Path, name: &str) -> std::io::Result<()> {
        std::fs::write(directory.join(format!("{name}.cwasm")), &self.code)?;
        std::fs::write(directory.join(format!("{name}.json")), &self.description)
    }
}

/// Compiles a component for a target triple and calls its `describe`.
///
/// # Errors
///
/// If the file cannot be read, is no component of the world `memory`, or the compiler does not
/// support the target.
pub fn precompile(component: &Path, triple: &str) -> Result<Compiled, CompileError> {
    let explain = |what: &dyn fmt::Display| {
        CompileError(format!("cannot compile `{}`: {what}", component.display()))
    };
    let wasm = std::fs::read(component).map_err(|error| explain(&error))?;
    let mut config = engine_config_of(triple.contains("windows"));
    config.target(triple).map_err(|error| explain(&error))?;
    for flag in X86_64_V2.into_iter().filter(|_| triple.starts_with("x86_64")) {
        // SAFETY: before a host loads the code, it checks that its processor has all of these features.
        unsafe { config.cranelift_flag_enable(flag) };
    }
    let explain_wasm = |error: wasmtime::Error| explain(&format!("{error:#}"));
    let engine = Engine::new(&config).map_err(explain_wasm)?;
    let code = engine.precompile_component(&wasm).map_err(explain_wasm)?;
    // SAFETY: the code comes from this engine's own compiler.
    let loaded = unsafe { Component::deserialize(&engine, &code) };
    let described = match loaded {
        Ok(component) => describe(&engine, &component),
        // The code is for another kind of machine. To call `describe`, compile the component for this
        // machine, too.
        Err(_) => Engine::new(&engine_config())
            .and_then(|engine| describe(&engine, &Component::new(&engine, &wasm)?)),
    };
    let description = described.map_err(explain_wasm)?;
    Ok(Compiled { code, description })
}

/// Calls the component's `describe`. Every import traps, because `describe` needs none.
fn describe(engine: &Engine, component: &Component) -> wasmtime::Result<String> {
    let mut linker = Linker::<()>::new(engine);
    linker.define_unknown_imports_as_traps(component)?;
    let mut store = Store::new(engine, ());
    store.set_epoch_deadline(1);
    let instance = linker.instantiate(&mut store, component)?;
    let toolbox = instance.get_export_index(&mut store, None, TOOLBOX);
    let describe = instance.get_export_index(&mut store, toolbox.as_ref(), "describe");
    let describe = describe.ok_or_else(|| wasmtime::Error::msg("it does not describe itself"))?;
    let describe = instance.get_typed_func::<(), (String,)>(&mut store, describe)?;
    Ok(describe.call(&mut store, ())?.0)
}

const TOOLBOX: &str = "agent-memory:toolbox/toolbox@0.2.0";
