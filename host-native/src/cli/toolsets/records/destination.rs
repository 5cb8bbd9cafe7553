//! The destination of an export: standard output, a file, a pipe or a device.

use crate::cli::Error;
use agent_memory_storage_files::canonical;
use std::ffi::OsStr;
use std::fmt::Display;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

const STANDARD_OUTPUT: [&str; 3] = ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"];

/// How many symbolic links a path may have, as in Linux.
const MAX_LINKS: usize = 40;

pub(super) enum Destination {
    /// Takes the text page by page: standard output, a pipe, a device, or a file that is open already.
    Stream {
        name: String,
        to: Box<dyn Write>,
        file: Option<PathBuf>,
    },
    File(NewFile),
}

/// A file that gets its name when it is complete.
pub(super) struct NewFile {
    path: PathBuf,
    /// The permissions of the file that it replaces.
    permissions: Option<Permissions>,
    written: Option<File>,
}

impl Destination {
    /// The destination with this name; symbolic links are followed.
    pub(super) fn new(name: &Path) -> Result<Destination, Error> {
        let names = names(name);
        let is_known =
            |name: &PathBuf| STANDARD_OUTPUT.iter().any(|known| name == Path::new(known));
        if name == Path::new("-") || names.iter().any(is_known) {
            let name = "standard output".to_owned();
            let to = Box::new(io::stdout());
            return Ok(Destination::Stream { name, to, file: None });
        }
        let new =
            |path, permissions| Ok(Destination::File(NewFile { path, permissions, written: None }));
        let shown = format!("`{}`", name.display());
        match fs::metadata(name) {
            Ok(found) if found.is_file() && !names.iter().any(|name| is_descriptor(name)) => {
                let path = canonical(name).map_err(|error| failed(&shown, &error))?;
                new(path, Some(found.permissions()))
            }
            Ok(found) if found.is_dir() => {
                Err(Error::usage(format!("{shown} is a directory: name a file in it")))
            }
            Ok(found) => {
                let opened = OpenOptions::new().append(true).open(name);
                let to = Box::new(opened.map_err(|error| failed(&shown, &error))?);
                let file = if found.is_file() { canonical(name).ok() } else { None };
                Ok(Destination::Stream { name: shown, to, file })
            }
            Err(error) if error.kind() == ErrorKind::NotFound => match name.read_link() {
                Ok(target) => Err(Error::usage(format!(
                    "{shown} is a link to `{}`, which does not exist: name a file",
                    target.display()
                ))),
                Err(_) => new(name.to_owned(), None),
            },
            Err(error) => Err(failed(&shown, &error)),
        }
    }

    /// The path of the file that the export creates, replaces or writes to, if there is one.
    pub(super) fn file(&self) -> Option<&Path> {
        match self {
            Destination::Stream { file, .. } => file.as_deref(),
            Destination::File(file) => Some(&file.path),
        }
    }

    /// Writes a text. Returns `false` if the reader has stopped reading.
    pub(super) fn write(&mut self, text: &str) -> Result<bool, Error> {
        match self {
            Destination::Stream { name, to, .. } => {
                match to.write_all(text.as_bytes()).and_then(|()| to.flush()) {
                    Ok(()) => Ok(true),
                    Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
                    Err(error) => Err(failed(name, &error)),
                }
            }
            Destination::File(file) => {
                file.write(text).map_err(|error| file.failed(&error))?;
                Ok(true)
            }
        }
    }

    /// Completes the export: gives the new file its name.
    pub(super) fn finish(self) -> Result<(), Error> {
        match self {
            Destination::Stream { .. } => Ok(()),
            Destination::File(mut file) => file.name().map_err(|error| file.failed(&error)),
        }
    }
}

impl NewFile {
    fn write(&mut self, text: &str) -> io::Result<()> {
        if let Some(written) = &mut self.written {
            return written.write_all(text.as_bytes());
        }
        let written = self.written.insert(private(&self.partial())?);
        if let Some(permissions) = &self.permissions {
            written.set_permissions(permissions.clone())?;
        }
        written.write_all(text.as_bytes())
    }

    fn name(&mut self) -> io::Result<()> {
        if let Some(written) = &self.written {
            written.sync_all()?;
            fs::rename(self.partial(), &self.path)?;
            self.written = None;
        }
        Ok(())
    }

    fn partial(&self) -> PathBuf {
        let mut name = self.path.as_os_str().to_owned();
        name.push(format!(".{}.partial", std::process::id()));
        name.into()
    }

    fn failed(&self, error: &io::Error) -> Error {
        failed(format!("`{}`", self.path.display()), error)
    }
}

impl Drop for NewFile {
    /// Removes the file of an export that was not completed.
    fn drop(&mut self) {
        if self.written.is_some() {
            let _ = fs::remove_file(self.partial());
        }
    }
}

/// A path, and the paths that its symbolic links lead to.
fn names(name: &Path) -> Vec<PathBuf> {
    let mut names = vec![name.to_owned()];
    while names.len() <= MAX_LINKS {
        let last = &names[names.len() - 1];
        let Ok(target) = last.read_link() else { break };
        let next = last.parent().map_or_else(|| target.clone(), |parent| parent.join(&target));
        names.push(next);
    }
    names
}

/// Whether the path names an open descriptor. Such a file is written in place: the program that opened
/// it would not see a file that replaces it.
fn is_descriptor(name: &Path) -> bool {
    let parts: Option<Vec<&str>> = name.iter().map(OsStr::to_str).collect();
    let number = match parts.as_deref() {
        Some(["/", "dev", "fd", number]) => number,
        Some(["/", "proc", _, "fd", number]) => number,
        Some(["/", "proc", _, "task", _, "fd", number]) => number,
        _ => return false,
    };
    number.bytes().all(|digit| digit.is_ascii_digit())
}

/// Creates a file that only its owner may use, as records are private.
fn private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn failed(name: impl Display, error: &io::Error) -> Error {
    Error::storage(format!("{name} cannot be written: {error}"))
}
