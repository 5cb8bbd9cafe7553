//! Scratch repositories on disk.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{fs, io};

use tempfile::TempDir;

use crate::case::{Documents, Places};

/// An empty repository with an agent memory in it, and a directory that nobody is granted.
#[derive(Debug)]
pub struct Scratch {
    directory: TempDir,
}

const TREE: &str = ".github/agent-memory";

impl Scratch {
    /// One that holds the documents, below the system's directory for temporary files.
    pub fn new(documents: &Documents) -> Self {
        Self::within(tempfile::tempdir().expect("a temporary directory"), documents)
    }

    /// One that holds the documents, in a directory of the caller's.
    pub fn within(directory: TempDir, documents: &Documents) -> Self {
        let scratch = Self { directory };
        fs::create_dir_all(scratch.elsewhere()).expect("a scratch directory");
        fs::create_dir_all(scratch.repo().join(".git")).expect("a scratch directory");
        fs::write(scratch.repo().join(".git/HEAD"), "ref: refs/heads/main\n").expect("a file");
        for (path, contents) in documents {
            let path = scratch.repo().join(TREE).join(path);
            fs::create_dir_all(path.parent().expect("a document is in a directory"))
                .and_then(|()| fs::write(&path, contents))
                .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        }
        scratch
    }

    /// The repository's top level.
    pub fn repo(&self) -> PathBuf {
        // Canonical, as a host names it in messages.
        let directory = self.directory.path().canonicalize().expect("the directory exists");
        directory.join("repo")
    }

    /// A directory beside it.
    pub fn elsewhere(&self) -> PathBuf {
        self.repo().with_file_name("elsewhere")
    }

    /// What the placeholders of a case stand for.
    pub fn places(&self) -> Places {
        let text = |path: PathBuf| path.to_str().expect("scratch paths are UTF-8").to_owned();
        Places { repo: text(self.repo()), elsewhere: text(self.elsewhere()) }
    }

    /// Every file of the tree.
    pub fn documents(&self) -> Documents {
        let mut documents = Documents::new();
        let root = self.repo().join(TREE);
        collect(&root, &root, &mut documents).expect("the tree is readable");
        documents
    }

    /// What the repository holds that it should not: anything but `.git` and the tree.
    pub fn strays(&self) -> Vec<String> {
        let names = |directory: PathBuf| -> BTreeSet<String> {
            let entries = fs::read_dir(directory).into_iter().flatten().flatten();
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
        };
        let mut strays = names(self.repo());
        strays.remove(".git");
        strays.remove(".github");
        let mut github = names(self.repo().join(".github"));
        github.remove("agent-memory");
        strays.extend(github.iter().map(|name| format!(".github/{name}")));
        strays.extend(names(self.elsewhere()).iter().map(|name| format!("../elsewhere/{name}")));
        strays.into_iter().collect()
    }

    /// What a runner returns at the end of a case: the documents, or that there is more.
    pub fn end(&self) -> Result<Documents, String> {
        let strays = self.strays();
        if strays.is_empty() {
            return Ok(self.documents());
        }
        Err(format!("these are left in the repository: {}", strays.join(", ")))
    }
}

fn collect(root: &Path, directory: &Path, documents: &mut Documents) -> io::Result<()> {
    if !directory.exists() {
        return Ok(());
    }
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(root, &path, documents)?;
        } else {
            let name = path.strip_prefix(root).expect("below the root").to_string_lossy();
            documents.insert(name.into_owned(), fs::read(&path)?);
        }
    }
    Ok(())
}
