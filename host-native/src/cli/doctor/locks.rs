//! The locks of the places, who holds them, and whether plugins own a place.

use super::finding::Finding;
use crate::AgentMemory;
use crate::cli::program::description;
use agent_memory_storage_files::{Directory, Grant, OWN, Repository, display, errno_error, owner};
use agent_memory_storage_lock::{FILES, holder};
use std::fs;
use std::path::{Path, PathBuf};

const ABOUT: &str = "lock";

/// The findings about locks. Call this before this process takes a lock: [`holder`] would drop it.
pub(super) fn findings(memory: &AgentMemory, repository: Option<&Path>) -> Vec<Finding> {
    let places = description().toolsets.iter().flat_map(|toolset| &toolset.places);
    let mut directories = Vec::new();
    for place in places {
        directories.extend(memory.place_directory(&place.label));
        let registered = memory.registered(&place.label).unwrap_or_default();
        let named = registered
            .keys()
            .filter_map(|name| memory.family_directory(&place.label, name).ok().map(PathBuf::from));
        directories.extend(named);
    }
    let mut locks: Vec<PathBuf> = directories.iter().flat_map(|at| of_directory(at)).collect();
    locks.extend(repository.and_then(of_repository));
    locks.iter().flat_map(|lock| findings_of(lock)).collect()
}

/// The lock directories in `directory`: one of the directory itself, and one for each place in it that
/// is a single file.
fn of_directory(directory: &Path) -> Vec<PathBuf> {
    let own = directory.join(OWN);
    let below = fs::read_dir(&own).into_iter().flatten().flatten().map(|entry| entry.path());
    let of_files = below.filter(|path| path.join(owner::LOCK_FILE).exists());
    let of_files: Vec<PathBuf> = of_files.collect();
    [own].into_iter().chain(of_files).collect()
}

fn of_repository(repository: &Path) -> Option<PathBuf> {
    let grant = Grant::new(repository).ok()?;
    let found = Repository::resolve(repository.to_str()?, &[grant]).ok()?;
    Some(found.lock_directory())
}

fn findings_of(lock: &Path) -> Vec<Finding> {
    let shown = display(lock);
    let Ok(found) = fs::symlink_metadata(lock) else { return Vec::new() };
    if !found.is_dir() {
        let message = format!("`{shown}` is no directory, but a lock needs one there");
        return vec![Finding::error(ABOUT, message).advise("move it away")];
    }
    let Ok(directory) = Directory::open(lock) else {
        let message = format!("`{shown}` cannot be opened");
        return vec![Finding::error(ABOUT, message).advise("check its owner and its mode")];
    };
    if owner::is_of_plugins(&directory) == Ok(true) {
        let message = format!("plugins write what `{shown}` belongs to, so this program cannot");
        let advice = "`agent-memory hand-over --to hosts PATH` takes it back";
        return vec![Finding::warning(ABOUT, message).advise(advice)];
    }
    let mut findings = Vec::new();
    if let Err(errno) = directory.writable() {
        let error = errno_error(errno, &format!("lock in `{shown}`"));
        findings.push(Finding::error(ABOUT, error.message));
    }
    for file in FILES {
        let path = lock.join(file);
        let Ok(found) = fs::symlink_metadata(&path) else { continue };
        if !found.is_file() || found.len() > 0 {
            let message = format!("`{}` is damaged", display(&path));
            findings.push(Finding::error(ABOUT, message).advise("remove it"));
        } else if let Err(errno) = directory.may_use(file) {
            let error = errno_error(errno, &format!("use `{}`", display(&path)));
            findings.push(Finding::error(ABOUT, error.message));
        } else if file == owner::LOCK_FILE
            && let Some(holder) = holder_of(&path)
        {
            let message = format!("process {holder} holds the lock in `{shown}`");
            let advice = "a writer holds it for a moment only: look again";
            findings.push(Finding::warning(ABOUT, message).advise(advice));
        }
    }
    findings
}

/// The process that holds a lock file, with its name if the system tells it.
fn holder_of(file: &Path) -> Option<String> {
    let pid = holder(file)?;
    let name = fs::read_to_string(format!("/proc/{pid}/comm"));
    Some(name.map_or_else(|_| pid.to_string(), |name| format!("{pid} ({})", name.trim())))
}
