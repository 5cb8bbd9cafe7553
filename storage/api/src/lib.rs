//! Places with documents and databases: the Rust face of `wit/storage`, which says what each
//! function does, when a thing is absent, and which errors it can answer with.
//!
//! The core is written against these traits. The hosts' engines and the storage in memory use the
//! same types.

mod change;
pub mod database;
mod documents;
mod error;
mod place;

pub use change::{Change, CommitError, MAX_CHANGES, MAY_STAND, Splice, check_consistent};
pub use documents::{
    Area, Document, Documents, Entry, EntryKind, MAX_DOCUMENT_BYTES, MAX_ENTRIES, Status, Tree,
    Writer, has_document, hexadecimal, version_of,
};
pub use error::{Error, ErrorCode};
pub use place::Place;

/// All that a host lends. Each method does what `wit/storage` says.
pub trait Storage {
    /// Opens a place that the host grants.
    fn open(&self, place: &Place) -> Result<Box<dyn Tree + '_>, Error>;

    /// Opens a SQL database of a place that the host grants; creates it where it is missing and
    /// `create` is set.
    fn open_database(
        &self,
        place: &Place,
        name: &str,
        kind: database::Kind,
        create: bool,
    ) -> Result<Box<dyn database::Connection + '_>, Error>;
}
