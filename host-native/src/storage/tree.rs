//! A tree of documents: reading it, and walking to where a path leads.

use super::directory::{Directory, Found};
use super::lock::LockDirectory;
use super::named::GrantedPlace;
use super::repository::Repository;
use super::{Error, ErrorCode, MAX_DOCUMENT_BYTES, MAX_ENTRIES, Shared, Storage, path};
use rustix::io::Errno;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

/// A part of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Area {
    /// Where users look for documents.
    Documents,
    /// Beside the lock, where no user and no version control sees it.
    Bookkeeping,
}

/// What a document holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// Its bytes.
    pub contents: Vec<u8>,
    /// Their [version](super::version_of).
    pub version: String,
}

/// What stands at a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A document.
    File,
    /// A directory.
    Directory,
    /// Anything else, a symbolic link too: it cannot be read.
    Other,
}

/// What stands at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// What it is.
    pub kind: EntryKind,
    /// Bytes; 0 for what is not a file.
    pub size: u64,
    /// Of a file: differs when its bytes may have changed since; a hint. Empty for what is not a
    /// file.
    pub stamp: String,
}

/// What a listing tells of one name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// One path segment.
    pub name: String,
    /// What stands there.
    pub status: Status,
}

/// Documents that were granted. A clone is the same tree.
#[derive(Clone, Debug)]
pub struct Tree(pub(super) Arc<TreeParts>);

#[derive(Debug)]
pub(super) struct TreeParts {
    pub storage: Arc<Shared>,
    pub documents: Base,
    pub bookkeeping: Base,
    pub lock: Arc<LockDirectory>,
    pub location: String,
    /// None for a repository.
    pub named: Option<Arc<GrantedPlace>>,
}

/// A directory that exists, and the way from there to one that need not.
#[derive(Clone, Debug)]
pub(super) struct Base {
    pub directory: Directory,
    pub way: Vec<String>,
}

impl Tree {
    pub(super) fn of_repository(storage: &Storage, repository: Repository) -> Result<Self, Error> {
        let open = |path: &Path| {
            Directory::open(path)
                .map_err(|errno| Error::from_errno(errno, &format!("open `{}`", repository.named)))
        };
        let top_level = Base::of(open(&repository.top_level)?);
        let lock = Base::of(open(&repository.lock_parent)?).below(&[repository.lock_name]);
        Ok(Tree(Arc::new(TreeParts {
            documents: top_level.below(&[".github", "agent-memory"]),
            bookkeeping: lock.below(&["bookkeeping"]),
            lock: Arc::new(LockDirectory {
                base: lock,
                path: repository.lock_directory(),
                hide: repository.hide,
                private: false,
            }),
            location: format!("{}/.github/agent-memory", repository.named.trim_end_matches('/')),
            storage: storage.0.clone(),
            named: None,
        })))
    }

    /// Where the tree is, for messages only: by the name under which it was opened.
    pub fn location(&self) -> &str {
        &self.0.location
    }

    /// The lock directory, canonical: trees with the same one share one lock.
    pub fn lock_key(&self) -> &Path {
        &self.0.lock.path
    }

    /// Whether all changes of a commit stand or none, whenever the host ends.
    pub fn has_atomic_commits(&self) -> bool {
        false
    }

    /// What stands at a path (`""` is the root), or none.
    ///
    /// # Errors
    ///
    /// `invalid-path` where the path is none of a tree, or where what leads there is anything but
    /// directories; `permission`, `io`.
    pub fn stat(&self, area: Area, path: &str) -> Result<Option<Status>, Error> {
        let segments = path::directory(path)?;
        self.check_own(area, path, &segments)?;
        let Some((name, parents)) = segments.split_last() else {
            let root = self.find_directory(area, &[])?;
            let status = Status { kind: EntryKind::Directory, size: 0, stamp: String::new() };
            return Ok(root.map(|_| status));
        };
        let Some(parent) = self.find_directory(area, parents)? else {
            return Ok(None);
        };
        parent.status(name).map_err(|errno| Error::from_errno(errno, &format!("look at `{path}`")))
    }

    /// The document, or none where there is no file of that path.
    ///
    /// # Errors
    ///
    /// `too-large` where it is longer than `max_bytes` or [`MAX_DOCUMENT_BYTES`]; `invalid-path`
    /// where the path is none of a tree, or where it, or what leads there, is anything but a file
    /// in directories; `permission`, `io`.
    pub fn read(&self, area: Area, path: &str, max_bytes: u64) -> Result<Option<Document>, Error> {
        let segments = self.segments(area, path)?;
        let (name, parents) = segments.split_last().expect("a path has a segment");
        let Some(parent) = self.find_directory(area, parents)? else {
            return Ok(None);
        };
        let attempt = || format!("read `{path}`");
        let (file, metadata) = match parent.open_file(name) {
            Ok(Found::Nothing) => return Ok(None),
            Ok(Found::File(file, metadata)) => (file, metadata),
            Ok(Found::SomethingElse) => return Err(not_a_document(path)),
            Err(errno) => return Err(Error::from_errno(errno, &attempt())),
        };
        let bound = max_bytes.min(MAX_DOCUMENT_BYTES);
        let mut contents = Vec::new();
        if metadata.size <= bound {
            contents.reserve_exact(metadata.size as usize);
            file.take(bound + 1)
                .read_to_end(&mut contents)
                .map_err(|error| Error::from_io(&error, &attempt()))?;
        }
        if metadata.size.max(contents.len() as u64) > bound {
            return Err(Error::new(
                ErrorCode::TooLarge,
                format!("`{path}` is longer than {bound} bytes: shorten it, or split it"),
            ));
        }
        let version = self.0.storage.kept.version_of(&contents);
        Ok(Some(Document { contents, version }))
    }

