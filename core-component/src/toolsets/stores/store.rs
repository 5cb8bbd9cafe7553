//! A store: opening it and reading its files.

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

/// The names in the directory of a category.
#[derive(Default)]
pub(super) struct Directory {
    /// The statuses of the memories' files, by slug.
    pub memories: BTreeMap<String, Status>,
    /// The segments of the subcategories.
    pub subcategories: BTreeSet<String>,
    /// Markdown files whose names are no slugs.
    pub others: Vec<String>,
    /// Directories whose names are no segments, each with a slash.
    pub other_directories: Vec<String>,
    /// The entries of the directory that have the name of a memory's file or of a subcategory, and
    /// are neither.
    pub misplaced: Vec<Misplaced>,
}

/// An entry of a category's directory that has the name of a memory's file or of a subcategory, and
/// is neither.
pub(super) struct Misplaced {
    name: String,
    what: What,
}

/// The kind of a misplaced entry, and the remedy.
type What = (&'static str, &'static str);

const LINK: What = ("a link", "put the file itself there");
const DIRECTORY: What = ("a directory", "rename it without `.md`");
const FILE: What = ("a file without `.md`", "rename it, or move it away");

impl Misplaced {
    /// The warning that names the entry of a category. `verb` says what it was not: `searched`.
    pub fn warning(&self, category: &CategoryPath, verb: &str) -> String {
        let base = if category.is_root() { String::new() } else { format!("{category}/") };
        let Self { name, what: (kind, remedy) } = self;
        format!("`{base}{name}` is {kind}, and was not {verb}: {remedy}")
    }
}

impl<'a> Store<'a> {
    /// The time of the call.
    pub fn now(&self) -> Timestamp {
        self.call.context.now
    }

    /// Opens a store.
    ///
    /// # Errors
    ///
    /// `INVALID_INPUT` for a name that no store can have, `PERMISSION_ERROR`, `STORE_NOT_FOUND`.
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

    /// Opens a store, or creates it. With a warning if it is new beside others: its name may be a
    /// mistake.
    ///
    /// # Errors
    ///
    /// As for [`Store::open`]; `INVALID_INPUT` if a new name differs from an existing one only in
    /// case.
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
            // Another process created it just now. If its directory is gone, opening it says so.
            Err(error) if error.code == ErrorCode::AlreadyExists => {
                Ok((Self::open(call, name)?, Vec::new()))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Says which other stores there are, if it may tell the caller of others.
    pub fn others(&self) -> Result<Option<String>, Error> {
        other_stores(self.call.context, self.name, || names(self.call))
    }

    /// The note of a list without anything in it.
    pub fn empty_note(&self, category: &CategoryPath) -> Result<Option<String>, Error> {
        let place = self.place(category);
        Ok(self.others()?.map(|others| format!("nothing is in {place}; {others}")))
    }

    /// The note of a list that leaves out expired memories and has nothing else.
    pub fn expired_note(&self, category: &CategoryPath, expired: usize) -> String {
        let place = self.place(category);
        match expired {
            1 => format!("only an expired memory is in {place}: pass `include_expired` to list it"),
            _ => format!(
                "only expired memories are in {place}: pass `include_expired` to list {expired}"
            ),
        }
    }

    /// A category in words.
    fn place(&self, category: &CategoryPath) -> String {
        let name = self.name;
        if category.is_root() {
            format!("store `{name}`")
        } else {
            format!("category `{category}` of store `{name}`")
        }
    }

    /// The error with the other stores, in which the memory or category may be. They are beside the
    /// call, so it keeps its error if they cannot be listed.
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

    /// Its directory, as its user knows it.
    pub fn location(&self) -> String {
        self.tree.location()
    }

    /// The text of a file. `None` if there is none.
    pub fn text(&self, path: &str) -> Result<Option<Text>, ReadError> {
        let Some(document) = self.tree.read(Area::Documents, path, MAX_DOCUMENT_BYTES)? else {
            return Ok(None);
        };
        let text = String::from_utf8(document.contents)
            .map_err(|_| ReadError::Unusable(Error::not_utf8(path)))?;
        Ok(Some(Text { text, version: document.version }))
    }

    /// The text of a memory's file.
    pub fn memory(&self, path: &MemoryPath) -> Result<Option<Text>, ReadError> {
        self.text(&path.file())
    }

    /// Reads a memory and calls `read` with it. `None` if there is none.
    pub fn read<T>(
        &self,
        path: &MemoryPath,
        read: impl FnOnce(Memory<'_>, &Text) -> T,
    ) -> Result<Option<T>, ReadError> {
        let Some(text) = self.memory(path)? else { return Ok(None) };
        let memory = Memory::read(path, &text.text).map_err(ReadError::Unusable)?;
        Ok(Some(read(memory, &text)))
    }

    /// Reads what can be read of a memory and calls `read` with it, and with the error of the rest.
    /// `None` if there is none.
    pub fn read_in_part<T>(
        &self,
        path: &MemoryPath,
        read: impl FnOnce(Memory<'_>, &Text, Option<Error>) -> T,
    ) -> Result<Option<T>, ReadError> {
        let Some(text) = self.memory(path)? else { return Ok(None) };
        let (memory, damage) = Memory::read_in_part(path, &text.text);
        Ok(Some(read(memory, &text, damage)))
    }

    /// The index of a category, with its text. `None` if there is none.
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

    /// The names in a category's directory. `None` if there is no such directory.
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
                // Other programs keep their own things in hidden directories.
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

    /// Whether a category exists. The root always does.
    pub fn has_category(&self, category: &CategoryPath) -> Result<bool, Error> {
        if category.is_root() {
            return Ok(true);
        }
        let status = self.tree.stat(Area::Documents, category.as_str())?;
        Ok(status.is_some_and(|status| status.kind == EntryKind::Directory))
    }
}

/// The value that was read. `None` with a warning if the file is unusable.
///
/// # Errors
///
/// Those that do not concern one file alone.
pub(super) fn usable<T>(
    read: Result<T, ReadError>,
    warnings: &mut Vec<String>,
) -> Result<Option<T>, Error> {
    match read {
        Ok(read) => Ok(Some(read)),
        Err(ReadError::Unusable(error)) => {
            // A list may read a file twice.
            if !warnings.iter().any(|warning| warning == error.message()) {
                warnings.push(error.message().to_owned());
            }
            Ok(None)
        }
        Err(ReadError::Other(error)) => Err(error),
    }
}

/// The names of the stores that the caller may use.
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
