//! An open directory. Each operation takes a single name without a separator, and follows no
//! symbolic link. So no sequence of operations leaves a granted root. Only the modules below make
//! system calls: `unix` for Unix and WASI, `windows` for Windows. Both have the same functions.

use std::io::Read;

use agent_memory_storage::Status;

use crate::errno::{Errno, errno_of};

mod facts;
#[cfg(not(windows))]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(not(windows))]
use unix as system;
#[cfg(windows)]
use windows as system;

use facts::Facts;
pub(crate) use facts::Found;
pub use facts::Metadata;
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

    /// The first bytes of a file, or `None` if nothing, or no file, exists there.
    pub fn read_start(&self, name: &str, max_bytes: u64) -> Result<Option<Vec<u8>>, Errno> {
        let Found::File(file, _) = self.open_file(name)? else { return Ok(None) };
        let mut bytes = Vec::new();
        match file.take(max_bytes).read_to_end(&mut bytes) {
            Ok(_) => Ok(Some(bytes)),
            Err(error) => Err(errno_of(&error)),
        }
    }

    /// Links a file to another name. `EXIST` if that name exists.
    pub fn link(&self, from: &str, to: &str) -> Result<(), Errno> {
        self.link_into(from, self, to)
    }
}
