//! The rules for the directories of a family, which is a group of named places. `tests/families.json`
//! tests them on every host. A registry is a text that people edit, so its paths are checked whenever a
//! place is opened.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use agent_memory_storage::{Error, ErrorCode};
use serde::{Deserialize, Serialize};

use super::canonical::{canonical, from_written, is_absolute};
use super::directory::{Kind, kind_at};
use super::errno::Errno;
use super::error::errno_error;
use super::layout::OWN;

/// The system's own directories at the root, in lower case. No place is in one of them.
const SYSTEM: &[&str] = if cfg!(windows) {
    &["program files", "program files (x86)", "windows"]
} else {
    &[
        "bin", "boot", "dev", "etc", "lib", "lib32", "lib64", "libx32", "proc", "sbin", "sys",
        "system", "usr",
    ]
};

/// The directories at the root that contain directories of users and programs. A place may be below one
/// of them, but cannot be one of them.
const SHARED: &[&str] =
    &["home", "media", "mnt", "opt", "root", "run", "srv", "tmp", "users", "var"];

/// The user's directories. They decide which paths the places of a family may have.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct FamilyBase {
    /// The canonical home directory.
    home: Option<PathBuf>,
    /// The canonical data directory, as far as it exists.
    data_directory: Option<PathBuf>,
}

impl FamilyBase {
    /// Follows the symbolic links of both directories.
    pub fn new(home: Option<&Path>, data_directory: Option<&Path>) -> Self {
        FamilyBase {
            home: home.map(as_far_as_it_exists),
            data_directory: data_directory.map(as_far_as_it_exists),
        }
    }

    /// The directory `label/name` in the data directory, for a place that a call creates. `None` without
    /// a data directory.
    pub fn new_place(&self, label: &str, name: &str) -> Option<PathBuf> {
        Some(self.data_directory.as_ref()?.join(label).join(name))
    }

    /// Whether a directory belongs to the user: it is below the home or the data directory.
    fn is_own(&self, directory: &Path) -> bool {
        // Ignores the home `/`, which a service may have: every directory would belong to the user.
        let home = self.home.as_ref().filter(|home| home.parent().is_some());
        let mut own = home.into_iter().chain(&self.data_directory);
        own.any(|own| directory.starts_with(own))
    }

    /// Whether files and directories of a place are created so that only the owner may read them: true
    /// below the data directory.
    pub fn is_private(&self, directory: &Path) -> bool {
        self.data_directory.as_ref().is_some_and(|data| directory.starts_with(data))
    }

    /// Resolves the path of a place, as it is in a registry, to a directory. Checks only the path
    /// itself, not the file system.
    ///
    /// # Errors
    ///
    /// The reason why no place may have this path, and what to do.
    pub fn directory(&self, path: &str) -> Result<PathBuf, &'static str> {
        const ABSOLUTE: &str =
            "its path is not absolute: write an absolute path, or one that begins with `~/`";
        let directory = match (path.strip_prefix("~/"), &self.home) {
            (Some(below), Some(home)) => home.join(below.trim_start_matches('/')),
            (Some(_), None) => return Err("there is no home directory for `~/`: write it out"),
            (None, _) => from_written(path),
        };
        if !is_absolute(&directory) {
            return Err(ABSOLUTE);
        }
        if path.chars().any(char::is_control) {
            return Err("its path has a control character: leave it out");
        }
        let mut names = Vec::new();
        for component in directory.components() {
            match component {
                Component::Normal(name) => names.push(name.to_string_lossy().to_lowercase()),
                Component::ParentDir => return Err("its path has a `..`: write the path without"),
                _ => {}
            }
        }
        if names.iter().any(|name| name == ".git") {
            return Err("its path is in a `.git`, which is Git's own: choose another directory");
        }
        if names.windows(2).any(|pair| pair == [".github", "agent-memory"]) {
            return Err(
                "its path is in the agent memory of a repository: choose another directory",
            );
        }
        if names.iter().any(|name| name == OWN) {
            return Err("its path is in a directory of locks: choose another directory");
        }
        if names.is_empty() {
            return Err("its path is `/`: choose a directory for it alone");
        }
        // Removes `.` and double separators.
        let directory: PathBuf = directory.components().collect();
        if !self.is_own(&directory) {
            if SYSTEM.contains(&names[0].as_str()) {
                return Err("its path is in a directory of the system: choose another directory");
            }
            if names.len() == 1 && SHARED.contains(&names[0].as_str()) {
                return Err("its path is a directory of all users: choose a directory below");
            }
        }
        if self.home.as_ref().is_some_and(|home| home.starts_with(&directory)) {
            return Err("its path is the home directory, or contains it: choose a directory below");
        }
        Ok(directory)
    }
}

