//! The errors of Windows. Win32 codes with an equivalent in POSIX become that error.

use windows_sys::Win32::Foundation as win32;

/// An error of the operating system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Errno(i32);

macro_rules! names {
    ($($name:ident = $number:literal),* $(,)?) => {
        #[allow(missing_docs)]
        impl Errno { $(pub const $name: Errno = Errno(-$number);)* }
    };
}

// Negative, so that no Win32 code has the same number.
names! {
    ACCESS = 1, BUSY = 2, DQUOT = 3, EXIST = 4, FBIG = 5, ILSEQ = 6, INVAL = 7, IO = 8, ISDIR = 9,
    LOOP = 10, MFILE = 11, MLINK = 12, NAMETOOLONG = 13, NFILE = 14, NODEV = 15, NOENT = 16,
    NOMEM = 17, NOSPC = 18, NOSYS = 19, NOTDIR = 20, NOTEMPTY = 21, NXIO = 22, OPNOTSUPP = 23,
    PERM = 24, ROFS = 25, STALE = 26, XDEV = 27,
}

impl Errno {
    /// The error of a Win32 code.
    pub fn from_win32(code: u32) -> Errno {
        match code {
            win32::ERROR_FILE_NOT_FOUND | win32::ERROR_PATH_NOT_FOUND => Errno::NOENT,
            win32::ERROR_ACCESS_DENIED => Errno::ACCESS,
            win32::ERROR_SHARING_VIOLATION
            | win32::ERROR_LOCK_VIOLATION
            | win32::ERROR_USER_MAPPED_FILE
            | win32::ERROR_DELETE_PENDING => Errno::BUSY,
            win32::ERROR_FILE_EXISTS | win32::ERROR_ALREADY_EXISTS => Errno::EXIST,
            win32::ERROR_DIRECTORY => Errno::NOTDIR,
            win32::ERROR_DIR_NOT_EMPTY => Errno::NOTEMPTY,
            win32::ERROR_DISK_FULL | win32::ERROR_HANDLE_DISK_FULL => Errno::NOSPC,
            win32::ERROR_DISK_QUOTA_EXCEEDED | win32::ERROR_NOT_ENOUGH_QUOTA => Errno::DQUOT,
            win32::ERROR_WRITE_PROTECT => Errno::ROFS,
            win32::ERROR_INVALID_NAME | win32::ERROR_BAD_PATHNAME => Errno::NOENT,
            win32::ERROR_FILENAME_EXCED_RANGE => Errno::NAMETOOLONG,
            win32::ERROR_FILE_TOO_LARGE => Errno::FBIG,
            win32::ERROR_TOO_MANY_OPEN_FILES => Errno::MFILE,
            win32::ERROR_TOO_MANY_LINKS => Errno::MLINK,
            win32::ERROR_NOT_SAME_DEVICE => Errno::XDEV,
            win32::ERROR_NOT_SUPPORTED | win32::ERROR_INVALID_FUNCTION => Errno::OPNOTSUPP,
            win32::ERROR_CANT_RESOLVE_FILENAME | win32::ERROR_REPARSE_POINT_ENCOUNTERED => {
                Errno::LOOP
            }
            win32::ERROR_INVALID_PARAMETER => Errno::INVAL,
            win32::ERROR_NOT_ENOUGH_MEMORY | win32::ERROR_OUTOFMEMORY => Errno::NOMEM,
            win32::ERROR_NOT_READY | win32::ERROR_BAD_NETPATH => Errno::NODEV,
            other => Errno(other as i32),
        }
    }

    /// The operating system's error in an error of the standard library. `None` if it has none.
    pub fn from_io_error(error: &std::io::Error) -> Option<Errno> {
        error.raw_os_error().map(|code| Errno::from_win32(code as u32))
    }

    /// The Win32 code of an error without an equivalent in POSIX. For the others, a negative number.
    pub fn raw_os_error(self) -> i32 {
        self.0
    }
}

impl From<Errno> for std::io::Error {
    fn from(errno: Errno) -> std::io::Error {
        use std::io::ErrorKind;
        match errno {
            Errno::NOENT => ErrorKind::NotFound.into(),
            Errno::ACCESS | Errno::PERM => ErrorKind::PermissionDenied.into(),
            Errno::EXIST => ErrorKind::AlreadyExists.into(),
            Errno(code) if code > 0 => std::io::Error::from_raw_os_error(code),
            _ => ErrorKind::Other.into(),
        }
    }
}
