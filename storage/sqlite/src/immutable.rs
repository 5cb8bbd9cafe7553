//! Database files that are read as ones that nobody changes: SQLite's `immutable`.

use std::fmt::Write;
use std::path::Path;

use agent_memory_storage_files::{Directory, Metadata};
use rustix::io::Errno;

/// The suffixes of the files with changes that the database file does not have.
const JOURNALS: [&str; 2] = ["-wal", "-journal"];

/// A file that is read as one that nobody changes.
#[derive(Debug)]
pub(super) struct ImmutableFile {
    pub directory: Directory,
    pub name: String,
    /// The file when it was opened.
    pub before: Metadata,
}

impl ImmutableFile {
    /// Whether nobody has changed it since.
    pub fn holds(&self) -> bool {
        matches!(self.directory.metadata(&self.name), Ok(Some(now)) if now == self.before)
            && matches!(journal_of(&self.name, &self.directory), Ok(None))
    }
}

/// The suffix of a file with changes that the database file does not have.
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

/// The path as a URI that says that nobody changes the file.
pub(super) fn immutable_uri(path: &Path) -> String {
    let mut uri = "file:".to_owned();
    for &byte in path.as_os_str().as_encoded_bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            uri.push(byte as char);
        } else {
            let _ = write!(uri, "%{byte:02X}");
        }
    }
    uri + "?immutable=1"
}
