//! Plans the changes of memories and of the indexes that list them.
//!
//! Memories are changed first, and then the indexes, from the deepest category up to the root. So a
//! crash leaves at most indexes that are out of date. The next change in the category corrects
//! them.

use std::collections::{BTreeMap, BTreeSet};

use super::error::Error;
use super::index::{Index, IndexedMemory, Wanted, indexed, new_text};
use super::intent::Step;
use super::path::{CategoryPath, MemoryPath};
use super::store::{Directory, ReadError, Store, Text};
use crate::storage::Splice;
use crate::yaml::NewEntry;

/// The maximum number of files of a category that a plan reads because the index lacks them.
const MAX_MENDED: usize = 100;

pub(super) struct Plan<'s> {
    store: &'s Store<'s>,
    memories: Vec<Step>,
    categories: BTreeMap<CategoryPath, Work>,
    /// Whether the plan rebuilds indexes. Then an index that cannot be read gives a warning instead
    /// of an error.
    is_rebuild: bool,
    pub warnings: Vec<String>,
}

/// The changes of a plan in one category.
#[derive(Default)]
struct Work {
    /// The memories of this category that the plan changes, by slug. If this is `Some`, even if
    /// empty, the plan also compares the category's index with its directory.
    memories: Option<BTreeMap<String, Touch>>,
    /// Keys of other programs for the index items of memories that are moved here, by slug.
    more: BTreeMap<String, Vec<NewEntry>>,
    /// Subcategories that the index must list, with their number of memories if it was counted.
    subcategories: BTreeMap<String, Option<u64>>,
}

/// The state of a memory after the plan.
#[derive(Clone, Copy)]
enum Touch {
    Present(IndexedMemory),
    Gone,
}

/// The changes and the warnings of a finished plan.
pub(super) struct Finished {
    pub changes: Vec<Step>,
    pub warnings: Vec<String>,
}

impl<'s> Plan<'s> {
    pub fn new(store: &'s Store<'s>, warnings: Vec<String>) -> Self {
        Self {
            store,
            memories: Vec::new(),
            categories: BTreeMap::new(),
            is_rebuild: false,
            warnings,
        }
    }

    /// Makes this plan a rebuild, see [`Plan::is_rebuild`].
    pub fn rebuild(&mut self) {
        self.is_rebuild = true;
    }

    pub fn create(&mut self, path: &MemoryPath, text: String, indexed: IndexedMemory) {
        self.touch(path, Touch::Present(indexed));
        self.memories.push(Step::create(path.file(), text));
    }

    pub fn edit(
        &mut self,
        path: &MemoryPath,
        before: &Text,
        splices: Vec<Splice>,
        indexed: IndexedMemory,
    ) {
        self.touch(path, Touch::Present(indexed));
        self.memories.push(Step::edit(path.file(), &before.text, &before.version, splices));
    }

    pub fn delete(&mut self, path: &MemoryPath, version: String) {
        self.touch(path, Touch::Gone);
        self.memories.push(Step::Delete { path: path.file(), before: version });
    }

    /// Renames a memory and moves its index item. The new item keeps the keys that other programs
    /// added.
    ///
    /// # Errors
    ///
    /// The index of the old category cannot be read.
    pub fn rename(
        &mut self,
        from: &MemoryPath,
        to: &MemoryPath,
        version: String,
        indexed: IndexedMemory,
    ) -> Result<(), Error> {
        let index = self.store.index(&from.category())?;
        let more = index.map(|(index, _)| index.more_of(from.slug())).unwrap_or_default();
        self.touch(from, Touch::Gone);
        self.touch(to, Touch::Present(indexed));
        let work = self.categories.entry(to.category()).or_default();
        work.more.insert(to.slug().to_owned(), more);
        self.memories.push(Step::Rename { from: from.file(), to: to.file(), version });
        Ok(())
    }

    /// Sets the values that the index lists for a memory.
    pub fn index(&mut self, path: &MemoryPath, indexed: IndexedMemory) {
        self.touch(path, Touch::Present(indexed));
    }

    /// Corrects the index of a category by comparing it with the category's directory.
    pub fn mend(&mut self, category: &CategoryPath) {
        self.work(category);
    }

    fn touch(&mut self, path: &MemoryPath, touch: Touch) {
        self.work(&path.category()).insert(path.slug().to_owned(), touch);
    }

    fn work(&mut self, category: &CategoryPath) -> &mut BTreeMap<String, Touch> {
        self.categories.entry(category.clone()).or_default().memories.get_or_insert_default()
    }

    /// Plans the changes of the indexes, and returns all changes.
    ///
    /// # Errors
    ///
    /// `CORRUPTED_DATA` if an index cannot be read or changed.
    pub fn finish(mut self) -> Result<Finished, Error> {
        let mut indexes = Vec::new();
        while let Some(category) = self.categories.keys().max_by_key(|path| path.depth()).cloned() {
            let work = self.categories.remove(&category).unwrap_or_default();
            let planned = self.plan_index(&category, &work);
            let (step, count) = match planned {
                Err(ReadError::Unusable(error)) if self.is_rebuild => {
                    self.warnings.push(error.message().to_owned());
                    continue;
                }
                planned => planned?,
            };
            indexes.extend(step);
            let is_there = count.is_some() || work.memories.is_none();
            if let Some(parent) = category.parent().filter(|_| is_there) {
                let segment = category.segment().to_owned();
                let above = self.categories.entry(parent).or_default();
                above.subcategories.insert(segment, count);
            }
        }
        self.memories.extend(indexes);
        Ok(Finished { changes: self.memories, warnings: self.warnings })
    }

