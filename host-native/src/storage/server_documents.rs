//! The documents of a place on a database server, except those with reserved names.

use agent_memory_storage::{
    Area, Change, CommitError, Document, Documents, Entry, Error, ErrorCode, Status,
};
use agent_memory_storage_files::reserved_names;
use agent_memory_storage_postgres::Reader;
use std::sync::Arc;

/// The documents of a place on a server. Refuses the names that a place on disk reserves at its root
/// for databases and locks. So documents can be moved between a server and a disk.
#[derive(Clone, Debug)]
pub(super) struct ServerDocuments {
    reader: Reader,
    reserved: Arc<[String]>,
}

impl ServerDocuments {
    /// The documents of a place. The names of its `databases` are reserved.
    pub fn new(reader: Reader, databases: &[String]) -> Self {
        ServerDocuments { reader, reserved: reserved_names(databases).into() }
    }

    /// The same documents, with another reader.
    pub fn with_reader(&self, reader: Reader) -> Self {
        ServerDocuments { reader, reserved: self.reserved.clone() }
    }

    /// Checks that no change names a reserved path.
    ///
    /// # Errors
    ///
    /// `invalid-path`.
    pub fn check_changes(&self, changes: &[Change]) -> Result<(), CommitError> {
        for (index, change) in changes.iter().enumerate() {
            for path in [change.path(), change.checked_path()] {
                self.check(change.area(), path).map_err(|error| CommitError {
                    error,
                    change: Some(index as u32),
                    applied: 0,
                })?;
            }
        }
        Ok(())
    }

    fn check(&self, area: Area, path: &str) -> Result<(), Error> {
        let first = path.split('/').next().unwrap_or_default().to_ascii_lowercase();
        if area == Area::Documents && self.reserved.contains(&first) {
            let message = format!("`{path}` leads to what the host keeps for itself");
            return Err(Error::new(ErrorCode::InvalidPath, message));
        }
        Ok(())
    }
}

impl Documents for ServerDocuments {
    fn stat(&self, area: Area, path: &str) -> Result<Option<Status>, Error> {
        self.check(area, path)?;
        self.reader.stat(area, path)
    }

    fn read(&self, area: Area, path: &str, max_bytes: u64) -> Result<Option<Document>, Error> {
        self.check(area, path)?;
        self.reader.read(area, path, max_bytes)
    }

    fn list(&self, area: Area, directory: &str) -> Result<Option<Vec<Entry>>, Error> {
        self.check(area, directory)?;
        self.reader.list(area, directory)
    }
}
