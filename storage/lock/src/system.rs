//! Opening a file with SQLite without following a link, for each system.

use std::path::Path;

use rusqlite::{Connection, OpenFlags};

/// Whether connections may stay open between uses. Not on Windows: there, an open file keeps everyone
/// from moving or removing it and the directories above it.
pub const KEEPS_IDLE: bool = !cfg!(windows);

/// Opens a file with SQLite, by its canonical path. A symbolic link is not followed.
///
/// # Errors
///
/// SQLite's.
#[cfg(not(windows))]
pub fn open(path: &Path, flags: OpenFlags) -> rusqlite::Result<Connection> {
    Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NOFOLLOW)
}

/// Opens a file with SQLite, by its canonical path. A link is not followed. SQLite follows links on
/// Windows, so the path of the open file is compared with `path`.
///
/// # Errors
///
/// SQLite's; `SQLITE_CANTOPEN_SYMLINK` for a link.
#[cfg(windows)]
pub fn open(path: &Path, flags: OpenFlags) -> rusqlite::Result<Connection> {
    use agent_memory_storage_files::{is_at, verbatim};
    use rusqlite::ffi;

    // The default VFS limits a path to 260 characters.
    let connection = Connection::open_with_flags_and_vfs(verbatim(path), flags, c"win32-longpath")?;
    let mut handle: std::os::windows::io::RawHandle = std::ptr::null_mut();
    // SAFETY: the connection is open, and SQLite writes the handle of its file to the pointer.
    let asked = unsafe {
        let to = (&raw mut handle).cast();
        let ask = ffi::SQLITE_FCNTL_WIN32_GET_HANDLE;
        ffi::sqlite3_file_control(connection.handle(), c"main".as_ptr(), ask, to)
    };
    if asked == ffi::SQLITE_OK && is_at(handle, path) {
        Ok(connection)
    } else {
        let message = "a link leads to another file".to_owned();
        let error = ffi::Error::new(ffi::SQLITE_CANTOPEN_SYMLINK);
        Err(rusqlite::Error::SqliteFailure(error, Some(message)))
    }
}

/// Whether the open file is still the one at its path.
#[cfg(not(windows))]
pub fn is_in_place(connection: &Connection) -> bool {
    use rusqlite::FileControl;
    let mut moved = 0;
    connection.file_control(None::<&str>, FileControl::HasMoved(&mut moved)).is_ok() && moved == 0
}

/// Whether the open file is still the one at its path. On Windows it always is, because an open file
/// cannot be moved.
#[cfg(windows)]
pub fn is_in_place(_: &Connection) -> bool {
    true
}
