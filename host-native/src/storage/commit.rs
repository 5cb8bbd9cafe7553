//! The durable commit: all is checked, written and synced before the first rename, so that a crash
//! leaves a prefix of the changes, and a failure before it leaves nothing.
//!
//! A person's editor takes no lock. What it saves before the last look at a document is found by
//! the version; what it saves between that look and the rename, a moment later, is lost.

mod temporary;

use super::change::{Change, CommitError, check_consistent};
use super::directory::{Directory, Found, Kind, Stamp};
use super::tree::{Side, Tree, not_a_document, obstacle};
use super::{Durability, Error, ErrorCode, MAX_CHANGES, MAX_DOCUMENT_BYTES, path};
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::fs::File;

/// So many directories are kept open during a commit: a process may not open many more files.
const MAX_OPEN_DIRECTORIES: usize = 64;

/// Makes the changes; the caller holds the lock, as long as `is_locked` says so.
pub(super) fn commit(
    tree: &Tree,
    changes: &[Change],
    is_locked: &dyn Fn() -> bool,
) -> Result<Vec<String>, CommitError> {
    let mut attempt = Attempt::new(tree);
    match attempt.run(changes, is_locked) {
        Ok(()) => {
            if let Some((index, contents)) = attempt.edited {
                tree.0.storage.kept.keep(contents, &attempt.steps[index].version);
            }
            Ok(attempt.steps.into_iter().map(|step| step.version).collect())
        }
        Err(error) => {
            attempt.clean_up();
            Err(CommitError {
                error,
                change: attempt.current.map(|index| index as u32),
                applied: attempt.applied as u32,
            })
        }
    }
}

/// A directory: a side, and the names from its base.
type Location<'a> = (Side, Vec<&'a str>);

struct Step<'a> {
    change: &'a Change,
    parent: Location<'a>,
    name: &'a str,
    /// The directory and the name of the document whose version is checked.
    checked: (Location<'a>, &'a str),
    temporary: String,
    /// Whether the temporary file may be there.
    written: bool,
    /// Whether that is the document itself under another name.
    linked: bool,
    /// What the check of the version found.
    found: Option<Stamp>,
    /// The version that it found.
    found_version: Option<String>,
    /// The new version, once it is known; empty for a deletion.
    version: String,
}

struct Attempt<'a> {
    tree: &'a Tree,
    steps: Vec<Step<'a>>,
    /// The change that is worked on.
    current: Option<usize>,
    applied: usize,
    open: BTreeMap<Location<'a>, Directory>,
    /// The directories made, each after the one that holds it.
    made: Vec<Location<'a>>,
    /// The directories to sync, in order.
    touched: Vec<Location<'a>>,
    /// The change that was made ready last, where it is an edit, and what it makes of its document.
    edited: Option<(usize, Vec<u8>)>,
}

impl<'a> Attempt<'a> {
    fn new(tree: &'a Tree) -> Self {
        Attempt {
            tree,
            steps: Vec::new(),
            current: None,
            applied: 0,
            open: BTreeMap::new(),
            made: Vec::new(),
            touched: Vec::new(),
            edited: None,
        }
    }

    fn run(&mut self, changes: &'a [Change], is_locked: &dyn Fn() -> bool) -> Result<(), Error> {
        self.check_lock(is_locked)?;
        self.plan(changes)?;
        self.each(Self::check_version)?;
        self.each(Self::make_directories)?;
        self.each(Self::write_temporary)?;
        // Writing and syncing takes long: who removed the lock meanwhile let another writer in.
        self.check_lock(is_locked)?;
        self.each(Self::apply)?;
        self.current = None;
        self.sync_directories()
    }

    fn check_lock(&mut self, is_locked: &dyn Fn() -> bool) -> Result<(), Error> {
        if is_locked() {
            return Ok(());
        }
        self.current = None;
        let location = self.tree.location();
        Err(Error::new(
            ErrorCode::Io,
            format!("the lock of `{location}` was removed while it was held: try again"),
        ))
    }

    fn each(&mut self, stage: fn(&mut Self, usize) -> Result<(), Error>) -> Result<(), Error> {
        for index in 0..self.steps.len() {
            self.current = Some(index);
            stage(self, index)?;
        }
        Ok(())
    }

