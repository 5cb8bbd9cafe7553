//! Scratch repositories, directories of records and databases of layers on disk.

use std::collections::BTreeSet;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::{fs, io};

use agent_memory_conformance::case::{Case, Documents, Places};
use agent_memory_storage_memory::sql;
use serde_json::Value;
use tempfile::TempDir;

/// A scratch repository, a directory that is not granted, and the paths of a directory of records and
/// of a database of layers.
#[derive(Debug)]
pub struct Scratch {
    directory: TempDir,
    kept: Kept,
    /// The prefix of each path that the program gets: a drive for Windows, or else empty.
    drive: &'static str,
}

/// The kind of place that has the documents or the database of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kept {
    Repository,
    Records,
    Layers,
    Stores,
    Files,
}

const TREE: &str = ".github/agent-memory";

/// The host's own files in a directory of records.
const OWN_NAMES: [&str; 5] =
    [".agent-memory", "memories.db", "memories.db-journal", "memories.db-shm", "memories.db-wal"];

impl Scratch {
    /// A repository with these documents, in the system's temporary directory.
    pub fn new(documents: &Documents) -> Self {
        Self::within(tempfile::tempdir().expect("a temporary directory"), documents)
    }

    /// The place of a case's toolset, with the documents or the database that the case gives.
    pub fn from_case(case: &Case) -> Self {
        Self::on_drive(case, "")
    }

    /// Like [`from_case`](Self::from_case), for a program that finds the file system on a drive.
    pub fn on_drive(case: &Case, drive: &'static str) -> Self {
        let scratch = match case.toolset() {
            "records" => Self::with_records(&case.given()),
            "layers" => Self::with_layers(case.given_sql()),
            "files" => Self::with_files(&case.given()),
            "stores" => Self::with_stores(&case.given_stores(), &case.given(), drive),
            _ => Self::new(&case.given()),
        };
        Self { drive, ..scratch }
    }

    fn with_records(given: &Documents) -> Self {
        let scratch = Self { kept: Kept::Records, ..Self::new(&Documents::new()) };
        // Without documents, the host makes the directory.
        if !given.is_empty() {
            create_private(&scratch.memory_dir());
        }
        for (name, contents) in given {
            write_private(&scratch.memory_dir().join(name), contents);
        }
        scratch
    }

    fn with_layers(given: &[String]) -> Self {
        let scratch = Self { kept: Kept::Layers, ..Self::new(&Documents::new()) };
        // Without statements, the host makes the directory and the file.
        if !given.is_empty() {
            let file = scratch.layers_file();
            create_private(file.parent().expect("it is in a directory"));
            write_private(&file, b"");
            sql::make_file(&file, given);
        }
        scratch
    }

    /// The files are in the data directory, where the host keeps them by default.
    fn with_files(given: &Documents) -> Self {
        let scratch = Self { kept: Kept::Files, ..Self::new(&Documents::new()) };
        for (path, contents) in given {
            write_private_below(&scratch.files_dir().join(path), contents);
        }
        scratch
    }

    /// The stores are where the host would create them.
    fn with_stores(names: &[&str], given: &Documents, drive: &str) -> Self {
        let scratch = Self { kept: Kept::Stores, ..Self::new(&Documents::new()) };
        if names.is_empty() {
            return scratch;
        }
        create_private(&scratch.data_dir());
        create_private(&scratch.stores_dir());
        let mut registry = String::from("stores:\n");
        for name in names {
            let directory = scratch.stores_dir().join(name);
            create_private(&directory);
            registry += &format!(
                "  {name}:\n    kind: filesystem\n    properties:\n      path: {drive}{}\n",
                directory.display()
            );
        }
        write_private(&scratch.data_dir().join("stores.yaml"), registry.as_bytes());
        for (path, contents) in given {
            write_private_below(&scratch.stores_dir().join(path), contents);
        }
        scratch
    }

    /// A repository with these documents, in the given directory.
    pub fn within(directory: TempDir, documents: &Documents) -> Self {
        let scratch = Self { directory, kept: Kept::Repository, drive: "" };
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
        // Hosts name the canonical path in messages.
        let directory = self.directory.path().canonicalize().expect("the directory exists");
        directory.join("repo")
    }

    /// A directory beside the repository, which is not granted.
    pub fn elsewhere(&self) -> PathBuf {
        self.repo().with_file_name("elsewhere")
    }

    /// The path of the directory of records.
    pub fn memory_dir(&self) -> PathBuf {
        self.repo().with_file_name("memories")
    }

    /// The path of the database of layers.
    pub fn layers_file(&self) -> PathBuf {
        self.repo().with_file_name("layers").join("memory.sqlite")
    }

