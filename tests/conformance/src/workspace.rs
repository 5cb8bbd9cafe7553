//! The files of this workspace: its sources and its build outputs.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// The top level of the repository.
pub fn repository_root() -> PathBuf {
    let mut above = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let root = above.find(|directory| directory.join("Cargo.lock").is_file());
    root.expect("the crate is below the root").to_owned()
}

/// The directory of build outputs, found from the path of the running test.
pub fn target_directory() -> PathBuf {
    profile_directory().parent().expect("a profile is below the target directory").to_owned()
}

/// The directory of the build outputs of this test's profile.
pub fn profile_directory() -> PathBuf {
    let test = env::current_exe().expect("the running program has a path");
    // <target>/<profile>/deps/<test>, or <target>/<profile>/<program>.
    let directory = test.parent().expect("a file is in a directory");
    if directory.ends_with("deps") {
        directory.join("..").canonicalize().expect("it exists")
    } else {
        directory.to_owned()
    }
}

/// The text of a file of the repository.
///
/// # Panics
///
/// If it cannot be read.
pub fn source(path: &str) -> String {
    let path = repository_root().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The paths of all hand-written files below a directory, from the top level.
///
/// # Panics
///
/// If a directory cannot be read.
pub fn files(directory: &str) -> Vec<String> {
    fn find(directory: &Path, found: &mut Vec<PathBuf>) {
        const MADE: [&str; 4] = ["target", "node_modules", "dist", "generated"];
        let entries = fs::read_dir(directory);
        for entry in entries.unwrap_or_else(|error| panic!("{}: {error}", directory.display())) {
            let entry = entry.expect("an entry");
            let path = entry.path();
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if path.extension().is_some_and(|extension| extension == "bin") {
                // Scripts generate these files.
                continue;
            }
            if !path.is_dir() {
                found.push(path);
            } else if !name.starts_with('.') && !MADE.contains(&&*name) {
                find(&path, found);
            }
        }
    }
    let root = repository_root();
    let mut found = Vec::new();
    find(&root.join(directory), &mut found);
    found.sort();
    let name = |path: PathBuf| {
        let name = path.strip_prefix(&root).expect("below the root").to_str().map(str::to_owned);
        name.expect("sources have ASCII names")
    };
    found.into_iter().map(name).collect()
}

/// The error codes of tools, as callers see them: the variants of each `enum Code` of the core.
///
/// # Panics
///
/// If none is found.
pub fn tool_error_codes() -> BTreeSet<String> {
    const HEAD: &str = "enum Code {";
    let mut codes = BTreeSet::new();
    for file in files("core-component/src") {
        let text = source(&file);
        let Some((before, _)) = text.split_once(HEAD) else { continue };
        let (_, attributes) = before.rsplit_once("\n\n").expect("an enum has a doc comment");
        let is_screaming = attributes.contains("rename_all = \"SCREAMING_SNAKE_CASE\"");
        let names = variants(&file, HEAD).into_iter();
        codes.extend(names.map(|name| if is_screaming { screaming(&name) } else { name }));
    }
    for known in ["StorageError", "STORAGE_ERROR"] {
        assert!(codes.contains(known), "the lists of codes are not found: {codes:?}");
    }
    codes
}

/// `NotFound` as `NOT_FOUND`.
fn screaming(name: &str) -> String {
    let letter = |(index, letter): (usize, char)| {
        let between = if index > 0 && letter.is_uppercase() { "_" } else { "" };
        format!("{between}{}", letter.to_ascii_uppercase())
    };
    name.chars().enumerate().map(letter).collect()
}

/// The names of the variants of an enum in a source file. `head` is the text at which the enum
/// begins.
///
/// # Panics
///
/// If the file has no such enum.
pub fn variants(file: &str, head: &str) -> Vec<String> {
    let text = source(file);
    let (_, rest) = text.split_once(head).expect("the enum is there");
    let (body, _) = rest.split_once('}').expect("an enum ends");
    let lines = body.lines().map(str::trim).filter_map(|line| line.strip_suffix(','));
    lines.map(str::to_owned).collect()
}
