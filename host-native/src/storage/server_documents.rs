//! The names that a place on a server gives to no document.

use agent_memory_storage::{Area, Error, ErrorCode};
use agent_memory_storage_files::reserved_names;

/// The names at the root of a place that a directory keeps for databases and locks. Every host refuses
/// them, so that documents can be moved from one medium to the other.
#[derive(Debug)]
pub(super) struct Reserved(Vec<String>);

impl Reserved {
    /// The names for a place with these databases.
    pub fn new(databases: &[String]) -> Self {
        Reserved(reserved_names(databases))
    }

    /// Checks that a path does not lead to a reserved name.
    ///
    /// # Errors
    ///
    /// `invalid-path`.
    pub fn check(&self, area: Area, path: &str) -> Result<(), Error> {
        let first = path.split('/').next().unwrap_or_default().to_ascii_lowercase();
        if area == Area::Documents && self.0.contains(&first) {
            let message = format!("`{path}` leads to what the host keeps for itself");
            return Err(Error::new(ErrorCode::InvalidPath, message));
        }
        Ok(())
    }
}