    /// The path of the data directory.
    pub fn data_dir(&self) -> PathBuf {
        self.repo().with_file_name("data")
    }

    /// The directory of the stores.
    pub fn stores_dir(&self) -> PathBuf {
        self.data_dir().join("stores")
    }

    /// The directory of the memory files.
    pub fn files_dir(&self) -> PathBuf {
        self.data_dir().join("files")
    }

    /// The settings of a case, with the paths of its places: each as a toolset, a name and a value.
    pub fn settings(&self, case: &Case) -> Vec<(String, String, Value)> {
        let path = |path: PathBuf| Value::from(self.shown(&path));
        let toolset = match case.toolset() {
            "memory" => "records",
            toolset => toolset,
        };
        let mut settings = case.settings()[toolset].as_object().cloned().unwrap_or_default();
        match toolset {
            "records" => settings.insert("directory".to_owned(), path(self.memory_dir())),
            "layers" => settings.insert("file".to_owned(), path(self.layers_file())),
            _ => None,
        };
        let of_toolset = |(name, value)| (toolset.to_owned(), name, value);
        settings.into_iter().map(of_toolset).collect()
    }

    /// The rows of a query of the database of layers.
    pub fn query(&self, sql: &str) -> Result<Vec<Vec<Value>>, String> {
        sql::rows_of_file(&self.layers_file(), sql)
    }

    /// The values of a case's placeholders.
    pub fn places(&self) -> Places {
        Places {
            repo: self.shown(&self.repo()),
            elsewhere: self.shown(&self.elsewhere()),
            stores: self.shown(&self.stores_dir()),
        }
    }

    /// A path as the program has to write it, with its drive.
    pub fn shown(&self, path: &Path) -> String {
        format!("{}{}", self.drive, path.to_str().expect("scratch paths are UTF-8"))
    }

    /// All documents.
    pub fn documents(&self) -> Documents {
        let mut documents = Documents::new();
        let root = match self.kept {
            Kept::Repository => self.repo().join(TREE),
            Kept::Records => self.memory_dir(),
            Kept::Layers => return documents,
            Kept::Stores => self.stores_dir(),
            Kept::Files => self.files_dir(),
        };
        collect(&root, &root, &mut documents).expect("the tree is readable");
        if matches!(self.kept, Kept::Records | Kept::Files) {
            let is_own =
                |path: &str| OWN_NAMES.iter().any(|own| path.split('/').next() == Some(own));
            documents.retain(|path, _| !is_own(path));
        }
        if self.kept == Kept::Stores {
            documents.retain(|path, _| path.split('/').nth(1) != Some(OWN_NAMES[0]));
        }
        documents
    }

    /// Unexpected files: everything in the repository but `.git` and the tree.
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

    /// The documents at the end of a case, or an error about unexpected files or files that others
    /// may read.
    pub fn end(&self) -> Result<Documents, String> {
        let strays = self.strays();
        if !strays.is_empty() {
            return Err(format!("these are left in the repository: {}", strays.join(", ")));
        }
        let mut open = Vec::new();
        let is_unix = self.drive.is_empty();
        for private in [self.memory_dir(), self.repo().with_file_name("layers"), self.data_dir()] {
            if is_unix {
                find_open(&private, &mut open).map_err(|error| error.to_string())?;
            }
        }
        if !open.is_empty() {
            return Err(format!("these are not for their owner alone: {}", open.join(", ")));
        }
        Ok(self.documents())
    }
}

fn create_private(directory: &Path) {
    let mut private = fs::DirBuilder::new();
    private.mode(0o700).create(directory).expect("a scratch directory");
}

fn write_private(path: &Path, contents: &[u8]) {
    let mut private = fs::OpenOptions::new();
    let file = private.write(true).create_new(true).mode(0o600).open(path);
    file.and_then(|mut file| io::Write::write_all(&mut file, contents))
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}

/// Writes a file and makes the directories on the way to it.
fn write_private_below(path: &Path, contents: &[u8]) {
    let mut private = fs::DirBuilder::new();
    private.mode(0o700).recursive(true);
    private.create(path.parent().expect("it is in a directory")).expect("a scratch directory");
    write_private(path, contents);
}

/// Finds files and directories that others than the owner may use.
fn find_open(path: &Path, open: &mut Vec<String>) -> io::Result<()> {
    let Ok(found) = path.symlink_metadata() else { return Ok(()) };
    if found.mode() & 0o077 != 0 {
        open.push(format!("{} ({:o})", path.display(), found.mode() & 0o777));
    }
    if found.is_dir() {
        for entry in fs::read_dir(path)? {
            find_open(&entry?.path(), open)?;
        }
    }
    Ok(())
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
