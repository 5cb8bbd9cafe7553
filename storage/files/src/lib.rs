//! Documents on a file system: where the parts of a place are, which paths a tree can hold, reading,
//! and the durable commit. It knows no lock, no SQL and no thread of a host, so that any host with a
//! file system can use it.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use agent_memory_storage::{Area, Change, Documents};
//! use agent_memory_storage_files::{Durability, Grant, Layout, Repository, Tree};
//!
//! # let directory = tempfile::tempdir()?;
//! let grant = Grant::new(directory.path())?;
//! let repository = Repository::resolve(directory.path().to_str().unwrap(), &[grant])?;
//! let tree = Tree::new(Layout::of_repository(repository)?, Durability::Full);
//! // The caller has the lock of the place, which the closure confirms.
//! tree.commit(&[Change::Put {
//!     area: Area::Documents,
//!     path: "aristotle/notes.md".into(),
//!     contents: b"so far\n".to_vec(),
//!     expects: None,
//! }], &|| true)?;
//! let document = tree.read(Area::Documents, "aristotle/notes.md", 1024)?.unwrap();
//! assert_eq!(document.contents, b"so far\n");
//! # Ok(())
//! # }
//! ```

mod base;
mod cache;
mod commit;
mod directory;
mod error;
mod git_config;
mod layout;
pub mod path;
mod repository;
mod tree;

pub use base::{Base, obstacle};
pub use cache::Cache;
pub use directory::{Directory, Metadata};
pub use error::{errno_error, io_error};
pub use layout::{BESIDE_DATABASE, Layout, OWN};
pub use repository::{Grant, Repository};
pub use tree::Tree;

/// What an acknowledged commit survives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// A loss of power: every file and every directory that a commit touches is synced.
    #[default]
    Full,
    /// The end of the process. A loss of power may take the last moments. A document that was new
    /// has its bytes synced, and is not left empty.
    Relaxed,
}
