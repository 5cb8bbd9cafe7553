//! Places with documents and databases, as Rust traits and types. `wit/storage` defines the effect
//! of each function, its answer for an absent thing, and its errors.
//!
//! The core uses these traits. The hosts' storage and the storage in memory use the same types.

mod call_key;
mod change;
pub mod database;
mod documents;
mod error;
pub mod path;
mod place;
mod tree;

pub use call_key::CallKey;
pub use change::{
    Change, CommitError, MAX_CHANGES, MAY_STAND, Splice, UNCHANGED, already_exists,
    check_consistent, check_count, check_size, says_may_stand, version_mismatch,
};
pub use documents::{
    Area, Document, Documents, Entry, EntryKind, MAX_DOCUMENT_BYTES, MAX_ENTRIES, Status,
    has_document, hexadecimal, version_of,
};
pub use error::{Error, ErrorCode};
pub use place::Place;
pub use tree::{Tree, Writer};

/// The storage that a host provides. Each method follows `wit/storage`.
pub trait Storage {
    /// Opens a place that the host grants.
    fn open(&self, place: &Place) -> Result<Box<dyn Tree + '_>, Error>;

    /// The top levels of the granted repositories, in byte order. A granted directory that contains
    /// repositories, but is not one itself, is not among them.
    fn list_repositories(&self) -> Result<Vec<String>, Error>;

    /// The names of all places of a group, in byte order.
    fn list_places(&self, label: &str) -> Result<Vec<String>, Error>;

    /// Creates a place of a group below the host's data directory, and registers its name.
    fn create_place(&self, place: &Place) -> Result<Box<dyn Tree + '_>, Error>;

    /// Opens a SQL database of a place that the host grants. If the database is missing and
    /// `create` is set, creates it.
    fn open_database(
        &self,
        place: &Place,
        name: &str,
        kind: database::Kind,
        create: bool,
    ) -> Result<Box<dyn database::Connection + '_>, Error>;
}
