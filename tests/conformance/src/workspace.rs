//! The files of this workspace: its sources and its build outputs.

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
