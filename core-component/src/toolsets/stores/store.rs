//! Opens stores and reads their files.

use std::collections::{BTreeMap, BTreeSet};

use super::error::{Code, Error};
use super::index::Index;
use super::memory::Memory;
use super::path::{CategoryPath, MemoryPath, is_segment, slug_of_file};
use super::place::LABEL;
pub(super) use crate::error::ReadError;
use crate::existing::{MAX_NAMES, did_you_mean, other_stores};
use crate::listing::listed;
use crate::names::StoreName;
use crate::storage::{self, Area, EntryKind, ErrorCode, MAX_DOCUMENT_BYTES, Place, Status, Tree};
use crate::time::Timestamp;
use crate::tool::Call;

/// An open store.
pub(super) struct Store<'a> {
    pub name: &'a str,
    pub call: &'a Call<'a>,
    pub tree: Box<dyn Tree + 'a>,
}

/// The text of a file, with its version.
pub(super) struct Text {
    pub text: String,
    pub version: String,
}

/// The entries in the directory of a category.
#[derive(Default)]
pub(super) struct Directory {
    /// The statuses of the memories' files, by slug.
    pub memories: BTreeMap<String, Status>,
    /// The segments of the subcategories.
    pub subcategories: BTreeSet<String>,
    /// The names of Markdown files that no memory can have.
    pub others: Vec<String>,
    /// The names of directories that no subcategory can have, each with a slash. Hidden ones are
    /// left out.
    pub other_directories: Vec<String>,
    /// Entries that cannot be used, because they are of the wrong kind for their names.
    pub misplaced: Vec<Misplaced>,
}

/// An entry in the directory of a category whose name fits a memory or a subcategory, but which is
/// something else, such as a link.
pub(super) struct Misplaced {
    name: String,
    what: What,
}

/// The kind of a misplaced entry, and what to do about it.
type What = (&'static str, &'static str);

const LINK: What = ("a link", "put the file itself there");
const DIRECTORY: What = ("a directory", "rename it without `.md`");
const FILE: What = ("a file without `.md`", "rename it, or move it away");

impl Misplaced {
    /// Returns the warning about the entry. `verb` says what was not done with it, such as
    /// `searched`.
    pub fn warning(&self, category: &CategoryPath, verb: &str) -> String {
        let base = if category.is_root() { String::new() } else { format!("{category}/") };
        let Self { name, what: (kind, remedy) } = self;
        format!("`{base}{name}` is {kind}, and was not {verb}: {remedy}")
    }
}

impl<'a> Store<'a> {
    /// The moment of the call.
    pub fn now(&self) -> Timestamp {
        self.call.context.now
    }

