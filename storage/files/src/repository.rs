//! Finding a granted repository and its lock. `tests/layouts.json` tests the rules on every host.
//! The rules depend only on the file system, so all processes use the same lock for a repository.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use agent_memory_storage::{Error, ErrorCode};

use super::canonical::{canonical, from_written, is_absolute};
use super::directory::{Directory, Found, Kind, kind_at};
use super::errno::Errno;
use super::error::{errno_error, io_error};
use super::git_config;

/// The maximum size of a `.git` file, a pointer or a configuration.
const MAX_GIT_FILE_BYTES: u64 = 1024 * 1024;

/// A granted directory.
#[derive(Clone, Debug)]
pub struct Grant {
    canonical: PathBuf,
}

impl Grant {
    /// Grants a directory and everything below it. Symbolic links in its path are followed now, and
    /// not again later.
    ///
    /// # Errors
    ///
    /// `not-found`; `permission`; `invalid-path` if it is not a directory.
    pub fn new(directory: &Path) -> Result<Self, Error> {
        let attempt = format!("grant `{}`", directory.display());
        let canonical = canonical(directory).map_err(|error| unresolved(&error, &attempt))?;
        if cfg!(all(target_arch = "wasm32", feature = "imported")) && canonical.to_str().is_none() {
            let message = format!("cannot {attempt}: it leads to a path that is not UTF-8");
            return Err(Error::new(ErrorCode::InvalidPath, message));
        }
        let found = kind_at(&canonical, false);
        if found.map_err(|errno| unresolved(&errno.into(), &attempt))? != Kind::Directory {
            return Err(Error::new(
                ErrorCode::InvalidPath,
                format!("cannot {attempt}: it is not a directory"),
            ));
        }
        Ok(Grant { canonical })
    }

    /// A grant of the canonical path of an earlier grant. Does not look at the file system.
    pub fn from_canonical(canonical: PathBuf) -> Self {
        Grant { canonical }
    }

    /// The directory's canonical path.
    pub fn path(&self) -> &Path {
        &self.canonical
    }
}

/// A granted repository.
#[derive(Debug)]
pub struct Repository {
    /// The canonical path of the repository's top level.
    pub top_level: PathBuf,
    /// The path as the caller gave it.
    pub named: String,
    /// The parent of the lock directory: the verified git directory, or the top level without Git.
    pub lock_parent: PathBuf,
    /// The name of the lock directory.
    pub lock_name: &'static str,
    /// Whether the lock directory needs a `.gitignore`, in case Git is set up later.
    pub hides_lock: bool,
}

impl Repository {
    /// The repository whose top level has this absolute path.
    ///
    /// # Errors
    ///
    /// `not-granted` if no grant covers the path (the message says how to grant it), if it is not the
    /// top level of its repository (the message names the top level), or if its `.git` cannot be
    /// trusted with the lock; `not-found`, `permission`, `invalid-path`.
    pub fn resolve(name: &str, grants: &[Grant]) -> Result<Self, Error> {
        let path = &from_written(name);
        if name.contains('\0') {
            return Err(Error::new(
                ErrorCode::InvalidPath,
                format!("`{}` contains a NUL character: leave it out", name.escape_debug()),
            ));
        }
        if !is_absolute(path) {
            return Err(Error::new(
                ErrorCode::InvalidPath,
                format!("`{name}` is not an absolute path: name the repository's top level"),
            ));
        }
        let top_level = canonical(path).map_err(|error| {
            // The error must not reveal what exists outside the grants.
            match path.ancestors().find_map(|above| canonical(above).ok()) {
                Some(above) if covers(grants, &above) => {
                    unresolved(&error, &format!("open `{name}`"))
                }
                _ => not_granted(name),
            }
        })?;
        if !covers(grants, &top_level) {
            return Err(not_granted(name));
        }
        if top_level.to_str().is_none() {
            return Err(Error::new(
                ErrorCode::InvalidPath,
                format!("`{name}` leads to a path that is not UTF-8"),
            ));
        }
        let found = kind_at(&top_level, false);
        let unopened = |errno: Errno| unresolved(&errno.into(), &format!("open `{name}`"));
        if found.map_err(unopened)? != Kind::Directory {
            return Err(Error::new(
                ErrorCode::InvalidPath,
                format!("`{name}` is not a directory: name the repository's top level"),
            ));
        }
        let repository = match dot_git(&top_level, name)? {
            Some(kind) => {
                let lock_parent = git_directory(&top_level, kind, name)?;
                Repository {
                    top_level,
                    named: name.to_owned(),
                    lock_parent,
                    lock_name: "agent-memory",
                    hides_lock: false,
                }
            }
            None => {
                refuse_below_a_repository(&top_level, name)?;
                Repository {
                    lock_parent: top_level.clone(),
                    top_level,
                    named: name.to_owned(),
                    lock_name: ".agent-memory",
                    hides_lock: true,
                }
            }
        };
        match kind_at(&repository.lock_directory(), false) {
            Ok(found) if found != Kind::Directory => Err(refused(
                name,
                "something other than a directory stands where its lock directory belongs: remove it",
            )),
            _ => Ok(repository),
        }
    }

