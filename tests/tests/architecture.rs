//! The invariants that ARCHITECTURE.md states about what knows what.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use agent_memory_tests::product::{component, repository_root, source};
use wasmparser::{Parser, Payload};

/// What Rust's standard library brings along on this target. None of it reaches anything: hosts
/// give it no arguments, no environment, and streams that lead nowhere.
const INERT: [&str; 13] = [
    "wasi:cli/environment",
    "wasi:cli/exit",
    "wasi:cli/stderr",
    "wasi:cli/stdin",
    "wasi:cli/stdout",
    "wasi:cli/terminal-input",
    "wasi:cli/terminal-output",
    "wasi:cli/terminal-stderr",
    "wasi:cli/terminal-stdin",
    "wasi:cli/terminal-stdout",
    "wasi:io/error",
    "wasi:io/poll",
    "wasi:io/streams",
];

const OURS: [&str; 3] = [
    "agent-memory:core/database",
    "agent-memory:core/documents",
    "agent-memory:core/storage-types",
];

/// The names of what the component imports and exports, without versions.
fn interfaces() -> (BTreeSet<String>, BTreeSet<String>) {
    let bytes = fs::read(component()).expect("the component is readable");
    let (mut imports, mut exports) = (BTreeSet::new(), BTreeSet::new());
    let unversioned = |name: &str| name.split('@').next().unwrap_or_default().to_owned();
    let mut depth = 0;
    for payload in Parser::new(0).parse_all(&bytes) {
        match payload.expect("the component is well formed") {
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => depth += 1,
            Payload::End(_) => depth -= 1,
            Payload::ComponentImportSection(section) if depth == 0 => {
                let names = section.into_iter().map(|import| import.expect("an import").name);
                imports.extend(names.map(|name| unversioned(name.name)));
            }
            Payload::ComponentExportSection(section) if depth == 0 => {
                let names = section.into_iter().map(|export| export.expect("an export").name);
                exports.extend(names.map(|name| unversioned(name.name)));
            }
            _ => {}
        }
    }
    (imports, exports)
}

#[test]
fn the_component_imports_storage_and_what_is_inert() {
    let allowed: BTreeSet<String> = OURS.iter().chain(&INERT).map(|&name| name.into()).collect();
    let (imports, _) = interfaces();
    let more: Vec<_> = imports.difference(&allowed).collect();
    assert!(more.is_empty(), "the component imports {more:?}");
    let documents = "agent-memory:core/documents".to_owned();
    assert!(imports.contains(&documents), "the list of imports is not found: {imports:?}");
}

#[test]
fn the_component_exports_the_toolbox_alone() {
    let (_, exports) = interfaces();
    assert_eq!(exports.into_iter().collect::<Vec<_>>(), ["agent-memory:core/toolbox"]);
}

/// The names in the dependency tables of a package.
fn dependencies(manifest: &str) -> BTreeSet<String> {
    let text = source(manifest);
    let mut names = BTreeSet::new();
    let mut in_table = false;
    for line in text.lines() {
        if line.starts_with('[') {
            in_table = line.ends_with("dependencies]");
        } else if in_table && line.contains('=') {
            let name = line.split(['=', '.', ' ']).next().unwrap_or_default();
            names.insert(name.to_owned());
        }
    }
    names
}

#[test]
fn the_core_depends_on_no_clock_file_database_or_protocol() {
    let allowed =
        ["jiff", "pulldown-cmark", "schemars", "serde", "serde_json", "sha2", "wit-bindgen"];
    let found = dependencies("core-component/Cargo.toml");
    let more: Vec<_> = found.iter().filter(|name| !allowed.contains(&name.as_str())).collect();
    assert!(more.is_empty(), "say in ARCHITECTURE.md why the core needs {more:?}, and add it here");
    assert!(found.contains("pulldown-cmark"), "the table of dependencies is not found");
}

/// The Rust sources below a directory, with their paths from the top level.
fn sources(directory: &str) -> Vec<(String, String)> {
    fn find(directory: &Path, files: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(directory).expect("a directory of sources") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                find(&path, files);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    let mut files = Vec::new();
    find(&repository_root().join(directory), &mut files);
    assert!(!files.is_empty(), "no sources in `{directory}`");
    let named = files.into_iter().map(|path| {
        let name = path.strip_prefix(repository_root()).expect("below the root");
        let name = name.to_str().expect("sources have ASCII names").to_owned();
        (name.clone(), source(&name))
    });
    named.collect()
}

/// The sources of some directories that hold one of the words.
fn holding(directories: &[&str], words: &[&str]) -> Vec<String> {
    let sources = directories.iter().flat_map(|directory| sources(directory));
    let holding = sources.filter(|(_, text)| words.iter().any(|word| text.contains(word)));
    holding.map(|(name, _)| name).collect()
}

#[test]
fn the_core_reads_no_clock_and_no_random_number_and_touches_no_file() {
    let found = holding(
        &["core-component/src"],
        &[
            "SystemTime",
            "Instant::",
            "Timestamp::now",
            "Zoned::now",
            "std::fs",
            "std::net",
            "std::env",
            "std::thread",
        ],
    );
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn the_core_keeps_nothing_in_an_order_that_varies() {
    let found = holding(&["core-component/src"], &["HashMap", "HashSet"]);
    assert!(found.is_empty(), "use a BTreeMap in {found:?}");
}

#[test]
fn one_file_of_the_core_knows_the_bindings() {
    let words = ["wit_bindgen", "bindings::"];
    assert_eq!(holding(&["core-component/src"], &words), ["core-component/src/component.rs"]);
}

#[test]
fn one_module_of_the_native_host_knows_mcp() {
    let found = holding(&["host-native/src", "core-component/src"], &["rmcp::", "use rmcp"]);
    assert!(found.iter().any(|name| name.starts_with("host-native/src/mcp/")), "{found:?}");
    let outside: Vec<_> =
        found.iter().filter(|name| !name.starts_with("host-native/src/mcp/")).collect();
    assert!(outside.is_empty(), "{outside:?}");
}

#[test]
fn no_host_knows_what_a_memory_means() {
    let words = ["_schema.md", "_summary.md", "Discussion Summary", "append_entry"];
    let found = holding(
        &[
            "host-native/src/storage",
            "host-native/src/capability",
            "host-native/src/engine",
            "host-native/src/mcp",
        ],
        &words,
    );
    assert!(found.is_empty(), "{found:?}");
}
