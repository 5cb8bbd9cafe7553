//! A private copy of a memory for an editor.

use crate::cli::Error;
use crate::storage::MAX_DOCUMENT_BYTES;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// The name of the file with the version of the memory that the text replaces.
const VERSION: &str = ".agent-memory-version";

/// A copy in a directory of its own, since editors create files beside it. It is removed only on
/// request, so that an error loses no text.
pub(super) struct Draft {
    directory: PathBuf,
    file: PathBuf,
}

impl Draft {
    /// A copy of the memory at a valid path.
    pub(super) fn new(path: &str, text: &str, version: &str) -> Result<Draft, Error> {
        let slug = path.rsplit('/').next().unwrap_or(path);
        let failed = |error: io::Error| {
            let directory = std::env::temp_dir();
            Error::storage(format!("no file can be made in `{}`: {error}", directory.display()))
        };
        let directory = private_directory().map_err(failed)?;
        let draft = Draft { file: directory.join(format!("{slug}.md")), directory };
        let written = write(&draft.file, text).and_then(|()| draft.set_version(version));
        written.map_err(|error| {
            draft.remove();
            failed(error)
        })?;
        Ok(draft)
    }

    /// The text of a file, and the version that it replaces if it is a draft.
    pub(super) fn kept(file: &Path) -> Result<(String, Option<String>), Error> {
        let version = fs::read_to_string(file.with_file_name(VERSION)).ok();
        Ok((read(file).map_err(Error::usage)?, version))
    }

    pub(super) fn file(&self) -> &Path {
        &self.file
    }

    /// Writes down the version of the memory that the text replaces.
    pub(super) fn set_version(&self, version: &str) -> io::Result<()> {
        write(&self.directory.join(VERSION), version)
    }

    pub(super) fn read(&self) -> Result<String, Error> {
        read(&self.file).map_err(Error::tool)
    }

    /// Whether the copy has exactly this text. Then it can be removed without loss.
    pub(super) fn has(&self, text: &str) -> bool {
        fs::read(&self.file).is_ok_and(|bytes| bytes == text.as_bytes())
    }

    pub(super) fn remove(&self) {
        // A copy that stays harms nobody.
        let _ = fs::remove_dir_all(&self.directory);
    }
}

fn read(file: &Path) -> Result<String, String> {
    let failed = |reason: &str| format!("`{}` {reason}", file.display());
    let mut bytes = Vec::new();
    let opened = File::open(file).map(|file| file.take(MAX_DOCUMENT_BYTES + 1));
    let read = opened.and_then(|mut file| file.read_to_end(&mut bytes));
    read.map_err(|error| failed(&format!("cannot be read: {error}")))?;
    if bytes.len() as u64 > MAX_DOCUMENT_BYTES {
        return Err(failed("has more than 16 MiB: make it shorter"));
    }
    String::from_utf8(bytes).map_err(|_| failed("is not UTF-8: save it as UTF-8"))
}

/// Writes a file that only its owner may use.
fn write(file: &Path, text: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(file)?.write_all(text.as_bytes())
}

/// A new directory for its owner alone, with a name that nobody can foresee.
fn private_directory() -> io::Result<PathBuf> {
    let number = getrandom::u64().map_err(io::Error::other)?;
    let directory = std::env::temp_dir().join(format!("agent-memory-{number:016x}"));
    #[cfg_attr(not(unix), allow(unused_mut, reason = "only Unix has modes"))]
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(&directory)?;
    Ok(directory)
}
