//! The durable commit. It checks, writes and syncs everything before the first rename. So an error
//! before that changes no document, and a crash leaves the first changes of the list, each complete.
//!
//! A person's editor takes no lock. If it saves a document before the commit's last check of the
//! version, the commit fails. If it saves in the moment between that check and the rename, its text is
//! lost.

mod directories;
mod temporary;

use std::collections::BTreeMap;

use agent_memory_storage::{
    Area, Change, CommitError, EntryKind, Error, ErrorCode, already_exists, check_consistent,
    check_count, check_size, version_mismatch,
};

use super::directory::{Directory, File, Found, Metadata};
use super::error::{errno_error, io_error};
use super::mark::Mark;
use super::path;
use super::tree::{Tree, not_a_document};

impl Tree {
    /// Makes the changes like [`Writer::commit`](agent_memory_storage::Writer::commit).
    ///
    /// The caller holds the lock of the place. `is_locked` returns whether it still does. A commit
    /// calls it at the start and again before each rename.
    ///
    /// With [`Durability::Full`], one changed document in an existing directory costs one sync of a
    /// file and one of a directory.
    ///
    /// # Errors
    ///
    /// Those of `Writer::commit`.
    pub fn commit(
        &self,
        changes: &[Change],
        is_locked: &dyn Fn() -> bool,
    ) -> Result<Vec<Option<String>>, CommitError> {
        Attempt::new(self).commit(changes, is_locked)
    }

    /// Makes the changes for a plugin: a host in WASI, without locks. It took the place over with
    /// `mark`.
    ///
    /// An earlier plugin may be suspended within a commit and resume later. So the commit first removes
    /// the temporary files of other plugins from the directories that it changes. Their names have the
    /// number of their plugin.
    ///
    /// # Errors
    ///
    /// Those of `Writer::commit`, and of [`Mark::check`].
    pub fn commit_as_plugin(
        &self,
        changes: &[Change],
        mark: &Mark,
    ) -> Result<Vec<Option<String>>, CommitError> {
        Attempt { mark: Some(mark), ..Attempt::new(self) }.commit(changes, &|| true)
    }
}

/// A directory: an area, and the names from the existing directory of the area's `Base`.
type Location<'a> = (Area, Vec<&'a str>);

struct Step<'a> {
    change: &'a Change,
    parent: Location<'a>,
    name: &'a str,
    /// The directory and the name of the document whose version is checked: of a copy or a rename, the
    /// source.
    checked: (Location<'a>, &'a str),
    temporary: String,
    /// Whether the temporary file may exist, so that a failed commit has to remove it.
    written: bool,
    /// Whether the temporary file of a backup is a hard link to the document, not a copy.
    linked: bool,
    /// The metadata of the document when its version was checked.
    found: Option<Metadata>,
    /// The version of the document at that check.
    found_version: Option<String>,
    /// Whether the change replaces a document.
    replaces: bool,
    /// The new version, once it is known. `None` for a deletion.
    version: Option<String>,
}

struct Attempt<'a> {
    tree: &'a Tree,
    /// The mark of the plugin that commits. `None` for a host that has locks.
    mark: Option<&'a Mark>,
    steps: Vec<Step<'a>>,
    /// The index of the change that an error is about. `None`: an error is about the whole commit.
    current: Option<usize>,
    applied: usize,
    open: BTreeMap<Location<'a>, Directory>,
    /// The created directories, each after its parent.
    made: Vec<Location<'a>>,
    /// The directories to sync, in order.
    touched: Vec<Location<'a>>,
    /// The index and the new contents of the last prepared change, if it is an edit.
    edited: Option<(usize, Vec<u8>)>,
}

impl<'a> Attempt<'a> {
    fn new(tree: &'a Tree) -> Self {
        Attempt {
            tree,
            mark: None,
            steps: Vec::new(),
            current: None,
            applied: 0,
            open: BTreeMap::new(),
            made: Vec::new(),
            touched: Vec::new(),
            edited: None,
        }
    }

    /// Makes the changes. The caller holds the lock as long as `is_locked` returns true.
    fn commit(
        mut self,
        changes: &'a [Change],
        is_locked: &dyn Fn() -> bool,
    ) -> Result<Vec<Option<String>>, CommitError> {
        let location = self.tree.layout().location();
        match self.run(changes, is_locked) {
            Ok(()) => {
                if let Some((index, contents)) = self.edited
                    && let Some(version) = &self.steps[index].version
                {
                    self.tree.cache().put(contents, version);
                }
                Ok(self.steps.into_iter().map(|step| step.version).collect())
            }
            Err(failed) => {
                // Another plugin that took the place over may have removed temporary files, so that any
                // step fails. Report the takeover, not the missing file.
                let taken = self.mark.and_then(|mark| mark.check(location).err());
                if taken.is_some() {
                    self.current = None;
                }
                let error = taken.unwrap_or(failed);
                self.clean_up();
                Err(CommitError {
                    error,
                    change: self.current.map(|index| index as u32),
                    applied: self.applied as u32,
                })
            }
        }
    }