    /// What is directly in a directory (`""` is the root), in byte order of the names; none where
    /// there is no such directory.
    ///
    /// The host's temporary files and names that are not UTF-8 are left out.
    ///
    /// # Errors
    ///
    /// `too-large` beyond [`MAX_ENTRIES`]; `invalid-path` as for reading, and where anything but a
    /// directory stands there; `permission`, `io`.
    pub fn list(&self, area: Area, directory: &str) -> Result<Option<Vec<Entry>>, Error> {
        let segments = path::directory(directory)?;
        self.check_own(area, directory, &segments)?;
        let Some(found) = self.find_directory(area, &segments)? else {
            return Ok(None);
        };
        let named = if directory.is_empty() { self.location() } else { directory };
        let failed = |errno| Error::from_errno(errno, &format!("list `{named}`"));
        let mut entries = Vec::new();
        for name in found.names().map_err(failed)? {
            let name = name.map_err(failed)?;
            if path::is_temporary(&name) || segments.is_empty() && self.is_own(area, &name) {
                continue;
            }
            // None: it went away since the directory was read.
            let Some(status) = found.status(&name).map_err(failed)? else {
                continue;
            };
            if entries.len() == MAX_ENTRIES {
                return Err(Error::new(
                    ErrorCode::TooLarge,
                    format!("`{named}` has more than {MAX_ENTRIES} entries"),
                ));
            }
            entries.push(Entry { name, status });
        }
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(Some(entries))
    }

    /// The segments of a document's path.
    pub(super) fn segments<'a>(&self, area: Area, path: &'a str) -> Result<Vec<&'a str>, Error> {
        let segments = path::document(path)?;
        self.check_own(area, path, &segments)?;
        Ok(segments)
    }

    fn check_own(&self, area: Area, path: &str, segments: &[&str]) -> Result<(), Error> {
        if segments.first().is_some_and(|first| self.is_own(area, first)) {
            return Err(path::refused(path, "leads to what the host keeps for itself"));
        }
        Ok(())
    }

    fn is_own(&self, area: Area, name: &str) -> bool {
        let is_own = |named: &Arc<GrantedPlace>| named.owns(name);
        area == Area::Documents && self.0.named.as_ref().is_some_and(is_own)
    }

    pub(super) fn base(&self, area: Area) -> &Base {
        match area {
            Area::Documents => &self.0.documents,
            Area::Bookkeeping => &self.0.bookkeeping,
        }
    }

    /// None where a directory on the way is missing.
    fn find_directory(&self, area: Area, segments: &[&str]) -> Result<Option<Directory>, Error> {
        self.base(area).find(segments)
    }
}

impl Base {
    /// A directory that exists.
    pub fn of(directory: Directory) -> Self {
        Base { directory, way: Vec::new() }
    }

    /// The directory that these names lead to from this one.
    pub fn below(&self, names: &[&str]) -> Self {
        let mut below = self.clone();
        below.way.extend(names.iter().map(|&name| name.to_owned()));
        below
    }

    /// The directory that the segments of a path lead to; none where one on the way is missing.
    pub fn find(&self, segments: &[&str]) -> Result<Option<Directory>, Error> {
        let way = self.way_to(segments);
        let mut directory = self.directory.clone();
        for depth in 0..way.len() {
            directory = match directory.child(way[depth]) {
                Ok(child) => child,
                Err(Errno::NOENT) => return Ok(None),
                Err(errno) => return Err(obstacle(errno, &way[..=depth])),
            };
        }
        Ok(Some(directory))
    }

    /// The directory itself. Makes what is missing of the way: of mode 700, whatever the umask,
    /// where it is `private`, and to stay where `durable`.
    pub fn make(&self, private: bool, durable: bool) -> Result<Directory, Errno> {
        let mut directory = self.directory.clone();
        for name in &self.way {
            let made = match directory.child(name.as_str()) {
                Err(Errno::NOENT) => {
                    match directory.create_directory(name, if private { 0o700 } else { 0o777 }) {
                        Ok(()) if durable => directory.sync()?,
                        // Made by another just now.
                        Ok(()) | Err(Errno::EXIST) => {}
                        Err(errno) => return Err(errno),
                    }
                    directory.child(name.as_str())?
                }
                found => found?,
            };
            directory = made;
        }
        Ok(directory)
    }

    /// The names from the directory that exists to the one that the segments of a path lead to.
    pub fn way_to<'a>(&'a self, segments: &[&'a str]) -> Vec<&'a str> {
        self.way.iter().map(String::as_str).chain(segments.iter().copied()).collect()
    }
}

/// What keeps a directory from being opened.
pub(super) fn obstacle(errno: Errno, way: &[&str]) -> Error {
    let shown = way.join("/");
    if matches!(errno, Errno::NOTDIR | Errno::LOOP) {
        return Error::new(
            ErrorCode::InvalidPath,
            format!("`{shown}` is not a directory (a symbolic link is not followed): move it away"),
        );
    }
    Error::from_errno(errno, &format!("open the directory `{shown}`"))
}

pub(super) fn not_a_document(path: &str) -> Error {
    Error::new(
        ErrorCode::InvalidPath,
        format!("`{path}` is not a file (a symbolic link is not followed): move it away"),
    )
}
