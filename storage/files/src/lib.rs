//! Documents on a file system: the granted places and their layout, the rules for paths, reading, and
//! the durable commit. Any host with a file system can use this crate: it takes no locks, runs no SQL
//! and knows nothing of the host's threads.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use agent_memory_storage::{Area, Change, Documents};
//! use agent_memory_storage_files::{Durability, Grant, Layout, Repository, Tree};
//!
//! # let directory = tempfile::tempdir()?;
//! let grant = Grant::new(directory.path())?;
//! let repository = Repository::resolve(directory.path().to_str().unwrap(), &[grant])?;
//! let tree = Tree::new(Layout::from_repository(repository)?, Durability::Full);
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
mod canonical;
mod commit;
mod common_directory;
mod database_file;
mod directory;
mod durability;
mod errno;
mod error;
mod family;
mod git_config;
mod layout;
mod mark;
mod members;
pub mod owner;
pub mod path;
pub mod places;
mod repository;
mod tree;

pub use base::{Base, obstacle};
pub use cache::Cache;
pub use canonical::{canonical, display, from_written, is_absolute};
#[cfg(windows)]
pub use canonical::{is_at, verbatim};
pub use common_directory::git_common_directory;
pub use database_file::DatabaseFile;
pub use directory::{Directory, File, Kind, Metadata, kind_at};
pub use durability::Durability;
pub use errno::Errno;
pub use error::{errno_error, io_error};
pub use family::{Directories, FamilyBase};
pub use layout::{BESIDE_DATABASE, Layout, OWN, lock_directory_error, reserved_names};
pub use mark::{Mark, remove_mark};
pub use members::{Members, Registered};
pub use repository::{Grant, Repository};
pub use tree::Tree;
