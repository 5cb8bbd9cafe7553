//! The tree of files: what a caller reaches of it, and reading it.

use std::collections::BTreeSet;

use super::error::Error;
use super::path::{FilePath, is_hidden};
use super::place::LABEL;
use crate::error::ReadError;
use crate::names::name_error;
use crate::storage::path::segments;
use crate::storage::{Area, Document, EntryKind, MAX_DOCUMENT_BYTES, Place, Status, Tree};
use crate::tool::Call;

/// The files that the caller of a call reaches.
pub(super) struct Files<'a> {
    pub call: &'a Call<'a>,
    pub tree: Box<dyn Tree + 'a>,
    reach: Reach<'a>,
}

/// The directories that a caller sees as `/memories`.
enum Reach<'a> {
    /// The whole tree.
    Everything,
    /// The directory of the only agent that it may use.
    Agent(&'a str),
    /// The directories of the agents that it may use.
    Agents(&'a [String]),
}

/// The text of a file, with the version of its bytes.
pub(super) struct Text {
    pub text: String,
    pub version: String,
}

/// The kind of thing at a path.
pub(super) enum Found {
    File(Status),
    /// A directory with a file in it, at any depth. Others count as nothing: no call creates one.
    Directory,
    Nothing,
    /// A file is where the path has a directory.
    BelowFile(FilePath),
}

impl<'a> Files<'a> {
    /// Opens the tree for the caller.
    ///
    /// # Errors
    ///
    /// `PERMISSION_ERROR` without a directory; `INVALID_INPUT` if an agent that the caller may use has
    /// a name that no directory can have, or that differs only in case from another one;
    /// `STORAGE_ERROR` if a file is where the directory of its only agent would be.
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

    /// Checks that the directory of each agent of the caller is that of no other agent: a file system
    /// may ignore the case of names.
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

    /// The path in the tree.
    ///
    /// # Errors
    ///
    /// `PERMISSION_ERROR` if the caller may not use it, `INVALID_PATH` if it is too deep.
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

    /// The entries of a directory that the caller reaches, by name. `None` if there is none.
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

    /// The directories that the caller reaches, each with the agent whose it is. `None` is the whole
    /// tree.
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

    /// Checks that a new file may be at a path. For a caller of several agents, the paths directly
    /// below `/memories` are the directories of agents, and a file there would lock an agent out.
    ///
    /// # Errors
    ///
    /// `INVALID_PATH`.
    pub fn check_new_file(&self, path: &FilePath, field: &str) -> Result<(), Error> {
        match self.reach {
            Reach::Agents(_) if path.way().count() == 1 => {
                Err(Error::file_for_an_agent(path, field))
            }
            _ => Ok(()),
        }
    }

    /// Finds out what is at a path. `/memories` itself is always a directory.
    ///
    /// # Errors
    ///
    /// `STORAGE_ERROR` for a link.
    pub fn find(&self, path: &FilePath) -> Result<Found, Error> {
        self.find_with(path, false)
    }

    /// Finds out what is at a path that is to be viewed. A directory that cannot be read may have
    /// files: the view says so.
    ///
    /// # Errors
    ///
    /// `STORAGE_ERROR` for a link.
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

    /// Whether a directory has a file in it, at any depth.
    fn has_files(&self, path: &FilePath, is_viewed: bool) -> Result<bool, Error> {
        let entries = match self.entries(path) {
            Err(ReadError::Unusable(_)) if is_viewed => return Ok(true),
            entries => entries?,
        };
        for (name, status) in entries.unwrap_or_default() {
            // The host's own directory is hidden, too.
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

    /// The bytes of a file. `None` if nothing is there.
    pub fn document(&self, path: &FilePath) -> Result<Option<Document>, ReadError> {
        let path = self.at(path).map_err(ReadError::Other)?;
        Ok(self.tree.read(Area::Documents, &path, MAX_DOCUMENT_BYTES)?)
    }

    /// The text of a file. `None` if nothing is there.
    ///
    /// # Errors
    ///
    /// `CORRUPTED_DATA` if it is not UTF-8.
    pub fn text(&self, path: &FilePath) -> Result<Option<Text>, ReadError> {
        let Some(document) = self.document(path)? else { return Ok(None) };
        let text = String::from_utf8(document.contents)
            .map_err(|_| ReadError::Unusable(Error::not_text(path)))?;
        Ok(Some(Text { text, version: document.version }))
    }

    /// The text of a file that is to be edited.
    ///
    /// # Errors
    ///
    /// `missing` if no file is there; `CORRUPTED_DATA` if it is not UTF-8.
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
