//! The invariants about dependencies that ARCHITECTURE.md states.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use agent_memory_conformance::workspace::{files, repository_root, source, tool_error_codes};
use agent_memory_core::toolbox;
use agent_memory_tests::product::{component, files_component, plugin};
use agent_memory_tests::runners::plugin::left_out;
use serde_json::Value;
use wasmparser::{Parser, Payload};

/// The imports of Rust's standard library on this target. Hosts implement them without effect.
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
    "agent-memory:storage/database",
    "agent-memory:storage/documents",
    "agent-memory:storage/types",
];

/// The further interfaces that the plugin may import: files, clocks and random numbers.
const OF_THE_PLUGIN: [&str; 6] = [
    "wasi:clocks/monotonic-clock",
    "wasi:clocks/wall-clock",
    "wasi:filesystem/preopens",
    "wasi:filesystem/types",
    // The seed of the hash maps of Rust's standard library.
    "wasi:random/insecure-seed",
    "wasi:random/random",
];

/// The names of a component's imports and exports, without versions.
fn interfaces(component: &Path) -> (BTreeSet<String>, BTreeSet<String>) {
    let bytes = fs::read(component).expect("the component is readable");
    let mut imports = BTreeSet::new();
    let mut exports = BTreeSet::new();
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
fn the_component_imports_only_storage_and_inert_interfaces() {
    let allowed: BTreeSet<String> = OURS.iter().chain(&INERT).map(|&name| name.into()).collect();
    let (imports, _) = interfaces(&component());
    let more: Vec<_> = imports.difference(&allowed).collect();
    assert!(more.is_empty(), "the component imports {more:?}");
    let documents = "agent-memory:storage/documents".to_owned();
    assert!(imports.contains(&documents), "the list of imports is not found: {imports:?}");
}

#[test]
fn the_plugin_imports_only_files_clocks_and_random_numbers_of_wasi() {
    if left_out() {
        return;
    }
    let allowed: BTreeSet<String> =
        INERT.iter().chain(&OF_THE_PLUGIN).map(|&name| name.into()).collect();
    let (imports, exports) = interfaces(&plugin().expect("it is built"));
    let more: Vec<_> = imports.difference(&allowed).collect();
    assert!(more.is_empty(), "the plugin imports {more:?}");
    assert!(imports.contains("wasi:filesystem/types"), "the imports are not found: {imports:?}");
    assert!(exports.contains("agent-memory:plugin/memory"), "it exports {exports:?}");
}

#[test]
fn the_component_of_files_imports_a_file_system_and_no_wasi() {
    let Some(component) = files_component() else { return };
    let (imports, exports) = interfaces(&component);
    let ours = [
        "agent-memory:file-system/file-system",
        "agent-memory:places/lock",
        "agent-memory:places/registry-format",
        // Only the types of these interfaces are used.
        "agent-memory:storage/database",
        "agent-memory:storage/documents",
        "agent-memory:storage/types",
        // The seed of the hash maps of Rust's standard library.
        "wasi:random/insecure-seed",
    ];
    let allowed: BTreeSet<String> =
        INERT.iter().chain(&ours).map(|&name| name.to_owned()).collect();
    let more: Vec<_> = imports.difference(&allowed).collect();
    assert!(more.is_empty(), "the component of files imports {more:?}");
    assert!(imports.contains(ours[0]), "the imports are not found: {imports:?}");
    assert_eq!(exports.into_iter().collect::<Vec<_>>(), ["agent-memory:places/places"]);
}

#[test]
fn the_component_exports_only_the_toolbox() {
    let (_, exports) = interfaces(&component());
    assert_eq!(exports.into_iter().collect::<Vec<_>>(), ["agent-memory:toolbox/toolbox"]);
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
    let allowed = [
        "agent-memory-storage",
        "agent-memory-storage-memory",
        "any_ascii",
        "frostem",
        "jiff",
        "libm",
        "icu_casemap",
        "icu_normalizer",
        "pulldown-cmark",
        "saphyr-parser",
        "schemars",
        "serde",
        "serde_json",
        "sha2",
        "simdutf8",
        "unicode-segmentation",
        "wit-bindgen",
    ];
    let found = dependencies("core-component/Cargo.toml");
    let more: Vec<_> = found.iter().filter(|name| !allowed.contains(&name.as_str())).collect();
    assert!(more.is_empty(), "say in ARCHITECTURE.md why the core needs {more:?}, and add it here");
    assert!(found.contains("pulldown-cmark"), "the table of dependencies is not found");
}

#[test]
fn the_conformance_suite_on_the_core_builds_no_host_and_no_compiler() {
    let allowed = [
        "agent-memory-core",
        "agent-memory-setting-values",
        "agent-memory-storage-memory",
        "jiff",
        "rusqlite",
        "serde",
        "serde_json",
    ];
    let found = dependencies("tests/conformance/Cargo.toml");
    let more: Vec<_> = found.iter().filter(|name| !allowed.contains(&name.as_str())).collect();
    assert!(more.is_empty(), "the suite on the core has to be built in seconds, without {more:?}");
    assert!(found.contains("agent-memory-core"), "the table of dependencies is not found");
    assert!(!repository_root().join("tests/conformance/build.rs").exists());
}

/// The sources below a directory, in Rust or TypeScript, with their paths from the top level.
fn sources(directory: &str) -> Vec<(String, String)> {
    let is_source = |name: &String| name.ends_with(".rs") || name.ends_with(".ts");
    let named = files(directory).into_iter().filter(is_source);
    let sources: Vec<_> = named.map(|name| (name.clone(), source(&name))).collect();
    assert!(!sources.is_empty(), "no sources in `{directory}`");
    sources
}

/// The sources in these directories that contain one of the words.
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
fn the_core_uses_no_collections_with_a_random_order() {
    let found = holding(&["core-component/src"], &["HashMap", "HashSet"]);
    assert!(found.is_empty(), "use a BTreeMap in {found:?}");
}

#[test]
fn one_file_of_the_core_knows_the_bindings() {
    let words = ["wit_bindgen", "bindings::"];
    assert_eq!(holding(&["core-component/src"], &words), ["core-component/src/component.rs"]);
}

/// All directories with code in Rust.
const IN_RUST: [&str; 13] = [
    "bench",
    "client-config",
    "component-image",
    "core-component",
    "files-component",
    "fuzz/src",
    "host-native",
    "host-python/src",
    "host-wasi",
    "setting-values",
    "storage",
    "tests/src",
    "tests/tests",
];

/// Whether a line binds several names to the members of a tuple that it makes: `let (a, b) = (x, y)`.
fn makes_tuple_for_names(line: &str) -> bool {
    let Some((names, rest)) = line.strip_prefix("let (").and_then(|rest| rest.split_once(')'))
    else {
        return false;
    };
    let is_of_name = |letter: char| letter.is_ascii_lowercase() || "_, 0123456789".contains(letter);
    names.chars().all(is_of_name)
        && (rest.starts_with(" = (") || rest.starts_with(": ("))
        && rest.contains(" = (")
}

/// The advice for a line without the plain form. `match` on a condition is left to Clippy.
fn advice(line: &str) -> Option<&'static str> {
    if makes_tuple_for_names(line) {
        Some("give each binding a statement of its own")
    } else if line.contains("fn of(") && line.contains("Self") {
        Some("name a constructor `new`, `from_*` or `with_*`")
    } else if line.contains("_by_hand(") {
        Some("call the work of another program `external_*`")
    } else {
        None
    }
}

