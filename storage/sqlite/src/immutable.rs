//! Database files that are read with SQLite's `immutable` option, which assumes no changes.

use std::fmt::Write;
use std::path::Path;

use agent_memory_storage_files::{Directory, Errno, Metadata};

/// The suffixes of SQLite's files with changes that are not yet in the database file.
const JOURNALS: [&str; 2] = ["-wal", "-journal"];

/// A database file that was opened as immutable.
#[derive(Debug)]
pub(super) struct ImmutableFile {
    pub directory: Directory,
    pub name: String,
    /// The metadata of the file when it was opened.
    pub before: Metadata,
}

impl ImmutableFile {
    /// Whether the file is unchanged since it was opened, and still has no journal.
    pub fn holds(&self) -> bool {
        matches!(self.directory.metadata(&self.name), Ok(Some(now)) if now == self.before)
            && matches!(journal_of(&self.name, &self.directory), Ok(None))
    }
}

/// The suffix of an existing file with changes that are not yet in the database file.
pub(super) fn journal_of(
    database: &str,
    directory: &Directory,
) -> Result<Option<&'static str>, Errno> {
    for suffix in JOURNALS {
        if directory.metadata(&format!("{database}{suffix}"))?.is_some_and(|found| found.size > 0) {
            return Ok(Some(suffix));
        }
    }
    Ok(None)
}

/// The path as a URI with SQLite's `immutable` option.
pub(super) fn immutable_uri(path: &Path) -> String {
    // After an empty host, `C:/notes` needs a `/` in front of it.
    let mut uri = if cfg!(windows) { "file:///" } else { "file:" }.to_owned();
    for &byte in path.as_os_str().as_encoded_bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            uri.push(byte as char);
        } else {
            let _ = write!(uri, "%{byte:02X}");
        }
    }
    uri + "?immutable=1"
}
