use super::output::print;
use super::{Error, help};
use crate::enclosing_repository::DOCUMENTS;
use crate::storage::{DEFAULT_LOCK_WAIT, ErrorCode, lock_layout};
use agent_memory_storage_files::{
    Directory, Grant, Layout, OWN, Repository, canonical, errno_error, owner, remove_mark,
};
use clap::{Args, ValueEnum, ValueHint};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Hand a place over to plugins, or back.
///
/// A plugin has no locks, so a place is written either by plugins or by the other hosts: this
/// program, and the packages for Node and Python. The first to write owns the place. The others are
/// refused until it is handed over. End those that wrote it before you hand it over.
#[derive(Debug, Args)]
#[command(after_long_help = help::sections(&[include_str!("help/hand-over.txt")]))]
pub struct HandOver {
    /// Top level of a repository, another directory that a host writes, or file of a registry
    #[arg(value_name = "PATH", value_hint = ValueHint::AnyPath)]
    path: PathBuf,

    /// Hosts that write the place from now on
    #[arg(long, value_enum)]
    to: Owner,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Owner {
    /// Plugins, on hosts that run components
    Plugins,
    /// This program, and the packages for Node and Python
    Hosts,
}

impl HandOver {
    pub(super) fn run(self) -> Result<ExitCode, Error> {
        let owner = match self.to {
            Owner::Plugins => "plugins",
            Owner::Hosts => "this program, and the packages for Node and Python",
        };
        let done = layouts(&self.path)
            .and_then(|layouts| layouts.iter().try_for_each(|layout| hand_over(layout, self.to)));
        done.map_err(|error| match error.code {
            ErrorCode::NotFound | ErrorCode::InvalidPath | ErrorCode::NotGranted => {
                Error::usage(error.message)
            }
            _ => Error::storage(error.message),
        })?;
        print(&format!("`{}` is now written by {owner}", self.path.display()))?;
        Ok(ExitCode::SUCCESS)
    }
}

fn hand_over(layout: &Layout, to: Owner) -> Result<(), crate::storage::Error> {
    let failed = |errno| errno_error(errno, &format!("hand over `{}`", layout.location()));
    let exists = layout.lock_path().symlink_metadata().is_ok();
    let open = || Directory::open(layout.lock_path()).map_err(failed);
    match to {
        Owner::Hosts => {
            if exists {
                let directory = open()?;
                // From now on, a plugin that still runs is refused before its next rename.
                remove_mark(&directory).map_err(failed)?;
                owner::take_from_plugins(&directory).map_err(failed)?;
            }
            // This creates the lock file, which marks the place as written by the other hosts.
            lock_layout(layout, DEFAULT_LOCK_WAIT).map(drop)
        }
        Owner::Plugins => {
            if exists && owner::is_of_plugins(&open()?).map_err(failed)? {
                return Ok(());
            }
            let _lock = lock_layout(layout, DEFAULT_LOCK_WAIT)?;
            owner::hand_over_to_plugins(&open()?, layout.location())
        }
    }
}

/// The places at `path`. It may also be a repository's directory of documents, since messages name a
/// repository by that directory.
fn layouts(path: &Path) -> Result<Vec<Layout>, crate::storage::Error> {
    if path.is_file() {
        return Ok(vec![registry(path)?]);
    }
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let repository = path.ancestors().nth(2).filter(|_| path.ends_with(DOCUMENTS));
    let grant = Grant::new(repository.unwrap_or(&path))?;
    let path = grant.path().to_owned();
    let shown = path.to_string_lossy().into_owned();
    let mut layouts = Vec::new();
    let has_git = path.join(".git").symlink_metadata().is_ok();
    if has_git {
        layouts.push(Layout::from_repository(Repository::resolve(&shown, &[grant])?)?);
    } else if !path.join(OWN).is_dir() {
        // No host has written here yet. Refuse a directory inside a repository: only its top level is a
        // place.
        Repository::resolve(&shown, &[grant])?;
    }
    // The top level of a repository may also be a store, with a lock of its own. Without `.git`, all
    // places in a directory share one lock.
    if !has_git || path.join(OWN).is_dir() {
        let found = Directory::open(&path).and_then(|directory| directory.metadata("."));
        let is_private =
            found.is_ok_and(|found| found.is_some_and(|found| found.mode & 0o077 == 0));
        layouts.push(Layout::from_directory(&path, &shown, is_private, &[])?);
    }
    Ok(layouts)
}

/// The registry at a path. An error if it has no lock directory: then no host has written to it.
fn registry(path: &Path) -> Result<Layout, crate::storage::Error> {
    let shown = path.to_string_lossy();
    let no_registry = || {
        let message = format!("`{shown}` is no registry that was written to: give the path of one");
        crate::storage::Error::new(ErrorCode::NotFound, message)
    };
    let path = canonical(path).map_err(|_| no_registry())?;
    let (Some(directory), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(no_registry());
    };
    let layout = Layout::from_registry(directory, name.to_str().ok_or_else(no_registry)?, &shown)?;
    if !layout.lock_path().is_dir() {
        return Err(no_registry());
    }
    Ok(layout)
}