    /// Opens an existing store.
    ///
    /// # Errors
    ///
    /// `INVALID_INPUT` for a name that no store can have, `PERMISSION_ERROR` if the caller may not
    /// use the store, `STORE_NOT_FOUND` if the store or its directory is missing.
    pub fn open(call: &'a Call<'a>, name: &'a StoreName) -> Result<Self, Error> {
        let name = checked(call, name)?;
        match call.storage.open(&Place::in_group(LABEL, name)) {
            Ok(tree) => Ok(Self { name, call, tree }),
            Err(error) if error.code == ErrorCode::NotFound => {
                let names = names(call)?;
                Err(if names.iter().any(|other| other == name) {
                    Error::store_missing(name, &error)
                } else {
                    Error::no_store(name, &names)
                })
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Opens a store, or creates it if it is missing. After creating it, also returns a warning if
    /// the caller may use other stores: the new name may be a mistake.
    ///
    /// # Errors
    ///
    /// Those of [`Store::open`]; `INVALID_INPUT` if the name of a new store differs from an
    /// existing one only in case.
    pub fn open_or_create(
        call: &'a Call<'a>,
        name: &'a StoreName,
    ) -> Result<(Self, Vec<String>), Error> {
        match Self::open(call, name) {
            Err(error) if error.code == Code::StoreNotFound => {}
            opened => return Ok((opened?, Vec::new())),
        }
        let checked = checked(call, name)?;
        let all = call.storage.list_places(LABEL)?;
        let is_twin = |other: &&String| *other != checked && other.eq_ignore_ascii_case(checked);
        if let Some(twin) = all.iter().find(is_twin) {
            return Err(Error::store_twin(call.context, checked, twin));
        }
        match call.storage.create_place(&Place::in_group(LABEL, checked)) {
            Ok(tree) => {
                let mut others = all;
                others.retain(|name| call.context.reaches_store(name));
                let warning = (!others.is_empty()).then(|| {
                    let there_were = listed(&others, MAX_NAMES);
                    let is_new = format!("store `{checked}` is new; there were {there_were}");
                    match did_you_mean(checked, &others) {
                        Some(question) => format!("{is_new}; {question}"),
                        None => is_new,
                    }
                });
                Ok((Self { name: checked, call, tree }, warning.into_iter().collect()))
            }
            // Another process created the store meanwhile. Or the store is registered and its
            // directory is missing: then opening it fails.
            Err(error) if error.code == ErrorCode::AlreadyExists => {
                Ok((Self::open(call, name)?, Vec::new()))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Returns a sentence that names the other stores that the caller may use. `None` if there are
    /// none to name.
    pub fn others(&self) -> Result<Option<String>, Error> {
        other_stores(self.call.context, self.name, || names(self.call))
    }

    /// Returns the note for an empty list. `None` if no other stores can be named.
    pub fn empty_note(&self, category: &CategoryPath) -> Result<Option<String>, Error> {
        let place = self.place(category);
        Ok(self.others()?.map(|others| format!("nothing is in {place}; {others}")))
    }

    /// Returns the note for a list that is empty only because expired memories were left out.
    pub fn expired_note(&self, category: &CategoryPath, expired: usize) -> String {
        let place = self.place(category);
        match expired {
            1 => format!("only an expired memory is in {place}: pass `include_expired` to list it"),
            _ => format!(
                "only expired memories are in {place}: pass `include_expired` to list {expired}"
            ),
        }
    }

    /// Names a category for a message.
    fn place(&self, category: &CategoryPath) -> String {
        let name = self.name;
        if category.is_root() {
            format!("store `{name}`")
        } else {
            format!("category `{category}` of store `{name}`")
        }
    }

    /// Names the other stores in an error, because the memory or category may be in one of them. If
    /// listing the stores fails, the message of `error` says so.
    pub fn with_others(&self, error: Error) -> Error {
        match self.others() {
            Ok(Some(others)) => error.with_suffix(&format!("; {others}")),
            Ok(None) => error,
            Err(failed) => {
                let what = "the other stores could not be listed";
                error.with_suffix(&format!("; {what}: {}", failed.message()))
            }
        }
    }

    /// Returns the directory of the store as its user knows it.
    pub fn location(&self) -> String {
        self.tree.location()
    }

    /// Returns the text of a file. `None` if the file does not exist.
    pub fn text(&self, path: &str) -> Result<Option<Text>, ReadError> {
        let Some(document) = self.tree.read(Area::Documents, path, MAX_DOCUMENT_BYTES)? else {
            return Ok(None);
        };
        let text = String::from_utf8(document.contents)
            .map_err(|_| ReadError::Unusable(Error::not_utf8(path)))?;
        Ok(Some(Text { text, version: document.version }))
    }

    /// Returns the text of a memory's file. `None` if the memory does not exist.
    pub fn memory(&self, path: &MemoryPath) -> Result<Option<Text>, ReadError> {
        self.text(&path.file())
    }

    /// Reads a memory and calls `read` with it. `None` if the memory does not exist.
    pub fn read<T>(
        &self,
        path: &MemoryPath,
        read: impl FnOnce(Memory<'_>, &Text) -> T,
    ) -> Result<Option<T>, ReadError> {
        let Some(text) = self.memory(path)? else { return Ok(None) };
        let memory = Memory::read(path, &text.text).map_err(ReadError::Unusable)?;
        Ok(Some(read(memory, &text)))
    }

    /// Reads the valid parts of a memory. Calls `read` with them, and with an error if other parts
    /// are damaged. `None` if the memory does not exist.
    pub fn read_in_part<T>(
        &self,
        path: &MemoryPath,
        read: impl FnOnce(Memory<'_>, &Text, Option<Error>) -> T,
    ) -> Result<Option<T>, ReadError> {
        let Some(text) = self.memory(path)? else { return Ok(None) };
        let (memory, damage) = Memory::read_in_part(path, &text.text);
        Ok(Some(read(memory, &text, damage)))
    }

    /// Returns the index of a category, with its text. `None` if the category has no index.
    pub fn index(&self, category: &CategoryPath) -> Result<Option<(Index, Text)>, ReadError> {
        let path = category.index();
        let text = self.text(&path).map_err(|error| match error {
            ReadError::Unusable(error) if error.code == Code::LimitExceeded => {
                ReadError::Unusable(error.with_suffix(", or delete it and call `reindex_store`"))
            }
            error => error,
        });
        let Some(text) = text? else { return Ok(None) };
        let index = Index::read(category, &text.text)
            .map_err(|error| ReadError::Unusable(Error::damaged_index(&path, &error)))?;
        Ok(Some((index, text)))
    }

    /// Returns the entries in a category's directory. `None` if there is no such directory.
    pub fn directory(&self, category: &CategoryPath) -> Result<Option<Directory>, storage::Error> {
        let Some(entries) = self.tree.list(Area::Documents, category.as_str())? else {
            return Ok(None);
        };
        let mut directory = Directory::default();
        for entry in entries {
            let name = entry.name;
            let is_segment = is_segment(&name);
            match (entry.status.kind, slug_of_file(&name)) {
                (EntryKind::File, Some(slug)) => {
                    directory.memories.insert(slug.to_owned(), entry.status);
                }
                (EntryKind::File, None) if name.ends_with(".md") => directory.others.push(name),
                (EntryKind::File, None) if is_segment => {
                    directory.misplaced.push(Misplaced { name, what: FILE });
                }
                (EntryKind::Directory, _) if is_segment => {
                    directory.subcategories.insert(name);
                }
                (EntryKind::Directory, Some(_)) => {
                    directory.misplaced.push(Misplaced { name, what: DIRECTORY });
                }
                // Hidden directories are left out: other programs keep their own files there.
                (EntryKind::Directory, None) if !name.starts_with('.') => {
                    directory.other_directories.push(format!("{name}/"));
                }
                (EntryKind::Other, slug) if slug.is_some() || is_segment => {
                    directory.misplaced.push(Misplaced { name, what: LINK });
                }
                _ => {}
            }
        }
        Ok(Some(directory))
    }

    /// Whether a category exists. The root always exists.
    pub fn has_category(&self, category: &CategoryPath) -> Result<bool, Error> {
        if category.is_root() {
            return Ok(true);
        }
        let status = self.tree.stat(Area::Documents, category.as_str())?;
        Ok(status.is_some_and(|status| status.kind == EntryKind::Directory))
    }
}

/// Returns a value that was read. If the file is unusable, returns `None` and adds a warning.
///
/// # Errors
///
/// An error that concerns more than one file.
pub(super) fn usable<T>(
    read: Result<T, ReadError>,
    warnings: &mut Vec<String>,
) -> Result<Option<T>, Error> {
    match read {
        Ok(read) => Ok(Some(read)),
        Err(ReadError::Unusable(error)) => {
            // A list may read a file twice, but needs only one warning.
            if !warnings.iter().any(|warning| warning == error.message()) {
                warnings.push(error.message().to_owned());
            }
            Ok(None)
        }
        Err(ReadError::Other(error)) => Err(error),
    }
}

/// Returns the names of the stores that the caller may use.
pub(super) fn names(call: &Call<'_>) -> Result<Vec<String>, Error> {
    let names = call.storage.list_places(LABEL)?;
    Ok(names.into_iter().filter(|name| call.context.reaches_store(name)).collect())
}

fn checked<'a>(call: &Call<'_>, name: &'a StoreName) -> Result<&'a str, Error> {
    let name = name.checked().map_err(|(name, reason)| Error::invalid_store(name, reason))?;
    if call.context.reaches_store(name) {
        Ok(name)
    } else {
        Err(Error::store_not_granted(call.context, name))
    }
}
