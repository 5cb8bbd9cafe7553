//! Finds the memories of a store: through the indexes for lists, and through the directories for
//! maintenance and searches.

use std::collections::{BTreeMap, BTreeSet};

use super::error::Error;
use super::index::{Index, IndexedCategory, IndexedMemory, indexed};
use super::memory::Metadata;
use super::path::{CategoryPath, MemoryPath};
use super::store::{Directory, Misplaced, ReadError, Store, usable};
use crate::listing::listed;
use crate::storage::Status;

/// The maximum number of warnings about single files in an answer.
const MAX_WARNINGS: usize = 50;

/// Warnings about files that were left out or changed by hand.
pub(super) type Warnings = Vec<String>;

/// Keeps the first warnings, and adds a warning with the number of the others.
pub(super) fn shortened(mut warnings: Warnings) -> Warnings {
    let more = warnings.len().saturating_sub(MAX_WARNINGS);
    if more > 0 {
        warnings.truncate(MAX_WARNINGS);
        warnings.push(format!("and {more} more"));
    }
    warnings
}

/// The maximum depth of a category that can have a memory.
const MAX_CATEGORY_DEPTH: usize = 9;

/// A memory in a list, with the values from the index.
pub(super) struct Found {
    pub path: MemoryPath,
    pub indexed: IndexedMemory,
}

/// A subcategory in a list, with the values from the index.
pub(super) struct FoundCategory {
    pub path: CategoryPath,
    pub indexed: IndexedCategory,
}

/// The memories and subcategories of a category.
#[derive(Default)]
pub(super) struct Contents {
    /// The memories, sorted by path.
    pub memories: Vec<Found>,
    /// The subcategories, sorted by path.
    pub subcategories: Vec<FoundCategory>,
    /// Warnings about entries that cannot be read or are not listed.
    pub warnings: Vec<String>,
}

/// A category or a memory. Maintenance handles items in the order of this type.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Item {
    pub category: CategoryPath,
    /// The slug of the memory. `None` for the category itself, which comes before its memories.
    pub slug: Option<String>,
}

impl Item {
    /// Returns the item as a cursor: the path of a memory, or the path of a category with a slash.
    pub fn cursor(&self) -> String {
        match &self.slug {
            Some(slug) => self.category.memory(slug).to_string(),
            None => format!("{}/", self.category),
        }
    }

    /// Parses a cursor into its item.
    ///
    /// # Errors
    ///
    /// `INVALID_INPUT` for a text that cannot be a cursor.
    pub fn from_cursor(cursor: &str) -> Result<Self, Error> {
        Self::parse(cursor).ok_or_else(|| Error::invalid_cursor(cursor))
    }

    fn parse(cursor: &str) -> Option<Self> {
        if cursor == "/" {
            return Some(Self { category: CategoryPath::ROOT, slug: None });
        }
        if let Some(category) = cursor.strip_suffix('/') {
            let category = CategoryPath::parse(category).ok()?;
            return Some(Self { category, slug: None });
        }
        let path = MemoryPath::parse(cursor).ok()?;
        Some(Self { category: path.category(), slug: Some(path.slug().to_owned()) })
    }
}

