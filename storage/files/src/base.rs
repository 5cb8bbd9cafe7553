//! Directories that need not exist yet.

use agent_memory_storage::{Error, ErrorCode};
use rustix::io::Errno;

use super::directory::Directory;
use super::error::errno_error;

/// A directory that exists, and the names from there to one that need not.
#[derive(Clone, Debug)]
pub struct Base {
    /// The directory that exists.
    pub directory: Directory,
    /// The names below it.
    pub names: Vec<String>,
}

impl Base {
    /// A directory that exists.
    pub fn of(directory: Directory) -> Self {
        Base { directory, names: Vec::new() }
    }

    /// The directory that these names lead to from this one.
    pub fn below(&self, names: &[&str]) -> Self {
        let mut below = self.clone();
        below.names.extend(names.iter().map(|&name| name.to_owned()));
        below
    }

    /// The directory that the segments of a path lead to; none where one on the way is missing.
    ///
    /// # Errors
    ///
    /// `invalid-path` where something other than a directory stands on the way; `permission`, `io`.
    pub fn find(&self, segments: &[&str]) -> Result<Option<Directory>, Error> {
        let way = self.way_to(segments);
        let mut directory = self.directory.clone();
        for depth in 0..way.len() {
            directory = match directory.child(way[depth]) {
                Ok(child) => child,
                Err(Errno::NOENT) => return Ok(None),
                Err(errno) => return Err(obstacle(errno, &way[..=depth])),
            };
        }
        Ok(Some(directory))
    }

    /// The directory itself; creates what is missing on the way. With `private`, new directories
    /// have the mode 700, whatever the umask. With `durable`, they survive a loss of power.
    ///
    /// # Errors
    ///
    /// The operating system's.
    pub fn create(&self, private: bool, durable: bool) -> Result<Directory, Errno> {
        let mut directory = self.directory.clone();
        for name in &self.names {
            let child = match directory.child(name.as_str()) {
                Err(Errno::NOENT) => {
                    match directory.create_directory(name, if private { 0o700 } else { 0o777 }) {
                        Ok(()) if durable => directory.sync()?,
                        // Another process may have created it just now.
                        Ok(()) | Err(Errno::EXIST) => {}
                        Err(errno) => return Err(errno),
                    }
                    directory.child(name.as_str())?
                }
                found => found?,
            };
            directory = child;
        }
        Ok(directory)
    }

    /// The names from the directory that exists to the one that the segments of a path lead to.
    pub fn way_to<'a>(&'a self, segments: &[&'a str]) -> Vec<&'a str> {
        self.names.iter().map(String::as_str).chain(segments.iter().copied()).collect()
    }
}

/// The error where a directory cannot be opened.
pub fn obstacle(errno: Errno, way: &[&str]) -> Error {
    let shown = way.join("/");
    if matches!(errno, Errno::NOTDIR | Errno::LOOP) {
        return Error::new(
            ErrorCode::InvalidPath,
            format!("`{shown}` is not a directory (a symbolic link is not followed): move it away"),
        );
    }
    errno_error(errno, &format!("open the directory `{shown}`"))
}
