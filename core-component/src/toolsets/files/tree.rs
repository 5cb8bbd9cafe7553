//! The tree of files: reads files, and limits a caller to the part of the tree that it may use.

use std::collections::BTreeSet;

use super::error::Error;
use super::path::{FilePath, is_hidden};
use super::place::LABEL;
use crate::error::ReadError;
use crate::names::name_error;
use crate::storage::path::segments;
use crate::storage::{Area, Document, EntryKind, MAX_DOCUMENT_BYTES, Place, Status, Tree};
use crate::tool::Call;

/// The files that the caller may use.
pub(super) struct Files<'a> {
    pub call: &'a Call<'a>,
    pub tree: Box<dyn Tree + 'a>,
    reach: Reach<'a>,
}

/// The directory that the caller sees as `/memories`.
enum Reach<'a> {
    /// The whole tree.
    Everything,
    /// The directory of the only agent that the caller may use.
    Agent(&'a str),
    /// A root with only the directories of the agents that the caller may use.
    Agents(&'a [String]),
}

/// The text of a file, with the version of its contents.
pub(super) struct Text {
    pub text: String,
    pub version: String,
}

/// The kind of entry at a path.
pub(super) enum Found {
    File(Status),
    /// A directory that has a file in it, at any depth. A directory without files counts as
    /// [`Found::Nothing`], because no call creates one.
    Directory,
    Nothing,
    /// Nothing, because a parent of the path is a file. Holds the path of that file.
    BelowFile(FilePath),
}

impl<'a> Files<'a> {
    /// Opens the tree of files for the caller.
    ///
    /// # Errors
    ///
    /// `PERMISSION_ERROR` if the host has no directory for memory files; `INVALID_INPUT` if an
    /// agent that the caller may use has a name that no directory can have, or that differs only in
    /// case from an existing one; `STORAGE_ERROR` if a file is in place of the directory of the
    /// caller's only agent.
    pub fn open(call: &'a Call<'a>) -> Result<Self, Error> {
        let context = call.context;
        let reach = match (context.only_agent(), context.agents.as_deref()) {
            (Some(agent), _) => Reach::Agent(agent),
            (None, Some(agents)) => Reach::Agents(agents),
            (None, None) => Reach::Everything,
        };
        let files = Self { call, tree: call.storage.open(&Place::named(LABEL))?, reach };
        files.check_names()?;
        Ok(files)
    }

    /// Checks that no directory differs only in case from the name of an agent of the caller. A
    /// file system that ignores case would take both for the same directory.
    fn check_names(&self) -> Result<(), Error> {
        let agents = match self.reach {
            Reach::Everything => return Ok(()),
            Reach::Agent(agent) => vec![agent],
            Reach::Agents(agents) => agents.iter().map(String::as_str).collect(),
        };
        if let Some((agent, reason)) =
            agents.iter().find_map(|agent| Some((agent, name_error(agent)?)))
        {
            return Err(Error::invalid_agent(agent, reason));
        }
        let entries = self.tree.list(Area::Documents, "")?.unwrap_or_default();
        if let Reach::Agent(agent) = self.reach
            && let Some(entry) = entries.iter().find(|entry| entry.name == agent)
            && entry.status.kind != EntryKind::Directory
        {
            return Err(Error::root_is_a_file());
        }
        for agent in agents {
            let is_twin = |name: &str| name != agent && name.eq_ignore_ascii_case(agent);
            if let Some(twin) = entries.iter().find(|entry| is_twin(&entry.name)) {
                return Err(Error::case_twin(agent, &twin.name).for_caller(self.call.context));
            }
        }
        Ok(())
    }

    /// Converts a path that the caller gives to the path in the tree.
    ///
    /// # Errors
    ///
    /// `PERMISSION_ERROR` if the caller may not use the path, `INVALID_PATH` if the path is too
    /// deep.
    pub fn at(&self, path: &FilePath) -> Result<String, Error> {
        let below = path.below_root();
        let path_in_tree = match self.reach {
            Reach::Agent(agent) if below.is_empty() => agent.to_owned(),
            Reach::Agent(agent) => format!("{agent}/{below}"),
            Reach::Agents(agents) => {
                let first = below.split('/').next().unwrap_or_default();
                if !below.is_empty() && !agents.iter().any(|agent| agent == first) {
                    return Err(Error::not_an_agent(path, agents));
                }
                below.to_owned()
            }
            Reach::Everything => below.to_owned(),
        };
        match segments(&path_in_tree) {
            Err(reason) if !path_in_tree.is_empty() => {
                Err(Error::invalid_file_path(&path.to_string(), "path", reason))
            }
            _ => Ok(path_in_tree),
        }
    }

    /// Returns the names and statuses of a directory's entries that the caller may use. `None` if
    /// the directory does not exist.
    pub fn entries(&self, path: &FilePath) -> Result<Option<Vec<(String, Status)>>, ReadError> {
        let directory = self.at(path).map_err(ReadError::Other)?;
        let Some(entries) = self.tree.list(Area::Documents, &directory)? else {
            return Ok(None);
        };
        let reaches = |name: &String| match self.reach {
            Reach::Agents(agents) if path.is_root() => agents.contains(name),
            _ => true,
        };
        let entries = entries.into_iter().map(|entry| (entry.name, entry.status));
        Ok(Some(entries.filter(|(name, _)| reaches(name)).collect()))
    }

    /// Returns the topmost directories that the caller may use, each with its agent. The agent is
    /// `None` for the whole tree.
    pub fn roots(&self) -> Vec<(FilePath, Option<&'a str>)> {
        match self.reach {
            Reach::Everything => vec![(FilePath::ROOT, None)],
            Reach::Agent(agent) => vec![(FilePath::ROOT, Some(agent))],
            Reach::Agents(agents) => {
                let agents: BTreeSet<&str> = agents.iter().map(String::as_str).collect();
                let root = |agent| (FilePath::ROOT.child(agent), Some(agent));
                agents.into_iter().map(root).collect()
            }
        }
    }

    /// Checks that a new file may have this path. A caller of several agents sees their directories
    /// directly below `/memories`. A file in place of such a directory would lock that agent out.
    ///
    /// # Errors
    ///
    /// `INVALID_PATH` if the path is directly below `/memories` and the caller has several agents.
    pub fn check_new_file(&self, path: &FilePath, field: &str) -> Result<(), Error> {
        match self.reach {
            Reach::Agents(_) if path.way().count() == 1 => {
                Err(Error::file_for_an_agent(path, field))
            }
            _ => Ok(()),
        }
    }

    /// Finds the entry at a path. `/memories` itself is always a directory.
    ///
    /// # Errors
    ///
    /// `STORAGE_ERROR` for a link, and for another entry that is neither file nor directory.
    pub fn find(&self, path: &FilePath) -> Result<Found, Error> {
        self.find_with(path, false)
    }

    /// Finds the entry at a path for a view. A directory that cannot be read counts as
    /// [`Found::Directory`], so that the view reports the error.
    ///
    /// # Errors
    ///
    /// `STORAGE_ERROR` for a link, and for another entry that is neither file nor directory.
    pub fn find_to_view(&self, path: &FilePath) -> Result<Found, Error> {
        self.find_with(path, true)
    }

    fn find_with(&self, path: &FilePath, is_viewed: bool) -> Result<Found, Error> {
        for step in path.way() {
            let status = self.tree.stat(Area::Documents, &self.at(&step)?)?;
            match status {
                None => return Ok(Found::Nothing),
                Some(status) => match status.kind {
                    EntryKind::File if step == *path => return Ok(Found::File(status)),
                    EntryKind::File => return Ok(Found::BelowFile(step)),
                    EntryKind::Other => return Err(Error::not_a_file(&step)),
                    EntryKind::Directory => {}
                },
            }
        }
        let is_there = path.is_root() || self.has_files(path, is_viewed)?;
        Ok(if is_there { Found::Directory } else { Found::Nothing })
    }

    /// Whether a directory has a file in it, at any depth. Hidden directories do not count.
    fn has_files(&self, path: &FilePath, is_viewed: bool) -> Result<bool, Error> {
        let entries = match self.entries(path) {
            Err(ReadError::Unusable(_)) if is_viewed => return Ok(true),
            entries => entries?,
        };
        for (name, status) in entries.unwrap_or_default() {
            // Skips entries without a valid path. The host's own hidden directory does not count
            // either.
            let Some(below) = path.listed(&name) else { continue };
            let has_files = match status.kind {
                EntryKind::Directory => !is_hidden(&name) && self.has_files(&below, is_viewed)?,
                EntryKind::File | EntryKind::Other => true,
            };
            if has_files {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the contents of a file. `None` if the file does not exist.
    pub fn document(&self, path: &FilePath) -> Result<Option<Document>, ReadError> {
        let path = self.at(path).map_err(ReadError::Other)?;
        Ok(self.tree.read(Area::Documents, &path, MAX_DOCUMENT_BYTES)?)
    }

    /// Returns the text of a file. `None` if the file does not exist.
    ///
    /// # Errors
    ///
    /// `CORRUPTED_DATA` if the file is not UTF-8.
    pub fn text(&self, path: &FilePath) -> Result<Option<Text>, ReadError> {
        let Some(document) = self.document(path)? else { return Ok(None) };
        let text = String::from_utf8(document.contents)
            .map_err(|_| ReadError::Unusable(Error::not_text(path)))?;
        Ok(Some(Text { text, version: document.version }))
    }

    /// Returns the text of a file that is to be edited.
    ///
    /// # Errors
    ///
    /// The error that `missing` makes if there is no file at the path; `CORRUPTED_DATA` if the file
    /// is not UTF-8.
    pub fn text_to_edit(
        &self,
        path: &FilePath,
        missing: fn(&FilePath) -> Error,
    ) -> Result<Text, Error> {
        match self.find(path)? {
            Found::File(_) => self.text(path)?.ok_or_else(|| missing(path)),
            _ => Err(missing(path)),
        }
    }
}