/// Returns the contents of a category as its index lists them. The memories of the root, and the
/// contents of a category whose index is missing or cannot be read, come from the directory.
/// Warnings name entries of the directory that are not listed.
pub(super) fn contents(store: &Store<'_>, category: &CategoryPath) -> Result<Contents, Error> {
    let mut contents = Contents::default();
    let index = usable(store.index(category), &mut contents.warnings)?.flatten();
    let index = index.map(|(index, _)| index);
    let directory = store.directory(category).map_err(ReadError::from);
    let directory = usable(directory, &mut contents.warnings)?.flatten().unwrap_or_default();
    let found = |slug: &str, indexed| Found { path: category.memory(slug), indexed };
    match index.as_ref().filter(|_| !category.is_root()) {
        Some(index) => {
            contents.memories.extend(index.memories().map(|(slug, indexed)| found(slug, indexed)));
            warn_of_unindexed(store, category, index, &directory, &mut contents.warnings)?;
        }
        None => {
            for slug in directory.memories.keys() {
                let path = category.memory(slug);
                // A memory that cannot be read is listed without values, so that somebody notices
                // it.
                let read = store.read(&path, |memory, _| indexed(&memory));
                let indexed = usable(read, &mut contents.warnings)?.flatten().unwrap_or_default();
                contents.memories.push(found(slug, indexed));
            }
        }
    }
    match &index {
        Some(index) => {
            let listed = index
                .subcategories()
                .map(|(segment, indexed)| FoundCategory { path: category.child(segment), indexed });
            contents.subcategories.extend(listed);
            let indexed: BTreeSet<&str> =
                index.subcategories().map(|(segment, _)| segment).collect();
            let segments = directory.subcategories.iter();
            let others = segments.filter(|segment| !indexed.contains(segment.as_str()));
            let warning = |segment: &String| unindexed(&format!("{}/", category.child(segment)));
            contents.warnings.extend(others.map(warning));
        }
        None => {
            for segment in &directory.subcategories {
                let path = category.child(segment);
                let memories = store.directory(&path)?.unwrap_or_default().memories.len() as u64;
                let indexed = IndexedCategory { memory_count: Some(memories), description: None };
                contents.subcategories.push(FoundCategory { path, indexed });
            }
        }
    }
    let misplaced = directory.misplaced.iter();
    contents.warnings.extend(misplaced.map(|entry| entry.warning(category, "listed")));
    Ok(contents)
}

/// Adds a warning for each memory file that is not in the index of its category, for example
/// because a person added it. For a file that cannot be read, the warning is the read error.
fn warn_of_unindexed(
    store: &Store<'_>,
    category: &CategoryPath,
    index: &Index,
    directory: &Directory,
    warnings: &mut Vec<String>,
) -> Result<(), Error> {
    let indexed: BTreeSet<&str> = index.memories().map(|(slug, _)| slug).collect();
    for slug in directory.memories.keys().filter(|slug| !indexed.contains(slug.as_str())) {
        let path = category.memory(slug);
        // If the answer has `MAX_WARNINGS` warnings already, reads no further files: their warnings
        // would be left out.
        if warnings.len() < MAX_WARNINGS
            && usable(store.read(&path, |_, _| ()), warnings)?.is_none()
        {
            continue;
        }
        warnings.push(unindexed(&path.file()));
    }
    Ok(())
}

fn unindexed(path: &str) -> String {
    format!(
        "`{path}` is not in the index of its category, and was not listed: call `reindex_store`"
    )
}

/// Returns the contents of a category and of all categories below it.
pub(super) fn all_contents(store: &Store<'_>, category: &CategoryPath) -> Result<Contents, Error> {
    let mut all = contents(store, category)?;
    let mut next = 0;
    while let Some(found) = all.subcategories.get(next) {
        next += 1;
        if found.path.depth() > MAX_CATEGORY_DEPTH {
            continue;
        }
        let below = contents(store, &found.path)?;
        all.memories.extend(below.memories);
        all.warnings.extend(below.warnings);
        all.subcategories.extend(below.subcategories);
    }
    all.memories.sort_by(|a, b| a.path.cmp(&b.path));
    all.subcategories.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(all)
}

/// The categories and memories of a store, as its directories have them.
#[derive(Default)]
pub(super) struct Items {
    /// All categories and memories, sorted.
    pub items: Vec<Item>,
    /// The entries of each category that are not memories.
    pub others: BTreeMap<CategoryPath, Others>,
}

/// The entries of a category that are not memories.
pub(super) struct Others {
    /// The names of Markdown files that no memory can have.
    pub names: Vec<String>,
    pub misplaced: Vec<Misplaced>,
}

