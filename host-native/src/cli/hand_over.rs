use super::output::print;
use super::{Error, help};
use crate::storage::ErrorCode;
use agent_memory_storage_files::{Directory, Grant, Layout, Repository, errno_error, owner};
use agent_memory_storage_lock::{Progress, Request};
use clap::{Args, ValueEnum, ValueHint};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Hand a place over to plugins, or back.
///
/// A plugin has no locks, so a place is written either by plugins or by the other hosts: this
/// program, and the packages for Node and Python. The first to write owns the place. The others are
/// refused until it is handed over.
#[derive(Debug, Args)]
#[command(after_long_help = help::sections(&[include_str!("help/hand-over.txt")]))]
pub struct HandOver {
    /// Top level of a repository, or directory of a store or of records
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    directory: PathBuf,

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

/// How long the command waits for the lock of the place.
const LOCK_WAIT: Duration = Duration::from_secs(5);

impl HandOver {
    pub(super) fn run(self) -> Result<ExitCode, Error> {
        let owner = hand_over(&self.directory, self.to).map_err(|error| match error.code {
            ErrorCode::NotFound | ErrorCode::InvalidPath => Error::usage(error.message),
            _ => Error::storage(error.message),
        })?;
        print(&format!("`{}` is now written by {owner}", self.directory.display()))?;
        Ok(ExitCode::SUCCESS)
    }
}

fn hand_over(directory: &Path, to: Owner) -> Result<&'static str, crate::storage::Error> {
    let layout = layout(directory)?;
    let failed = |errno| errno_error(errno, &format!("hand over `{}`", layout.location()));
    let lock_directory = || Directory::open(layout.lock_path()).map_err(failed);
    match to {
        Owner::Hosts => {
            if layout.lock_path().is_dir() {
                owner::hand_over_to_hosts(&lock_directory()?).map_err(failed)?;
            }
            Ok("this program, and the packages for Node and Python")
        }
        Owner::Plugins => {
            let until = Instant::now() + LOCK_WAIT;
            let mut request = Request::open(&layout, &Default::default(), true)?;
            let _lock = loop {
                request = match request.ask()? {
                    Progress::Locked(lock) => break lock,
                    Progress::Queued(request) | Progress::AtHead(request) => request,
                    Progress::Removed => Request::open(&layout, &Default::default(), true)?,
                };
                if Instant::now() >= until {
                    let message = "other writers hold the lock: end them, and try again";
                    return Err(crate::storage::Error::new(ErrorCode::Busy, message));
                }
                std::thread::sleep(Duration::from_millis(5));
            };
            owner::hand_over_to_plugins(&lock_directory()?).map_err(failed)?;
            Ok("plugins")
        }
    }
}

/// The layout of a repository or a directory. Without Git, both have their lock in `.agent-memory`.
fn layout(directory: &Path) -> Result<Layout, crate::storage::Error> {
    let grant = Grant::new(directory)?;
    let path = grant.path().to_owned();
    let shown = path.to_string_lossy().into_owned();
    if path.join(".git").symlink_metadata().is_ok() {
        return Layout::of_repository(Repository::resolve(&shown, &[grant])?);
    }
    Layout::of_directory(&path, &shown, false, &[])
}