    fn run(&mut self, changes: &'a [Change], is_locked: &dyn Fn() -> bool) -> Result<(), Error> {
        self.check_lock(is_locked)?;
        self.plan(changes)?;
        if let Some(mark) = self.mark {
            self.remove_temporaries_of_others(mark)?;
        }
        self.each(Self::check_version)?;
        self.each(Self::make_directories)?;
        self.each(Self::write_temporary)?;
        for index in 0..self.steps.len() {
            // Writing, syncing and many renames take long. If the lock was removed meanwhile, or
            // another plugin has taken the place over, another writer may be at work.
            self.check_lock(is_locked)?;
            self.current = Some(index);
            self.apply(index)?;
        }
        self.current = None;
        self.remove_emptied();
        self.sync_directories()
    }

    fn check_lock(&mut self, is_locked: &dyn Fn() -> bool) -> Result<(), Error> {
        let location = self.tree.layout().location();
        let checked = match self.mark {
            Some(mark) => mark.check(location),
            None if is_locked() => Ok(()),
            None => Err(Error::new(
                ErrorCode::Io,
                format!("the lock of `{location}` was removed while it was held: try again"),
            )),
        };
        if checked.is_err() {
            self.current = None;
        }
        checked
    }

    /// Removes the temporary files of other plugins from the directories of the documents. Without its
    /// temporary files, a suspended plugin cannot replace the documents when it resumes.
    fn remove_temporaries_of_others(&mut self, mark: &Mark) -> Result<(), Error> {
        self.current = None;
        let place = self.tree.layout().location();
        for index in 0..self.steps.len() {
            let Step { parent, checked, .. } = &self.steps[index];
            for location in [parent.clone(), checked.0.clone()] {
                if let Some(directory) = self.directory(&location)? {
                    mark.clean(&directory, location.0, &location.1.join("/"), place)?;
                }
            }
        }
        Ok(())
    }

    fn each(&mut self, stage: fn(&mut Self, usize) -> Result<(), Error>) -> Result<(), Error> {
        for index in 0..self.steps.len() {
            self.current = Some(index);
            stage(self, index)?;
        }
        Ok(())
    }

    fn plan(&mut self, changes: &'a [Change]) -> Result<(), Error> {
        check_count(changes)?;
        for (index, change) in changes.iter().enumerate() {
            self.current = Some(index);
            let area = change.area();
            let (parent, name) = self.locate(area, change.path())?;
            let version = match change {
                Change::Put { path, contents, .. } => {
                    check_size(path, contents.len() as u64)?;
                    None
                }
                Change::Edit { .. } | Change::Delete { .. } => None,
                Change::Copy { expects, .. } | Change::Rename { expects, .. } => {
                    Some(expects.clone())
                }
            };
            self.steps.push(Step {
                change,
                parent,
                name,
                checked: self.locate(area, change.checked_path())?,
                temporary: match self.mark {
                    None => path::temporary(name),
                    Some(mark) => path::temporary_of_plugin(name, mark.number()),
                },
                written: false,
                linked: false,
                found: None,
                found_version: None,
                replaces: false,
                version,
            });
        }
        check_consistent(changes).map_err(|(index, error)| {
            self.current = Some(index);
            error
        })
    }

    fn locate(&self, area: Area, path: &'a str) -> Result<(Location<'a>, &'a str), Error> {
        let segments = self.tree.segments(area, path)?;
        let (name, parents) = segments.split_last().expect("a path has a segment");
        let tree = self.tree;
        Ok(((area, tree.base(area).way_to(parents)), name))
    }

    fn check_version(&mut self, index: usize) -> Result<(), Error> {
        let change = self.steps[index].change;
        let version = match self.open_checked(index)? {
            None => None,
            Some((file, metadata)) => {
                self.steps[index].found = Some(metadata);
                match self.version_found(index) {
                    Some(version) => Some(version),
                    None => {
                        let read = self.tree.cache().version_of_all(file);
                        let attempt = || format!("read `{}`", change.checked_path());
                        Some(read.map_err(|error| io_error(&error, &attempt()))?)
                    }
                }
            }
        };
        self.steps[index].found_version.clone_from(&version);
        if version.as_deref() != change.expects() {
            return Err(version_mismatch(change.checked_path()));
        }
        self.steps[index].replaces = match change {
            Change::Copy { .. } | Change::Rename { .. } => self.check_target(index)?,
            Change::Put { .. } | Change::Edit { .. } | Change::Delete { .. } => version.is_some(),
        };
        Ok(())
    }

    /// The version that an earlier change of this commit found for the same document, which saves
    /// hashing it again. A backup and the change that replaces the document both check its version.
    fn version_found(&self, index: usize) -> Option<String> {
        let (earlier, rest) = self.steps.split_at(index);
        let same =
            |step: &&Step<'_>| step.checked == rest[0].checked && step.found == rest[0].found;
        earlier.iter().find(same)?.found_version.clone()
    }