    fn plan(&mut self, changes: &'a [Change]) -> Result<(), Error> {
        if changes.len() > MAX_CHANGES {
            return Err(Error::new(
                ErrorCode::TooLarge,
                format!("a commit of more than {MAX_CHANGES} changes: split it"),
            ));
        }
        for (index, change) in changes.iter().enumerate() {
            self.current = Some(index);
            let side = change.side();
            let (parent, name) = self.locate(side, change.path())?;
            let version = match change {
                Change::Put { path, contents, .. } => {
                    check_size(path, contents.len() as u64)?;
                    String::new()
                }
                Change::Edit { .. } | Change::Delete { .. } => String::new(),
                Change::Copy { expects, .. } => expects.clone(),
            };
            self.steps.push(Step {
                change,
                parent,
                name,
                checked: self.locate(side, change.checked_path())?,
                temporary: path::temporary(name),
                written: false,
                linked: false,
                found: None,
                found_version: None,
                version,
            });
        }
        check_consistent(changes).map_err(|(index, error)| {
            self.current = Some(index);
            error
        })
    }

    fn locate(&self, side: Side, path: &'a str) -> Result<(Location<'a>, &'a str), Error> {
        let segments = self.tree.segments(side, path)?;
        let (name, parents) = segments.split_last().expect("a path has a segment");
        let tree = self.tree;
        Ok(((side, tree.base(side).way_to(parents)), name))
    }

    fn check_version(&mut self, index: usize) -> Result<(), Error> {
        let change = self.steps[index].change;
        let version = match self.open_checked(index)? {
            None => None,
            Some((file, stamp)) => {
                self.steps[index].found = Some(stamp);
                match self.version_found(index) {
                    Some(version) => Some(version),
                    None => {
                        let read = self.tree.0.storage.kept.version_of_all(file);
                        let attempt = || format!("read `{}`", change.checked_path());
                        Some(read.map_err(|error| Error::from_io(&error, &attempt()))?)
                    }
                }
            }
        };
        self.steps[index].found_version.clone_from(&version);
        if version.as_deref() != change.expects() {
            return Err(version_mismatch(change.checked_path()));
        }
        match change {
            Change::Copy { .. } => self.check_target(index),
            Change::Put { .. } | Change::Edit { .. } | Change::Delete { .. } => Ok(()),
        }
    }

    /// What an earlier change that looks at the same document found, as a backup and what replaces
    /// the document do.
    fn version_found(&self, index: usize) -> Option<String> {
        let (earlier, rest) = self.steps.split_at(index);
        let same =
            |step: &&Step<'_>| step.checked == rest[0].checked && step.found == rest[0].found;
        earlier.iter().find(same)?.found_version.clone()
    }

    /// Opens the document whose version the change expects.
    fn open_checked(&mut self, index: usize) -> Result<Option<(File, Stamp)>, Error> {
        let change = self.steps[index].change;
        let path = change.checked_path();
        let (parent, name) = self.steps[index].checked.clone();
        let Some(parent) = self.directory(&parent)? else {
            return Ok(None);
        };
        let found = parent.open_file(name);
        match found.map_err(|errno| Error::from_errno(errno, &format!("read `{path}`")))? {
            Found::Nothing => Ok(None),
            Found::SomethingElse => Err(not_a_document(path)),
            Found::File(file, stamp) => {
                if matches!(change, Change::Copy { .. } | Change::Edit { .. }) {
                    check_size(change.path(), stamp.size)?;
                }
                Ok(Some((file, stamp)))
            }
        }
    }

    /// Whatever version a copy replaces, it has to be a document.
    fn check_target(&mut self, index: usize) -> Result<(), Error> {
        let Step { change, name, .. } = self.steps[index];
        let path = change.path();
        let Some(parent) = self.directory(&self.steps[index].parent.clone())? else {
            return Ok(());
        };
        let found = parent.stamp(name);
        match found.map_err(|errno| Error::from_errno(errno, &format!("write `{path}`")))? {
            Some(stamp) if stamp.kind != Kind::File => Err(not_a_document(path)),
            _ => Ok(()),
        }
    }