/// Checks that the path of a directory and its parents are directories, as far as they exist, and not
/// symbolic links or files. Returns whether the directory exists.
///
/// # Errors
///
/// `not-granted` with the reason, and what to do; `permission`, `io`.
pub(crate) fn check_links(directory: &Path) -> Result<bool, Error> {
    let refused = |reason: String| Err(Error::new(ErrorCode::NotGranted, reason));
    let mut way: Vec<&Path> = directory.ancestors().collect();
    way.reverse();
    let mut exists = false;
    // In WASI, parents above a preopened directory seem to be missing. So a missing parent does not end
    // the loop.
    for path in way {
        let shown = path.display();
        match kind_at(path, false) {
            Ok(Kind::Link) => {
                return refused(match canonical(path) {
                    Ok(target) => format!(
                        "`{shown}` is a symbolic link: register the path that it leads to, `{}`",
                        target.display()
                    ),
                    Err(_) => format!("`{shown}` is a symbolic link that leads nowhere: remove it"),
                });
            }
            Ok(Kind::Directory) => exists = true,
            Ok(_) => {
                return refused(format!(
                    "`{shown}` is no directory: move it away, or register another path"
                ));
            }
            Err(Errno::NOENT) => exists = false,
            Err(errno) => return Err(errno_error(errno, &format!("look at `{shown}`"))),
        }
    }
    Ok(exists)
}

/// The directories of places, with the names of these places, to find places that overlap.
#[derive(Clone, Debug, Default)]
pub struct Directories(BTreeMap<PathBuf, Vec<String>>);

impl Directories {
    /// Adds a directory with a name.
    pub fn add(&mut self, directory: PathBuf, name: &str) {
        self.0.entry(directory).or_default().push(name.to_owned());
    }

    /// The reason why `directory` cannot be a place: it is the directory of a place other than `own`,
    /// lies within such a directory, or contains one. `None` if it overlaps no other place.
    pub fn meeting(&self, directory: &Path, own: &str) -> Option<String> {
        let names = |at: &Path| self.0.get(at).into_iter().flatten();
        if let Some(other) = names(directory).find(|name| *name != own) {
            return Some(format!("`{other}` has the same directory: keep one of them"));
        }
        let above = directory.ancestors().skip(1).find_map(|above| names(above).next());
        if let Some(other) = above {
            return Some(format!("it lies within `{other}`: move one of them"));
        }
        // The map is sorted, so directories below `directory` come directly after it.
        let after = (std::ops::Bound::Excluded(directory), std::ops::Bound::Unbounded);
        let (next, names) = self.0.range::<Path, _>(after).next()?;
        let other = names.first().filter(|_| next.starts_with(directory))?;
        Some(format!("it contains `{other}`: move one of them"))
    }
}

/// The path, with its existing part made canonical.
pub(crate) fn as_far_as_it_exists(path: &Path) -> PathBuf {
    for above in path.ancestors() {
        if let (Ok(canonical), Ok(rest)) = (canonical(above), path.strip_prefix(above)) {
            return canonical.join(rest);
        }
    }
    path.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_of_the_system_is_a_place_only_below_the_home_or_the_data_directory() {
        let (drive, system) = if cfg!(windows) { ("C:", "windows") } else { ("", "usr") };
        let at = |path: &str| format!("{drive}{}", path.replace("SYSTEM", system));
        let base = |home: &str| FamilyBase {
            home: Some(at(home).into()),
            data_directory: Some(at("/SYSTEM/agents/data").into()),
        };
        let own = base("/SYSTEM/home/ada");
        for good in ["/SYSTEM/home/ada/notes", "/SYSTEM/agents/data/stores/team", "/srv/notes"] {
            assert_eq!(own.directory(&at(good)), Ok(at(good).into()));
        }
        for bad in ["/SYSTEM/home/bob/notes", "/SYSTEM/agents/notes", "/srv"] {
            assert!(own.directory(&at(bad)).is_err(), "{bad}");
        }
        assert!(base("/").directory(&at("/SYSTEM/notes")).is_err());
        let root = base("/root").directory(&at("/root/notes"));
        assert_eq!(root, Ok(at("/root/notes").into()));
    }

    #[test]
    fn directories_meet_where_one_equals_contains_or_lies_within_another() {
        let mut directories = Directories::default();
        for (directory, name) in [("/a/b", "b"), ("/a/b-c", "c"), ("/a/b.d", "d"), ("/e/f/g", "g")]
        {
            directories.add(directory.into(), name);
        }
        let meets = |directory: &str, own| directories.meeting(Path::new(directory), own);
        for (apart, own) in [("/a/b", "b"), ("/a/bc", "x"), ("/a/c", "x"), ("/e/f/g", "g")] {
            assert_eq!(meets(apart, own), None, "{apart}");
        }
        for (near, other) in [("/a/b", "`b`"), ("/a/b/c", "`b`"), ("/e", "`g`"), ("/a", "`b`")] {
            let reason = meets(near, "x").expect(near);
            assert!(reason.contains(other), "{near}: {reason}");
        }
    }
}