    /// The canonical path of the lock directory.
    pub fn lock_directory(&self) -> PathBuf {
        self.lock_parent.join(self.lock_name)
    }
}

fn covers(grants: &[Grant], canonical: &Path) -> bool {
    grants.iter().any(|grant| canonical.starts_with(&grant.canonical))
}

pub(crate) fn dot_git(directory: &Path, name: &str) -> Result<Option<Kind>, Error> {
    match kind_at(&directory.join(".git"), false) {
        Ok(kind) => Ok(Some(kind)),
        Err(Errno::NOENT) => Ok(None),
        Err(errno) => Err(errno_error(errno, &format!("open `{name}`"))),
    }
}

/// The git directory to which a `.git` directory or file leads, checked to belong to this repository.
fn git_directory(top_level: &Path, kind: Kind, name: &str) -> Result<PathBuf, Error> {
    let dot_git = top_level.join(".git");
    let failed = |errno| errno_error(errno, &format!("read the `.git` of `{name}`"));
    if kind == Kind::Directory {
        if has_head(&dot_git).map_err(failed)? {
            return Ok(dot_git);
        }
        return Err(refused(name, "its `.git` has no `HEAD`: repair or remove it"));
    }
    if kind != Kind::File {
        return Err(refused(
            name,
            "its `.git` is neither a directory nor a file, and is not followed",
        ));
    }
    let Some(target) = pointed_at(top_level).map_err(failed)? else {
        return Err(refused(
            name,
            "its `.git` file leads to no git directory: repair it (`git worktree repair`)",
        ));
    };
    if !points_back(&target, top_level, &dot_git).map_err(failed)? {
        return Err(refused(
            name,
            "its `.git` file leads to a git directory that does not point back: \
             repair it (`git worktree repair`, or `git config core.worktree` for a submodule)",
        ));
    }
    Ok(target)
}

/// The git directory that a `.git` file names. `None` if the file names no path, or the path is
/// missing or has no `HEAD`.
fn pointed_at(top_level: &Path) -> Result<Option<PathBuf>, Errno> {
    let text = read_small(top_level, ".git")?;
    let Some(target) = text.as_deref().and_then(|text| text.strip_prefix("gitdir: ")) else {
        return Ok(None);
    };
    let target = resolve_pointer(top_level, target)?;
    let has_head = target.as_deref().map_or(Ok(false), has_head)?;
    Ok(target.filter(|_| has_head))
}

/// Whether a git directory refers back to its work tree. A worktree's git directory names the
/// `.git` file. A submodule's configuration names the top level.
fn points_back(git_directory: &Path, top_level: &Path, dot_git: &Path) -> Result<bool, Errno> {
    if found(git_directory, "gitdir")?.is_some() {
        let Some(pointer) = read_small(git_directory, "gitdir")? else { return Ok(false) };
        return Ok(resolve_pointer(git_directory, &pointer)?.as_deref() == Some(dot_git));
    }
    let Some(worktree) = configured_worktree(git_directory)? else { return Ok(false) };
    let worktree = there(canonical(&git_directory.join(worktree)))?;
    Ok(worktree.as_deref() == Some(top_level))
}