    /// Plans the change of one index. Returns the change, or `None` if the index needs none. Also
    /// returns the number of memories of the category, if they were counted.
    fn plan_index(
        &mut self,
        category: &CategoryPath,
        work: &Work,
    ) -> Result<(Option<Step>, Option<u64>), ReadError> {
        let index = self.store.index(category)?;
        let mut wanted = Wanted { more: work.more.clone(), ..Wanted::default() };
        let mut count = None;
        if work.memories.is_some() || index.is_none() {
            let none = BTreeMap::new();
            let touched = work.memories.as_ref().unwrap_or(&none);
            let is_new = touched.values().any(|touch| matches!(touch, Touch::Present(_)))
                || !work.subcategories.is_empty();
            let Some(directory) =
                self.store.directory(category)?.or_else(|| is_new.then(Directory::default))
            else {
                return Ok((None, None));
            };
            let of_index = index.as_ref().map(|(index, _)| index);
            let slugs = slugs(&directory, touched);
            count = Some(slugs.len() as u64);
            // The root's index lists no memories, because the program of spec 003 cannot read a
            // memory in the root.
            if !category.is_root() {
                wanted.memories = Some(self.memories_of(category, of_index, &slugs, touched)?);
            }
            let known = |segment: &str| {
                work.subcategories.contains_key(segment)
                    || of_index.is_some_and(|index| index.has_subcategory(segment))
            };
            for segment in directory.subcategories.iter().filter(|segment| !known(segment)) {
                wanted.counts.insert(segment.clone(), self.count(&category.child(segment))?);
            }
            let all = directory.subcategories.into_iter().chain(work.subcategories.keys().cloned());
            wanted.subcategories = Some(all.collect());
        }
        for (segment, count) in &work.subcategories {
            let is_known = index.as_ref().is_some_and(|(index, _)| index.has_subcategory(segment));
            match count {
                Some(count) => drop(wanted.counts.insert(segment.clone(), *count)),
                None if is_known => {}
                None => {
                    wanted.counts.insert(segment.clone(), self.count(&category.child(segment))?);
                }
            }
        }
        let path = category.index();
        let step = match index {
            None => Some(Step::create(path, new_text(category, &wanted))),
            Some((index, Text { text, version })) => {
                let splices = index
                    .change(category, &text, &wanted)
                    .map_err(|error| ReadError::Unusable(Error::damaged_index(&path, &error)))?;
                (!splices.is_empty()).then(|| Step::edit(path, &text, &version, splices))
            }
        };
        Ok((step, count))
    }

    /// Returns the memories that an index should list, with `None` for unchanged values. Reads the
    /// files of memories that the index lacks.
    fn memories_of(
        &mut self,
        category: &CategoryPath,
        index: Option<&Index>,
        slugs: &BTreeSet<String>,
        touched: &BTreeMap<String, Touch>,
    ) -> Result<BTreeMap<String, Option<IndexedMemory>>, ReadError> {
        let mut memories = BTreeMap::new();
        let mut read = 0;
        let mut left = 0;
        for slug in slugs {
            let values = match touched.get(slug) {
                Some(Touch::Present(values)) => Some(*values),
                _ if index.is_some_and(|index| index.has_memory(slug)) => None,
                _ if self.is_rebuild || read == MAX_MENDED => {
                    left += 1;
                    continue;
                }
                _ => {
                    read += 1;
                    match self.indexed(&category.memory(slug))? {
                        None => continue,
                        found => found,
                    }
                }
            };
            memories.insert(slug.clone(), values);
        }
        if left > 0 && !self.is_rebuild {
            self.warnings.push(format!(
                "{left} more files in `{category}` are not in its index: call `reindex_store`"
            ));
        }
        Ok(memories)
    }

    /// Reads the values for the index from a memory's file. `None` if the file is missing. If the
    /// file cannot be read, returns `None` and adds a warning.
    fn indexed(&mut self, path: &MemoryPath) -> Result<Option<IndexedMemory>, ReadError> {
        match self.store.read(path, |memory, _| indexed(&memory)) {
            Err(ReadError::Unusable(error)) => {
                self.warnings.push(format!("{}; it is not in the index", error.message()));
                Ok(None)
            }
            read => read,
        }
    }

    fn count(&self, category: &CategoryPath) -> Result<u64, ReadError> {
        let directory = self.store.directory(category)?;
        Ok(directory.map_or(0, |directory| directory.memories.len() as u64))
    }
}

/// Returns the slugs of the memories that a category has after the plan.
fn slugs(directory: &Directory, touched: &BTreeMap<String, Touch>) -> BTreeSet<String> {
    let mut slugs: BTreeSet<String> = directory.memories.keys().cloned().collect();
    for (slug, touch) in touched {
        match touch {
            Touch::Present(_) => slugs.insert(slug.clone()),
            Touch::Gone => slugs.remove(slug),
        };
    }
    slugs
}
