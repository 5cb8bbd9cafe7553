//! Directories that may not exist yet.

use agent_memory_storage::{Error, ErrorCode};

use super::directory::Directory;
use super::errno::Errno;
use super::error::errno_error;

/// An existing directory, and the names from there to a directory that may not exist yet.
#[derive(Clone, Debug)]
pub struct Base {
    /// The existing directory.
    pub directory: Directory,
    /// The names from `directory` to the directory that may not exist yet.
    pub names: Vec<String>,
}

impl Base {
    /// The base of an existing directory, without further names.
    pub fn new(directory: Directory) -> Self {
        Base { directory, names: Vec::new() }
    }

    /// The base of the directory to which these names lead from this base.
    pub fn below(&self, names: &[&str]) -> Self {
        let mut below = self.clone();
        below.names.extend(names.iter().map(|&name| name.to_owned()));
        below
    }

    /// Opens the directory at these segments below the base. `None` if that directory or one of its
    /// parents is missing.
    ///
    /// # Errors
    ///
    /// `invalid-path` if the path or one of its parents is not a directory; `permission`, `io`.
    pub fn find(&self, segments: &[&str]) -> Result<Option<Directory>, Error> {
        let way = self.way_to(segments);
        if way.is_empty() {
            return Ok(Some(self.directory.clone()));
        }
        match self.directory.descend(&way) {
            Ok(directory) => Ok(Some(directory)),
            Err((_, Errno::NOENT)) => Ok(None),
            Err((depth, errno)) => Err(obstacle(errno, &way[..=depth])),
        }
    }

    /// Opens the directory of the base, and creates it and its parents if they are missing. With
    /// `private`, new directories have the mode 700. With `durable`, they survive a loss of power.
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
                        // Another process may have created the directory just now.
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

    /// The names from the existing directory to the directory at these segments below the base.
    pub fn way_to<'a>(&'a self, segments: &[&'a str]) -> Vec<&'a str> {
        self.names.iter().map(String::as_str).chain(segments.iter().copied()).collect()
    }
}

/// The error for the directory at the path `way`, which cannot be opened.
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
