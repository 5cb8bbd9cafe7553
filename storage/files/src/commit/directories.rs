//! The directories that a commit opens, makes, removes and syncs.

use std::collections::BTreeSet;

use agent_memory_storage::{Change, Error};

use super::{Attempt, Location};
use crate::base::obstacle;
use crate::directory::Directory;
use crate::durability::Durability;
use crate::errno::Errno;
use crate::error::errno_error;

/// The maximum number of open directories during a commit: a process may open few files.
const MAX_OPEN_DIRECTORIES: usize = 64;

impl<'a> Attempt<'a> {
    /// Makes the directories that the document of a change needs.
    pub(super) fn make_directories(&mut self, index: usize) -> Result<(), Error> {
        if self.steps[index].change.is_delete() {
            return Ok(());
        }
        let mode = if self.tree.layout().is_private() { 0o700 } else { 0o777 };
        let (area, way) = self.steps[index].parent.clone();
        for depth in 0..way.len() {
            let location = (area, way[..=depth].to_vec());
            if self.directory(&location)?.is_some() {
                continue;
            }
            let parent = (area, way[..depth].to_vec());
            match self.existing(&parent)?.create_directory(way[depth], mode) {
                Ok(()) => {
                    self.made.push(location);
                    self.touch(parent);
                }
                // Another program created the directory just now.
                Err(Errno::EXIST) => {}
                Err(errno) => {
                    let shown = way[..=depth].join("/");
                    return Err(errno_error(errno, &format!("create the directory `{shown}`")));
                }
            }
        }
        Ok(())
    }

    /// Removes the directories that deletions and renames have emptied, and then their empty parents,
    /// so that a later document can have the path of such a directory. A directory that cannot be
    /// removed stays, without an error.
    pub(super) fn remove_emptied(&mut self) {
        let emptied = self.steps.iter().filter_map(|step| match step.change {
            Change::Delete { .. } => Some(step.parent.clone()),
            Change::Rename { .. } => Some(step.checked.0.clone()),
            Change::Put { .. } | Change::Edit { .. } | Change::Copy { .. } => None,
        });
        let emptied: BTreeSet<Location<'a>> = emptied.collect();
        for (area, mut way) in emptied.into_iter().rev() {
            while way.len() > self.tree.base(area).names.len() {
                let location = (area, way.clone());
                let Some(name) = way.pop() else { break };
                let parent = (area, way.clone());
                self.open.remove(&location);
                let Ok(directory) = self.existing(&parent) else { break };
                if directory.remove_directory(name).is_err() {
                    break;
                }
                self.touched.retain(|touched| *touched != location);
                self.touch(parent);
            }
        }
    }

    /// Syncs the directories in which names have changed. Skips a directory that another program has
    /// removed since, because it was empty: the commit still succeeds.
    pub(super) fn sync_directories(&mut self) -> Result<(), Error> {
        if self.tree.durability() == Durability::Relaxed {
            return Ok(());
        }
        for location in std::mem::take(&mut self.touched) {
            let Some(directory) = self.directory(&location)? else { continue };
            let shown = location.1.join("/");
            let failed = |errno| errno_error(errno, &format!("sync the directory `{shown}`"));
            directory.sync().map_err(failed)?;
        }
        Ok(())
    }

    /// Remembers a directory to sync.
    pub(super) fn touch(&mut self, location: Location<'a>) {
        if !self.touched.contains(&location) {
            self.touched.push(location);
        }
    }

    /// Opens the directory, or takes the open one. `None` if it or one of its parents is missing.
    pub(super) fn directory(
        &mut self,
        location: &Location<'a>,
    ) -> Result<Option<Directory>, Error> {
        let (area, way) = location;
        let Some((name, parents)) = way.split_last() else {
            return Ok(Some(self.tree.base(*area).directory.clone()));
        };
        if let Some(open) = self.open.get(location) {
            return Ok(Some(open.clone()));
        }
        let Some(parent) = self.directory(&(*area, parents.to_vec()))? else {
            return Ok(None);
        };
        match parent.child(*name) {
            Ok(directory) => {
                if self.open.len() >= MAX_OPEN_DIRECTORIES {
                    self.open.clear();
                }
                self.open.insert(location.clone(), directory.clone());
                Ok(Some(directory))
            }
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(obstacle(errno, way)),
        }
    }

    /// Opens a directory that has to exist.
    ///
    /// # Errors
    ///
    /// `io` if the directory is missing; those of [`directory`](Self::directory).
    pub(super) fn existing(&mut self, location: &Location<'a>) -> Result<Directory, Error> {
        let missing = || obstacle(Errno::NOENT, &location.1);
        self.directory(location)?.ok_or_else(missing)
    }
}