    fn make_directories(&mut self, index: usize) -> Result<(), Error> {
        if self.steps[index].change.is_delete() {
            return Ok(());
        }
        let mode = if self.tree.0.private { 0o700 } else { 0o777 };
        let (side, way) = self.steps[index].parent.clone();
        for depth in 0..way.len() {
            let location = (side, way[..=depth].to_vec());
            if self.directory(&location)?.is_some() {
                continue;
            }
            let parent = (side, way[..depth].to_vec());
            match self.existing(&parent)?.create_directory(way[depth], mode) {
                Ok(()) => {
                    self.made.push(location);
                    self.touch(parent);
                }
                // A person made it just now.
                Err(Errno::EXIST) => {}
                Err(errno) => {
                    let shown = way[..=depth].join("/");
                    return Err(Error::from_errno(
                        errno,
                        &format!("create the directory `{shown}`"),
                    ));
                }
            }
        }
        Ok(())
    }

    fn apply(&mut self, index: usize) -> Result<(), Error> {
        let location = self.steps[index].parent.clone();
        let parent = self.existing(&location)?;
        let step = &mut self.steps[index];
        let path = step.change.path();
        let failed = |errno| Error::from_errno(errno, &format!("change `{path}`"));
        // An editor that writes in place has changed what is linked.
        let checked = match step.change {
            Change::Put { .. } | Change::Edit { .. } | Change::Delete { .. } => Some(step.name),
            Change::Copy { .. } => step.linked.then_some(step.temporary.as_str()),
        };
        if let Some(checked) = checked
            && parent.stamp(checked).map_err(failed)? != step.found
        {
            return Err(version_mismatch(step.change.checked_path()));
        }
        // After a crash between the two, document and backup are one file. Renaming one name of a
        // file to another does nothing.
        let is_there = step.linked && parent.stamp(step.name).map_err(failed)? == step.found;
        if step.change.is_delete() {
            parent.remove_file(step.name)
        } else if is_there {
            parent.remove_file(&step.temporary)
        } else {
            parent.rename(&step.temporary, step.name)
        }
        .map_err(failed)?;
        step.written = false;
        self.applied += 1;
        self.touch(location);
        Ok(())
    }

    fn sync_directories(&mut self) -> Result<(), Error> {
        if self.tree.0.storage.options.durability == Durability::Relaxed {
            return Ok(());
        }
        for location in std::mem::take(&mut self.touched) {
            let shown = location.1.join("/");
            self.existing(&location)?.sync().map_err(|errno| {
                Error::from_errno(errno, &format!("sync the directory `{shown}`"))
            })?;
        }
        Ok(())
    }

    /// Removes what is not part of the changes that stand, and makes those survive. The error that
    /// led here is the one to report.
    fn clean_up(&mut self) {
        for index in 0..self.steps.len() {
            if self.steps[index].written
                && let Ok(parent) = self.existing(&self.steps[index].parent.clone())
            {
                let _ = parent.remove_file(&self.steps[index].temporary);
            }
        }
        for (side, way) in std::mem::take(&mut self.made).into_iter().rev() {
            let (name, parents) = way.split_last().expect("a base is not made");
            if let Ok(parent) = self.existing(&(side, parents.to_vec())) {
                // Fails where a change that stands, or a person, put something there.
                let _ = parent.remove_directory(name);
            }
        }
        if self.applied > 0 {
            let _ = self.sync_directories();
        }
    }

    fn touch(&mut self, location: Location<'a>) {
        if !self.touched.contains(&location) {
            self.touched.push(location);
        }
    }

    /// None where it, or one on the way, is missing.
    fn directory(&mut self, location: &Location<'a>) -> Result<Option<Directory>, Error> {
        let (side, way) = location;
        let Some((name, parents)) = way.split_last() else {
            return Ok(Some(self.tree.base(*side).directory.clone()));
        };
        if let Some(open) = self.open.get(location) {
            return Ok(Some(open.clone()));
        }
        let Some(parent) = self.directory(&(*side, parents.to_vec()))? else {
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

    fn existing(&mut self, location: &Location<'a>) -> Result<Directory, Error> {
        let missing = || obstacle(Errno::NOENT, &location.1);
        self.directory(location)?.ok_or_else(missing)
    }
}

fn check_size(path: &str, bytes: u64) -> Result<(), Error> {
    if bytes <= MAX_DOCUMENT_BYTES {
        return Ok(());
    }
    Err(Error::new(
        ErrorCode::TooLarge,
        format!("`{path}` is longer than {MAX_DOCUMENT_BYTES} bytes: shorten it or split it"),
    ))
}

fn version_mismatch(path: &str) -> Error {
    Error::new(
        ErrorCode::VersionMismatch,
        format!("`{path}` is not as it was when it was read: read it again"),
    )
}

#[cfg(test)]
mod between_stages;