    /// Opens the document whose version the change expects. `None` if the document is missing.
    fn open_checked(&mut self, index: usize) -> Result<Option<(File, Metadata)>, Error> {
        let change = self.steps[index].change;
        let path = change.checked_path();
        let (parent, name) = self.steps[index].checked.clone();
        let Some(parent) = self.directory(&parent)? else {
            return Ok(None);
        };
        let found = parent.open_file(name);
        match found.map_err(|errno| errno_error(errno, &format!("read `{path}`")))? {
            Found::Nothing => Ok(None),
            Found::SomethingElse => Err(not_a_document(path)),
            Found::File(file, metadata) => {
                if matches!(change, Change::Copy { .. } | Change::Edit { .. }) {
                    check_size(change.path(), metadata.size)?;
                }
                Ok(Some((file, metadata)))
            }
        }
    }

    /// Whether a document exists at the new path. A copy may replace it, whatever its version. A rename
    /// may not: then this fails.
    fn check_target(&mut self, index: usize) -> Result<bool, Error> {
        let Step { change, name, .. } = self.steps[index];
        let path = change.path();
        let Some(parent) = self.directory(&self.steps[index].parent.clone())? else {
            return Ok(false);
        };
        let found = parent.metadata(name);
        match found.map_err(|errno| errno_error(errno, &format!("write `{path}`")))? {
            None => Ok(false),
            Some(_) if matches!(change, Change::Rename { .. }) => Err(already_exists(path)),
            Some(found) if found.kind != EntryKind::File => Err(not_a_document(path)),
            Some(_) => Ok(true),
        }
    }

    fn apply(&mut self, index: usize) -> Result<(), Error> {
        if let Change::Rename { .. } = self.steps[index].change {
            return self.rename(index);
        }
        let location = self.steps[index].parent.clone();
        let parent = self.existing(&location)?;
        let step = &mut self.steps[index];
        let path = step.change.path();
        let failed = |errno| errno_error(errno, &format!("change `{path}`"));
        // The document may have changed since its version was checked. A backup that is a hard link is
        // checked, too: an editor that writes in place changes it as well.
        let checked = match step.change {
            Change::Put { .. } | Change::Edit { .. } | Change::Delete { .. } => Some(step.name),
            Change::Copy { .. } => step.linked.then_some(step.temporary.as_str()),
            Change::Rename { .. } => unreachable!("renamed otherwise"),
        };
        if let Some(checked) = checked
            && parent.metadata(checked).map_err(failed)? != step.found
        {
            return Err(version_mismatch(step.change.checked_path()));
        }
        // If an earlier commit crashed between its two renames, the document and its backup are one
        // file. A rename between two names of one file does nothing, so remove the temporary name.
        let is_there = step.linked && parent.metadata(step.name).map_err(failed)? == step.found;
        if step.change.is_delete() {
            parent.remove_file(step.name)
        } else if is_there {
            parent.remove_file(&step.temporary)
        } else {
            parent.rename(&step.temporary, &parent, step.name)
        }
        .map_err(failed)?;
        step.written = false;
        self.applied += 1;
        self.touch(location);
        Ok(())
    }

    fn rename(&mut self, index: usize) -> Result<(), Error> {
        let (target, (source, name)) =
            (self.steps[index].parent.clone(), self.steps[index].checked.clone());
        let from = self.existing(&source)?;
        let to = self.existing(&target)?;
        let step = &self.steps[index];
        let failed =
            |errno| errno_error(errno, &format!("rename `{}`", step.change.checked_path()));
        if from.metadata(name).map_err(failed)? != step.found {
            return Err(version_mismatch(step.change.checked_path()));
        }
        if to.metadata(step.name).map_err(failed)?.is_some() {
            return Err(already_exists(step.change.path()));
        }
        from.rename(name, &to, step.name).map_err(failed)?;
        self.applied += 1;
        self.touch(target);
        self.touch(source);
        Ok(())
    }

    /// Removes temporary files and new directories, and syncs the changes that were made. Ignores
    /// errors: the caller reports the error that ended the commit.
    fn clean_up(&mut self) {
        for index in 0..self.steps.len() {
            if self.steps[index].written
                && let Ok(parent) = self.existing(&self.steps[index].parent.clone())
            {
                let _ = parent.remove_file(&self.steps[index].temporary);
            }
        }
        for (area, way) in std::mem::take(&mut self.made).into_iter().rev() {
            let (name, parents) = way.split_last().expect("a base is not made");
            if let Ok(parent) = self.existing(&(area, parents.to_vec())) {
                // Fails if the directory is not empty: a change that was made, or a person, put a file
                // there.
                let _ = parent.remove_directory(name);
            }
        }
        if self.applied > 0 {
            let _ = self.sync_directories();
        }
    }
}

#[cfg(test)]
mod tests;