#[test]
fn code_has_the_plain_forms() {
    let replaced =
        ["let (a, mut b) = (1, 2);", "let (a, b): (u8, u8) = (1, 2);", "fn of() -> Self {"];
    assert!(replaced.into_iter().all(|line| advice(line).is_some()));
    let plain = ["let (a, b) = pair;", "let (Some(a), Some(b)) = (c, d) else {", "let a = (1, 2);"];
    assert!(plain.into_iter().all(|line| advice(line).is_none()));
    let mut found = Vec::new();
    for (name, text) in IN_RUST.iter().flat_map(|directory| sources(directory)) {
        if !name.ends_with(".rs") || name == "tests/tests/architecture.rs" {
            continue;
        }
        for (number, line) in (1..).zip(text.lines()) {
            let advice = advice(line.trim_start());
            found.extend(advice.map(|advice| format!("{name}:{number}: {advice}")));
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}

/// All code but tests.
const SOURCES: [&str; 6] = [
    "component-image/src",
    "core-component/src",
    "host-native/src",
    "host-node/src",
    "host-python/src",
    "storage",
];

/// A path that may contain the words all the same, and the reason.
type Exception = (&'static str, &'static str);

/// The files that contain a word without an exception, and exceptions without a use.
fn misplaced(directories: &[&str], words: &[&str], exceptions: &[Exception]) -> Vec<String> {
    let found = holding(directories, words);
    let is_excepted = |name: &str| exceptions.iter().any(|(file, _)| name.starts_with(file));
    let is_needed = |file: &str| found.iter().any(|name| name.starts_with(file));
    let misplaced = found.iter().filter(|name| !is_excepted(name)).cloned();
    let needless = exceptions.iter().filter(|(file, _)| !is_needed(file));
    misplaced.chain(needless.map(|(file, _)| format!("{file}: needs no exception"))).collect()
}

#[test]
fn one_module_of_the_native_host_knows_mcp() {
    let words = ["rmcp", "jsonrpc", "JSON-RPC", "modelcontextprotocol", "\"tools/", "initialize\""];
    let exceptions = [
        ("host-native/src/mcp/", "it is the module"),
        ("host-native/src/cli/doctor/reached.rs", "it asks the servers of clients"),
        ("host-native/src/cli/toolsets/sessions/demo.rs", "it plays a client"),
        ("host-native/src/cli/logging.rs", "it limits the log of the protocol's library"),
    ];
    assert_eq!(misplaced(&SOURCES, &words, &exceptions), [""; 0]);
}

#[test]
fn only_the_command_line_knows_its_options() {
    let libraries = [
        "core-component/src",
        "host-native/src/call",
        "host-native/src/capability",
        "host-native/src/engine",
        "host-native/src/storage",
        "storage",
    ];
    let exceptions = [
        ("core-component/src/markdown/", "a rule of Markdown looks like an option"),
        ("core-component/src/front_matter/", "the fence of front matter looks like an option"),
        ("storage/files/src/repository.rs", "it names what an embedding program does, too"),
    ];
    assert_eq!(misplaced(&libraries, &["`--"], &exceptions), [""; 0]);
}

/// The commands that do more than call a tool, which have a folder for each toolset.
const COMMANDS: [Exception; 2] = [
    ("host-native/src/cli/toolsets/", "commands of toolsets have their folders there"),
    ("host-native/src/cli/mod.rs", "it lists those commands"),
];

/// Hosts get toolsets from the component's description only.
#[test]
fn no_host_knows_a_toolset() {
    let hosts = ["host-native/src", "host-node/src", "host-python/src", "host-wasi/src", "storage"];
    let in_quotes = |name: &str| ['"', '\'', '`'].map(|quote| format!("{quote}{name}{quote}"));
    let described: Value = serde_json::from_str(&toolbox::describe()).expect("JSON");
    let toolsets = described["toolsets"].as_array().expect("toolsets");
    let list = |of: &Value, field: &str| of[field].as_array().expect("a list").clone();
    let name = |of: &Value, field: &str| of[field].as_str().expect("a name").to_owned();

    let mut names = BTreeSet::new();
    for toolset in toolsets {
        for tool in list(toolset, "tools") {
            names.insert(name(&tool, "qualified_name"));
            // A single word such as `content` has other meanings, too.
            let own = [name(&tool, "name")].into_iter();
            let schemas = [&tool["inputSchema"], &tool["outputSchema"]].into_iter();
            let fields = schemas.flat_map(|of| of["properties"].as_object().expect("properties"));
            let own = own.chain(fields.map(|(field, _)| field.clone()));
            names.extend(own.filter(|name| name.contains('_')));
        }
        for setting in list(toolset, "settings") {
            names.insert(name(&setting, "flag"));
            let variables = list(&setting, "environment");
            let variables = variables.iter().map(|variable| variable.as_str().expect("a name"));
            names.extend(variables.flat_map(in_quotes));
        }
        for place in list(toolset, "places") {
            names.extend(in_quotes(&name(&place, "label")));
            names.extend(list(&place, "databases").iter().map(|database| name(database, "name")));
        }
        // The toolset's name, alone and in names of types and functions.
        let toolset = name(toolset, "name");
        let capital = toolset[..1].to_uppercase() + &toolset[1..];
        names.extend([toolset, capital]);
    }
    // A method of Rust's slices.
    names.remove("sort_by");
    // A function of the protocol's library.
    names.remove("new_text");
    // Any place stores data.
    names.remove("stores");
    names.extend(in_quotes("stores"));
    // A file may be new.
    names.remove("is_new");
    // Every host has files.
    names.remove("files");
    names.remove("Files");
    // Lists have items.
    names.remove("items");
    names.remove("Items");
    // Every host has a memory.
    names.remove("memory");
    names.remove("Memory");
    for known in ["append_entry", "agent_name", "memory-dir", "memories.db", "Records"] {
        assert!(names.contains(known), "{names:?}");
    }
    let documents = ["_schema.md", "_summary.md", "logs/", "Session ID"].map(str::to_owned);
    names.extend(documents);
    let schema = source("tests/conformance/documents/schema-v1.md");
    let sections = schema.lines().filter_map(|line| line.strip_prefix("## "));
    // These words also mean the context of a call and the header of a file.
    let sections = sections.filter(|section| !["Context", "Header"].contains(section));
    names.extend(sections.map(str::to_owned));
    names.extend(tool_error_codes().iter().flat_map(|code| in_quotes(code)));
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let functions =
        ("host-wasi/src/component/functions.rs", "it is generated from the description");
    let tests = ("host-native/src/follow_ups_tests.rs", "it tests with a toolset");
    let of_calls = ("host-native/src/agent_memory/once_tests.rs", "it tests with a tool");
    let of_clients = ("host-native/src/agent_memory/clients_tests.rs", "it tests with a tool");
    let exceptions = [&COMMANDS[..], &[functions, tests, of_calls, of_clients]].concat();
    assert_eq!(misplaced(&hosts, &names, &exceptions), [""; 0]);
}

const PAGE: &str = "ARCHITECTURE.md";

/// A part of the page, from its heading to the next.
fn part(heading: &str) -> String {
    let page = source(PAGE);
    let (_, rest) = page.split_once(&format!("\n## {heading}\n")).expect("the heading is there");
    rest.split("\n## ").next().unwrap_or_default().to_owned()
}

/// The texts in backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// `a/{b,c}.rs` as `a/b.rs` and `a/c.rs`.
fn spelled_out(path: &str) -> Vec<String> {
    let braces =
        path.split_once('{').and_then(|(before, rest)| Some((before, rest.split_once('}')?)));
    match braces {
        Some((before, (names, after))) => {
            names.split(',').map(|name| format!("{before}{name}{after}")).collect()
        }
        None => vec![path.to_owned()],
    }
}

/// The paths that a text names: directories end with a slash, files with the ending of a source.
fn paths(text: &str) -> Vec<String> {
    const ENDINGS: [&str; 6] = ["/", ".rs", ".ts", ".wit", ".json", ".md"];
    // A name such as `_schema.md` is a document's.
    let is_path =
        |text: &&str| ENDINGS.iter().any(|ending| text.ends_with(ending)) && !text.starts_with('_');
    quoted(text).filter(is_path).flat_map(spelled_out).collect()
}

/// The folders and files of the code map, in the first cells of its tables.
fn mapped() -> Vec<String> {
    let map = part("Code map");
    map.lines().filter_map(|line| line.split('|').nth(1)).flat_map(paths).collect()
}

#[test]
fn every_path_of_the_code_map_exists() {
    let root = repository_root();
    let mapped = mapped();
    assert!(mapped.len() > 30, "the tables of the code map are not found: {mapped:?}");
    let mut missing: Vec<String> =
        mapped.iter().filter(|path| !root.join(path).exists()).cloned().collect();
    for line in part("Code map").lines() {
        let cells: Vec<&str> = line.split('|').collect();
        let [_, place, about, _] = cells.as_slice() else { continue };
        let places = paths(place).into_iter().map(|place| root.join(place));
        let bases: Vec<PathBuf> = places.chain([root.clone()]).collect();
        let is_there = |path: &String| bases.iter().any(|base| base.join(path).exists());
        missing.extend(paths(about).into_iter().filter(|path| !is_there(path)));
    }
    assert!(missing.is_empty(), "{PAGE} names what is not there: {missing:?}");
}

#[test]
fn every_source_is_below_a_folder_of_the_code_map() {
    let mapped = mapped();
    let is_mapped = |file: &str| mapped.iter().any(|folder| file.starts_with(folder.as_str()));
    let is_source = |file: &str| file.ends_with(".rs") || file.ends_with(".ts");
    let sources = files("").into_iter().filter(|file| is_source(file));
    let unmapped: Vec<_> =
        sources.filter(|file| !is_mapped(file) && !file.ends_with("/build.rs")).collect();
    assert!(unmapped.is_empty(), "the code map of {PAGE} has no folder for {unmapped:?}");
}

#[test]
fn every_path_that_a_page_names_from_the_top_level_exists() {
    let root = repository_root();
    let begins = |path: &String| {
        let (first, rest) = path.split_once('/').unwrap_or_default();
        !rest.is_empty() && root.join(first).is_dir()
    };
    // Another test checks the paths of the code map.
    let page = source(PAGE);
    let map = part("Code map");
    let mut pages = vec![(PAGE.to_owned(), page.replace(&map, ""))];
    let others = files("docs").into_iter().filter(|file| file.ends_with(".md"));
    let others = others.chain(["README.md".into(), "CONTRIBUTING.md".into()]);
    pages.extend(others.map(|file| (file.clone(), source(&file))));
    let mut missing = Vec::new();
    for (page, text) in pages {
        let named: Vec<_> = paths(&text).into_iter().filter(begins).collect();
        assert!(page != PAGE || !named.is_empty(), "no path is found");
        let gone = named.into_iter().filter(|path| !root.join(path).exists());
        missing.extend(gone.map(|path| format!("{page}: {path}")));
    }
    assert!(missing.is_empty(), "pages name what is not there: {missing:?}");
}

#[test]
fn every_dependency_is_named_with_its_reason() {
    let table = part("Dependencies");
    let named: BTreeSet<&str> = quoted(&table).collect();
    let mut found = BTreeSet::new();
    for file in files("") {
        if file.ends_with("Cargo.toml") {
            found.extend(dependencies(&file));
        } else if file.ends_with("package.json") {
            let package: Value = serde_json::from_str(&source(&file)).expect("JSON");
            let tables = ["dependencies", "devDependencies", "optionalDependencies"];
            let tables = tables.iter().filter_map(|table| package[table].as_object());
            found.extend(tables.flat_map(|table| table.keys().cloned()));
        }
    }
    assert!(found.contains("wasmtime") && found.contains("typescript"), "{found:?}");
    let ours = |name: &&String| name.starts_with("agent-memory-");
    let unnamed: Vec<_> =
        found.iter().filter(|name| !ours(name) && !named.contains(name.as_str())).collect();
    assert!(unnamed.is_empty(), "say in {PAGE} why there is {unnamed:?}");

    let first = table.lines().filter_map(|line| line.split('|').nth(1)).flat_map(quoted);
    let gone: Vec<_> = first.filter(|name| !found.contains(*name)).collect();
    assert!(gone.is_empty(), "{PAGE} gives reasons for missing dependencies: {gone:?}");
}

#[test]
fn every_dependency_of_the_workspace_is_used_by_a_member() {
    let manifests = files("").into_iter().filter(|file| file.ends_with("/Cargo.toml"));
    let used: BTreeSet<String> = manifests.flat_map(|file| dependencies(&file)).collect();
    let shared = dependencies("Cargo.toml");
    let unused: Vec<_> = shared.difference(&used).collect();
    assert!(unused.is_empty(), "nothing uses {unused:?}");
}