/// The value of `core.worktree`. Like Git, reads `config.worktree` only if an extension enables it.
fn configured_worktree(git_directory: &Path) -> Result<Option<String>, Errno> {
    let settings = |name| {
        let text = read_small(git_directory, name)?;
        Ok(text.as_deref().and_then(git_config::parse))
    };
    let Some(mut shared) = settings("config")? else { return Ok(None) };
    let has_own = shared
        .get("extensions.worktreeconfig")
        .is_some_and(|value| git_config::is_true(value.as_deref()));
    if has_own && found(git_directory, "config.worktree")?.is_some() {
        let Some(own) = settings("config.worktree")? else { return Ok(None) };
        shared.extend(own);
    }
    Ok(shared.remove("core.worktree").flatten().filter(|worktree| !worktree.is_empty()))
}

/// The path in the one line of a pointer file, which may be relative to the file's directory.
pub(crate) fn resolve_pointer(base: &Path, pointer: &str) -> Result<Option<PathBuf>, Errno> {
    let pointer = pointer.trim_end_matches(['\r', '\n']);
    if pointer.is_empty() || pointer.contains(['\n', '\0']) {
        return Ok(None);
    }
    let path = there(canonical(&base.join(pointer)))?;
    Ok(path.filter(|path| path.to_str().is_some()))
}

/// The text of a file, or `None` if the file is missing, not a regular file or too large.
pub(crate) fn read_small(directory: &Path, name: &str) -> Result<Option<String>, Errno> {
    let file = match Directory::open(directory)?.open_file(name)? {
        Found::File(file, found) if found.size <= MAX_GIT_FILE_BYTES => file,
        _ => return Ok(None),
    };
    let mut bytes = Vec::new();
    let read = there(file.take(MAX_GIT_FILE_BYTES).read_to_end(&mut bytes))?;
    // A comment may be in any encoding.
    Ok(read.map(|_| String::from_utf8_lossy(&bytes).into_owned()))
}

/// Whether a directory has a `HEAD`. Old versions of Git made it a symbolic link, which may dangle.
fn has_head(git_directory: &Path) -> Result<bool, Errno> {
    Ok(matches!(found(git_directory, "HEAD")?, Some(Kind::File | Kind::Link)))
}

pub(crate) fn is_bare(directory: &Path) -> Result<bool, Errno> {
    let has_directory = |name| kind_at(&directory.join(name), true) == Ok(Kind::Directory);
    Ok(has_head(directory)? && has_directory("objects") && has_directory("refs"))
}

fn found(directory: &Path, name: &str) -> Result<Option<Kind>, Errno> {
    there(kind_at(&directory.join(name), false).map_err(io::Error::from))
}

/// Turns the error for a missing file into `None`. Other errors are returned: they do not say
/// whether the file exists.
fn there<T>(found: io::Result<T>) -> Result<Option<T>, Errno> {
    // A path with a NUL never reaches the system, so its error has no `errno`. Nothing can be
    // there.
    match found.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::NOENT)) {
        Ok(found) => Ok(Some(found)),
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::NAMETOOLONG) => Ok(None),
        Err(errno) => Err(errno),
    }
}

fn refuse_below_a_repository(top_level: &Path, name: &str) -> Result<(), Error> {
    let failed = |errno| errno_error(errno, &format!("open `{name}`"));
    for directory in top_level.ancestors() {
        if is_bare(directory).map_err(failed)? {
            return Err(refused(
                name,
                "it is in a bare repository, which has no work tree: name a worktree of it",
            ));
        }
        if directory != top_level && dot_git(directory, name)?.is_some() {
            return Err(refused(
                name,
                &format!(
                    "it is not the top level of its repository: name `{}`",
                    directory.display()
                ),
            ));
        }
    }
    Ok(())
}

fn refused(name: &str, reason: &str) -> Error {
    Error::new(ErrorCode::NotGranted, format!("cannot open `{name}`: {reason}"))
}

fn not_granted(name: &str) -> Error {
    Error::new(
        ErrorCode::NotGranted,
        format!(
            "`{name}` is not granted: start the server with `--allow {name}`, \
             or with `allow` in the program that embeds this host"
        ),
    )
}

fn unresolved(error: &std::io::Error, attempt: &str) -> Error {
    let errno = Errno::from_io_error(error);
    if matches!(errno, Some(Errno::NOENT | Errno::NOTDIR)) {
        return Error {
            code: ErrorCode::NotFound,
            message: format!("cannot {attempt}: there is no such directory"),
            detail: None,
        };
    }
    io_error(error, attempt)
}
