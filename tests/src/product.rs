//! The paths of the built programs and components. A product that is older than its sources is refused,
//! because a test of it would test old code.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::SystemTime;
use std::{env, fs};

use agent_memory_conformance::workspace::{files, profile_directory, repository_root};

/// The component that a build of the host makes.
const COMPONENT: &str = "target/component/wasm32-wasip2/component/agent_memory_core.wasm";

/// The variable that names another component for the host.
const GIVEN: &str = "AGENT_MEMORY_COMPONENT";

/// A program of the native host, built beside the tests.
///
/// # Panics
///
/// If it is not built or older than its sources; the message says how to build it.
pub fn program(name: &str) -> PathBuf {
    let path = profile_directory().join(name);
    let mut sources = sources(&path);
    // Cargo's list for the host names the directory of the component's sources, not its files.
    sources.extend(component_sources());
    require_fresh(&path, &sources, "cargo build --release --workspace");
    path
}

/// The finished component, before it is compiled ahead of time.
///
/// # Panics
///
/// If it is not built or older than its sources; the message says how to build it.
pub fn component() -> PathBuf {
    let given = env::var_os(GIVEN).map(PathBuf::from);
    let path = given.unwrap_or_else(|| repository_root().join(COMPONENT));
    require_fresh(&path, &component_sources(), "cargo build --release");
    path
}

/// The Node of the Node host and one of its built programs; none if it is not built.
///
/// # Panics
///
/// If it is older than its sources; the message says how to build it.
pub fn node_program(name: &str) -> Option<(PathBuf, PathBuf)> {
    /// Checked once, since it is the same for all programs.
    static COMPLAINT: OnceLock<Option<String>> = OnceLock::new();
    let host = repository_root().join("host-node");
    let node = host.join("node_modules/.bin/node");
    let program = host.join("dist").join(name);
    if !node.exists() || !program.is_file() {
        return None;
    }
    let complaint = COMPLAINT.get_or_init(|| {
        let checked = Command::new(&node).arg(host.join("test/fresh.ts")).output();
        let checked = checked.expect("Node starts");
        let said = String::from_utf8_lossy(&checked.stderr).into_owned();
        (!checked.status.success()).then_some(said)
    });
    assert!(complaint.is_none(), "{}", complaint.as_deref().unwrap_or_default());
    Some((node, program))
}

/// The component of files of the Node host; none if it is not built.
///
/// # Panics
///
/// If it is older than its sources; the message says how to build it.
pub fn files_component() -> Option<PathBuf> {
    let built = "target/component/wasm32-wasip2/component/agent_memory_files_component.wasm";
    let path = repository_root().join(built);
    if !path.exists() {
        return None;
    }
    require_fresh(&path, &sources(&path), "scripts/component agent-memory-files-component");
    Some(path)
}

/// The Python of the virtual environment in which the package is installed; none if it is not built.
///
/// # Panics
///
/// If it is older than its sources; the message says how to build it.
pub fn python() -> Option<PathBuf> {
    let environment = repository_root().join("target/python/installed");
    let python = environment.join("bin/python");
    if !python.exists() {
        return None;
    }
    let mut sources = sources(&profile_directory().join("libagent_memory_python.so"));
    sources.extend(component_sources());
    let package = files("host-python/python").into_iter();
    sources.extend(package.map(|file| repository_root().join(file)));
    require_fresh(&environment.join("built"), &sources, "scripts/wheel");
    Some(python)
}

/// The plugin; none if it is not built.
///
/// # Panics
///
/// If it is older than its sources; the message says how to build it.
pub fn plugin() -> Option<PathBuf> {
    let plugin = repository_root().join("target/plugin/agent-memory-plugin.wasm");
    if !plugin.exists() {
        return None;
    }
    let built = "target/component/wasm32-wasip2/component/agent_memory_plugin.wasm";
    require_fresh(&plugin, &sources(&repository_root().join(built)), "scripts/plugin");
    Some(plugin)
}

/// The sources of the component; none if `AGENT_MEMORY_COMPONENT` names one that is built already.
fn component_sources() -> Vec<PathBuf> {
    match env::var_os(GIVEN) {
        Some(_) => Vec::new(),
        None => sources(&repository_root().join(COMPONENT)),
    }
}

/// The files that a product was built from, from the list that cargo writes beside it.
fn sources(product: &Path) -> Vec<PathBuf> {
    let list = fs::read_to_string(product.with_extension("d")).unwrap_or_default();
    let Some((_, sources)) = list.lines().next().and_then(|line| line.split_once(": ")) else {
        return Vec::new();
    };
    // A space within a path has a backslash before it.
    let sources = sources.replace("\\ ", "\0");
    let sources = sources.split(' ').map(|path| PathBuf::from(path.replace('\0', " ")));
    sources.filter(|path| !path.is_dir()).collect()
}

/// Panics if a product is missing or stale, with the command that builds it.
fn require_fresh(product: &Path, sources: &[PathBuf], command: &str) {
    let stale = stale(product, sources).map(|why| format!("{}: {why}", product.display()));
    assert!(stale.is_none(), "{}: run `{command}` first", stale.unwrap_or_default());
}

/// Why a product is stale; none if it is not. A missing source counts as changed.
fn stale(product: &Path, sources: &[PathBuf]) -> Option<String> {
    let modified = |path: &Path| -> Option<SystemTime> { path.metadata().ok()?.modified().ok() };
    let Some(built) = modified(product) else { return Some("not built".into()) };
    let is_newer = |source: &&PathBuf| modified(source).is_none_or(|changed| changed > built);
    let newer = sources.iter().find(is_newer)?;
    Some(format!("older than {}", newer.display()))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_product_is_stale_once_a_listed_source_has_changed_or_is_missing() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let below = directory.path();
        let product = below.join("program");
        let source = below.join("a source.rs");
        assert_eq!(stale(&product, &[]), Some("not built".into()));
        fs::write(&source, "").expect("a file");
        fs::write(&product, "").expect("a file");
        let escaped = source.display().to_string().replace(' ', "\\ ");
        let list = format!("{}: {} {escaped}\n", product.display(), below.display());
        fs::write(product.with_extension("d"), list).expect("a file");
        let sources = sources(&product);
        assert_eq!(sources, std::slice::from_ref(&source));
        assert_eq!(stale(&product, &sources), None);
        let later = SystemTime::now() + Duration::from_secs(60);
        let file = fs::File::options().write(true).open(&source).expect("a file");
        file.set_modified(later).expect("its time can be set");
        let why = format!("older than {}", source.display());
        assert_eq!(stale(&product, &sources).as_ref(), Some(&why));
        fs::remove_file(&source).expect("a file");
        assert_eq!(stale(&product, &sources), Some(why));
    }
}
