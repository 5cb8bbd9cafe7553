//! A tree of documents, and reading it.

use std::io::Read;
use std::sync::Arc;

use agent_memory_storage::{
    Area, Document, Documents, Entry, EntryKind, Error, ErrorCode, MAX_DOCUMENT_BYTES, MAX_ENTRIES,
    Status,
};

use super::base::Base;
use super::cache::Cache;
use super::directory::{Directory, Found};
use super::durability::Durability;
use super::error::{errno_error, io_error};
use super::layout::Layout;
use super::path;

/// The documents of one place. A clone is the same tree.
#[derive(Clone, Debug)]
pub struct Tree(Arc<Parts>);

#[derive(Debug)]
struct Parts {
    layout: Layout,
    documents: Base,
    bookkeeping: Base,
    durability: Durability,
    cache: Arc<Cache>,
}

impl Tree {
    /// The documents of a place.
    pub fn new(layout: Layout, durability: Durability) -> Self {
        Self::with_cache(layout, durability, Arc::default())
    }

    /// The documents of a place, with a cache that trees can share.
    pub fn with_cache(layout: Layout, durability: Durability, cache: Arc<Cache>) -> Self {
        let (documents, bookkeeping) =
            (layout.area(Area::Documents), layout.area(Area::Bookkeeping));
        Tree(Arc::new(Parts { layout, documents, bookkeeping, durability, cache }))
    }

    /// The layout of the place.
    pub fn layout(&self) -> &Layout {
        &self.0.layout
    }

    /// The durability of commits.
    pub fn durability(&self) -> Durability {
        self.0.durability
    }

    pub(crate) fn cache(&self) -> &Cache {
        &self.0.cache
    }

    /// The segments of a document's path. Refuses a path that begins with a reserved name.
    pub(crate) fn segments<'a>(&self, area: Area, path: &'a str) -> Result<Vec<&'a str>, Error> {
        let segments = path::document(path)?;
        self.check_own(area, path, &segments)?;
        Ok(segments)
    }

    fn check_own(&self, area: Area, path: &str, segments: &[&str]) -> Result<(), Error> {
        if segments.first().is_some_and(|first| self.is_own(area, first)) {
            if !self.0.layout.has_documents() {
                return Err(path::refused(path, "is in a place that is one database file"));
            }
            return Err(path::refused(path, "leads to what the host keeps for itself"));
        }
        Ok(())
    }

    fn is_own(&self, area: Area, name: &str) -> bool {
        area == Area::Documents && self.0.layout.is_reserved(name)
    }

    pub(crate) fn base(&self, area: Area) -> &Base {
        match area {
            Area::Documents => &self.0.documents,
            Area::Bookkeeping => &self.0.bookkeeping,
        }
    }

    /// Lists as [`list`](Documents::list), and removes the temporary files that killed writers have
    /// left. The caller holds the lock of the place; `is_locked` returns whether it still does.
    ///
    /// In a place with databases, the temporary files stay: another process may be making a database
    /// under such a name, which needs no lock.
    ///
    /// # Errors
    ///
    /// Those of `list`.
    pub fn list_and_clean(
        &self,
        area: Area,
        directory: &str,
        is_locked: &dyn Fn() -> bool,
    ) -> Result<Option<Vec<Entry>>, Error> {
        let may_clean = || !self.0.layout.has_databases() && is_locked();
        self.entries(area, directory, &may_clean)
    }

    fn entries(
        &self,
        area: Area,
        directory: &str,
        may_clean: &dyn Fn() -> bool,
    ) -> Result<Option<Vec<Entry>>, Error> {
        let segments = path::directory(directory)?;
        self.check_own(area, directory, &segments)?;
        let Some(found) = self.find_directory(area, &segments)? else {
            return Ok(None);
        };
        let named = if directory.is_empty() { self.0.layout.location() } else { directory };
        let failed = |errno| errno_error(errno, &format!("list `{named}`"));
        let mut names = Vec::new();
        for name in found.names().map_err(failed)? {
            let name = name.map_err(failed)?;
            if path::is_temporary(&name) {
                if may_clean() {
                    // A temporary file that stays does no harm.
                    let _ = found.remove_file(&name);
                }
                continue;
            }
            if segments.is_empty() && self.is_own(area, &name) {
                continue;
            }
            if names.len() == MAX_ENTRIES {
                return Err(Error::new(
                    ErrorCode::TooLarge,
                    format!("`{named}` has more than {MAX_ENTRIES} entries"),
                ));
            }
            names.push(name);
        }
        names.sort();
        let statuses = found.statuses(&names).map_err(failed)?;
        // An entry without a status was removed since the directory was read.
        let entry = |(name, status): (_, Option<Status>)| Some(Entry { name, status: status? });
        Ok(Some(names.into_iter().zip(statuses).filter_map(entry).collect()))
    }

    /// Opens the directory at the segments of a path. `None` if it or one of its parents is missing, or
    /// the place has no documents.
    fn find_directory(&self, area: Area, segments: &[&str]) -> Result<Option<Directory>, Error> {
        if area == Area::Documents && !self.0.layout.has_documents() {
            return Ok(None);
        }
        self.base(area).find(segments)
    }
}

impl Documents for Tree {
    fn stat(&self, area: Area, path: &str) -> Result<Option<Status>, Error> {
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
        parent.status(name).map_err(|errno| errno_error(errno, &format!("look at `{path}`")))
    }

    fn read(&self, area: Area, path: &str, max_bytes: u64) -> Result<Option<Document>, Error> {
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
            Err(errno) => return Err(errno_error(errno, &attempt())),
        };
        let bound = max_bytes.min(MAX_DOCUMENT_BYTES);
        let mut contents = Vec::new();
        if metadata.size <= bound {
            contents.reserve_exact(metadata.size as usize);
            file.take(bound + 1)
                .read_to_end(&mut contents)
                .map_err(|error| io_error(&error, &attempt()))?;
        }
        let size = metadata.size.max(contents.len() as u64);
        if size > bound {
            return Err(Error::new(
                ErrorCode::TooLarge,
                format!(
                    "`{path}` is longer than {bound} bytes (it has {size}): shorten it, or split it"
                ),
            ));
        }
        let version = self.0.cache.version_of(&contents);
        Ok(Some(Document { contents, version }))
    }

    fn list(&self, area: Area, directory: &str) -> Result<Option<Vec<Entry>>, Error> {
        self.entries(area, directory, &|| false)
    }
}

/// The error for a path at which something other than a document exists.
pub(crate) fn not_a_document(path: &str) -> Error {
    Error::new(
        ErrorCode::InvalidPath,
        format!("`{path}` is not a file (a symbolic link is not followed): move it away"),
    )
}
