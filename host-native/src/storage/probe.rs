//! Checks whether a directory takes writes.

use agent_memory_storage::{Error, ErrorCode};
use agent_memory_storage_files::{OWN, io_error};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The name of the file that is created. Lists of documents leave such names out.
const NAME: &str = ".ready.agent-memory-tmp";

/// Creates a file in a directory, or in the nearest existing directory above it, and removes the file.
pub(super) fn try_to_write(directory: &Path) -> Result<(), Error> {
    let existing = nearest(directory)?;
    let own = existing.join(OWN);
    let within = if own.is_dir() { own } else { existing };
    let file = within.join(NAME);
    write_and_remove(&file)
        .map_err(|error| io_error(&error, &format!("write `{}`", file.display())))
}

fn nearest(directory: &Path) -> Result<PathBuf, Error> {
    for above in directory.ancestors() {
        let failed = |error: &io::Error| io_error(error, &format!("open `{}`", above.display()));
        match fs::metadata(above) {
            Ok(found) if found.is_dir() => return Ok(above.to_owned()),
            Ok(_) => return Err(failed(&io::ErrorKind::NotADirectory.into())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(failed(&error)),
        }
    }
    let message = format!("nothing exists on the way to `{}`", directory.display());
    Err(Error::new(ErrorCode::Io, message))
}

/// Creates the file and removes it. Never opens an existing file, which may be a link.
fn write_and_remove(path: &Path) -> io::Result<()> {
    let is_there = |error: &io::Error| error.kind() == io::ErrorKind::AlreadyExists;
    let mut created = File::create_new(path);
    if created.as_ref().is_err_and(is_there) {
        // A killed process has left the file, or another process is checking now.
        remove(path)?;
        created = File::create_new(path);
    }
    let written = match created {
        Ok(mut file) => file.write_all(b"ready\n"),
        Err(error) if is_there(&error) => Ok(()),
        Err(error) => return Err(error),
    };
    remove(path)?;
    written
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_that_takes_writes_is_left_as_it_was() {
        let scratch = tempfile::tempdir().unwrap();
        let left = || fs::read_dir(scratch.path()).unwrap().count();
        for directory in [scratch.path().to_owned(), scratch.path().join("not/there/yet")] {
            try_to_write(&directory).unwrap();
            assert_eq!(left(), 0);
        }
        let own = scratch.path().join(OWN);
        fs::create_dir(&own).unwrap();
        try_to_write(scratch.path()).unwrap();
        assert_eq!(fs::read_dir(&own).unwrap().count(), 0);
        // A killed process has left this file.
        fs::write(own.join(NAME), "").unwrap();
        try_to_write(scratch.path()).unwrap();
        assert_eq!(fs::read_dir(&own).unwrap().count(), 0);
    }

    #[test]
    fn a_directory_that_became_something_else_takes_no_writes() {
        let scratch = tempfile::tempdir().unwrap();
        let file = scratch.path().join("file");
        fs::write(&file, "").unwrap();
        for directory in [file.clone(), file.join("below")] {
            assert!(try_to_write(&directory).is_err(), "{}", directory.display());
        }
    }
}
