//! Where an export goes: standard output, a file, or whatever else has a name that is written to.

use crate::cli::Failure;
use std::fmt::Display;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

const STANDARD_OUTPUT: [&str; 4] = ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"];

pub(super) enum Destination {
    /// What takes the text as it comes: standard output, a pipe, a device.
    Stream {
        name: String,
        to: Box<dyn Write>,
    },
    File(NewFile),
}

/// A file that gets its name when it is whole.
pub(super) struct NewFile {
    path: PathBuf,
    /// Of the file that it replaces.
    permissions: Option<Permissions>,
    written: Option<File>,
}

impl Destination {
    /// What a name on the command line stands for; a link stands for what it leads to.
    pub(super) fn of(name: &Path) -> Result<Destination, Failure> {
        if STANDARD_OUTPUT.iter().any(|known| name == Path::new(known)) {
            let to = Box::new(io::stdout());
            return Ok(Destination::Stream { name: "standard output".to_owned(), to });
        }
        let new =
            |path, permissions| Ok(Destination::File(NewFile { path, permissions, written: None }));
        let shown = format!("`{}`", name.display());
        match fs::metadata(name) {
            Ok(found) if found.is_file() && !is_open_already(name) => {
                let path = name.canonicalize().map_err(|error| failed(&shown, &error))?;
                new(path, Some(found.permissions()))
            }
            Ok(found) if found.is_dir() => {
                Err(Failure::usage(format!("{shown} is a directory: name a file in it")))
            }
            Ok(_) => {
                let opened = OpenOptions::new().append(true).open(name);
                let to = Box::new(opened.map_err(|error| failed(&shown, &error))?);
                Ok(Destination::Stream { name: shown, to })
            }
            Err(error) if error.kind() == ErrorKind::NotFound => match name.read_link() {
                Ok(target) => Err(Failure::usage(format!(
                    "{shown} is a link to `{}`, which is not there: name a file",
                    target.display()
                ))),
                Err(_) => new(name.to_owned(), None),
            },
            Err(error) => Err(failed(&shown, &error)),
        }
    }

    /// The file that is to be made or replaced.
    pub(super) fn file(&self) -> Option<&Path> {
        match self {
            Destination::Stream { .. } => None,
            Destination::File(file) => Some(&file.path),
        }
    }

    /// Returns whether anybody wants more.
    pub(super) fn write(&mut self, text: &str) -> Result<bool, Failure> {
        match self {
            Destination::Stream { name, to } => {
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

    /// All is written.
    pub(super) fn finish(self) -> Result<(), Failure> {
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

    fn failed(&self, error: &io::Error) -> Failure {
        failed(format!("`{}`", self.path.display()), error)
    }
}

impl Drop for NewFile {
    /// An export that failed leaves nothing.
    fn drop(&mut self) {
        if self.written.is_some() {
            let _ = fs::remove_file(self.partial());
        }
    }
}

/// Whether it names what some program has opened, perhaps a file: that one is written to, since
/// whoever opened it would not see another in its place.
fn is_open_already(name: &Path) -> bool {
    ["/dev/stderr", "/dev/fd", "/proc"].iter().any(|above| name.starts_with(above))
}

/// Memories are private, as their file and database are: a new file is its owner's alone.
fn private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn failed(name: impl Display, error: &io::Error) -> Failure {
    Failure::storage(format!("{name} cannot be written: {error}"))
}
