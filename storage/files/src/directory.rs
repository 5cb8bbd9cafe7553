//! An open directory. Each operation takes a single name without a separator, and follows no symbolic
//! link. So no sequence of operations leaves a granted root. Only the modules below make system calls:
//! `unix` for Unix and WASI, `windows` for Windows, and `imported` calls the file system that a host
//! lends. All three have the same functions.

use std::io::Read;

use agent_memory_storage::Status;

use crate::errno::{Errno, errno_of};

mod facts;
#[cfg(all(target_arch = "wasm32", feature = "imported"))]
mod imported;
#[cfg(not(all(target_arch = "wasm32", feature = "imported")))]
mod local;
#[cfg(not(any(windows, all(target_arch = "wasm32", feature = "imported"))))]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(all(target_arch = "wasm32", feature = "imported"))]
use imported as system;
#[cfg(not(any(windows, all(target_arch = "wasm32", feature = "imported"))))]
use unix as system;
#[cfg(windows)]
use windows as system;

use facts::Facts;
pub(crate) use facts::Found;
pub use facts::{Kind, Metadata};
#[cfg(all(target_arch = "wasm32", feature = "imported"))]
pub(crate) use imported::canonical;
#[cfg(all(target_arch = "wasm32", feature = "imported"))]
pub use imported::{File, kind_at};
#[cfg(not(all(target_arch = "wasm32", feature = "imported")))]
pub use local::{File, kind_at};
pub use system::Directory;
pub(crate) use system::set_mode;

impl Directory {
    /// The metadata of a name, or `None` if nothing exists there.
    pub fn metadata(&self, name: &str) -> Result<Option<Metadata>, Errno> {
        Ok(self.facts(name)?.map(|facts| facts.metadata))
    }

    /// The status of a name in a tree, or `None` if nothing exists there.
    pub fn status(&self, name: &str) -> Result<Option<Status>, Errno> {
        Ok(self.facts(name)?.as_ref().map(Facts::status))
    }

    /// The status of each of these names.
    pub fn statuses(&self, names: &[String]) -> Result<Vec<Option<Status>>, Errno> {
        let all = self.facts_of(names)?;
        Ok(all.into_iter().map(|facts| facts.as_ref().map(Facts::status)).collect())
    }

    /// The first `max_bytes` of a file. `None` if nothing has the name, or something other than a file.
    pub fn read_start(&self, name: &str, max_bytes: u64) -> Result<Option<Vec<u8>>, Errno> {
        let Found::File(file, _) = self.open_file(name)? else { return Ok(None) };
        let mut bytes = Vec::new();
        match file.take(max_bytes).read_to_end(&mut bytes) {
            Ok(_) => Ok(Some(bytes)),
            Err(error) => Err(errno_of(&error)),
        }
    }

    /// Makes a hard link to the file `from` with the name `to`. `EXIST` if that name exists.
    pub fn link(&self, from: &str, to: &str) -> Result<(), Errno> {
        self.link_into(from, self, to)
    }
}