/// Finds all categories and memories of a store in its directories.
pub(super) fn items(store: &Store<'_>) -> Result<Items, Error> {
    let Items { mut items, mut others } = Items::default();
    for (category, directory) in directories(store)? {
        items.push(Item { category: category.clone(), slug: None });
        let memories = directory.memories.into_keys();
        items.extend(memories.map(|slug| Item { category: category.clone(), slug: Some(slug) }));
        let of_category = Others { names: directory.others, misplaced: directory.misplaced };
        others.insert(category, of_category);
    }
    Ok(Items { items, others })
}

/// The files of a store, for a search.
#[derive(Default)]
pub(super) struct Files {
    /// The files of all memories, sorted by category and slug.
    pub files: Vec<(MemoryPath, Status)>,
    /// The categories whose directories were read.
    pub categories: Vec<CategoryPath>,
    /// The entries that could not be searched, each with the reason.
    pub warnings: Vec<String>,
}

/// Finds the files of a store. If the directory of a category cannot be read, leaves it out and
/// adds a warning. For the root, that is an error.
pub(super) fn files(store: &Store<'_>) -> Result<Files, Error> {
    let mut found = Files::default();
    let mut unnamed = Vec::new();
    let mut open = vec![CategoryPath::ROOT];
    while let Some(category) = open.pop() {
        let listed = store.directory(&category).map_err(ReadError::from);
        let directory = match listed {
            Err(ReadError::Unusable(error)) if !category.is_root() => {
                let message = error.message();
                found.warnings.push(format!("category `{category}` was not searched: {message}"));
                continue;
            }
            listed => listed?.unwrap_or_default(),
        };
        if category.depth() < MAX_CATEGORY_DEPTH {
            open.extend(directory.subcategories.iter().map(|segment| category.child(segment)));
        }
        let memories = directory.memories.into_iter();
        found.files.extend(memories.map(|(slug, status)| (category.memory(&slug), status)));
        let misplaced = directory.misplaced.iter();
        found.warnings.extend(misplaced.map(|entry| entry.warning(&category, "searched")));
        let others = directory.others.iter().chain(&directory.other_directories);
        unnamed.extend(others.map(|name| category.child(name).to_string()));
        found.categories.push(category);
    }
    found.warnings.extend(unnamed_warning(unnamed));
    // By category and then by slug, as in maintenance.
    found.files.sort_by_cached_key(|(path, _)| (path.category(), path.slug().to_owned()));
    Ok(found)
}

/// The maximum number of entries that the warning about invalid names lists.
const MAX_UNNAMED: usize = 5;

/// Returns the warning about files and directories whose names cannot be in a path.
fn unnamed_warning(mut names: Vec<String>) -> Option<String> {
    names.sort();
    let (have, was, them) = match names.len() {
        0 => return None,
        1 => ("has a name", "was", "it"),
        _ => ("have names", "were", "them"),
    };
    let names: Vec<String> = names.iter().map(|name| name.escape_debug().to_string()).collect();
    Some(format!(
        "{} {have} that no memory can have, and {was} not searched: rename {them} to lower-case \
         letters, digits and `-`",
        listed(&names, MAX_UNNAMED)
    ))
}

fn directories(store: &Store<'_>) -> Result<BTreeMap<CategoryPath, Directory>, Error> {
    let mut directories = BTreeMap::new();
    let mut open = vec![CategoryPath::ROOT];
    while let Some(category) = open.pop() {
        let directory = store.directory(&category)?.unwrap_or_default();
        if category.depth() < MAX_CATEGORY_DEPTH {
            open.extend(directory.subcategories.iter().map(|segment| category.child(segment)));
        }
        directories.insert(category, directory);
    }
    Ok(directories)
}

/// Returns the metadata of a memory. `None` if the file does not exist. If the file cannot be read,
/// returns empty metadata and adds a warning.
pub(super) fn metadata(
    store: &Store<'_>,
    path: &MemoryPath,
    warnings: &mut Vec<String>,
) -> Result<Option<Metadata>, Error> {
    let read = usable(store.read(path, |memory, _| memory.metadata), warnings)?;
    Ok(read.unwrap_or_else(|| Some(Metadata::default())))
}
