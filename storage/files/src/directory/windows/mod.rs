//! An open directory on Windows: handles of the NT kernel, which opens names relative to a handle.
//!
//! A name is never given to Win32, which would change it (`CON`, trailing dots and spaces) or limit
//! its length. Every open has `FILE_OPEN_REPARSE_POINT`: a link is opened itself, and refused.

use std::ffi::{OsStr, OsString, c_void};
use std::fs::File;
use std::mem::{offset_of, size_of};
use std::os::windows::ffi::{OsStrExt, OsStringExt};
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle, RawHandle};
use std::path::{Component, Path, Prefix};
use std::ptr::{null, null_mut};
use std::sync::Arc;
use std::time::Duration;

use agent_memory_storage::EntryKind;
use windows_sys::Wdk::Foundation::OBJECT_ATTRIBUTES;
use windows_sys::Wdk::Storage::FileSystem as nt;
use windows_sys::Win32::Foundation::{
    NTSTATUS, OBJ_CASE_INSENSITIVE, RtlNtStatusToDosError, STATUS_DELETE_PENDING,
    STATUS_NO_MORE_FILES, STATUS_REPARSE_POINT_ENCOUNTERED, UNICODE_STRING,
};
use windows_sys::Win32::Storage::FileSystem::{
    BY_HANDLE_FILE_INFORMATION, DELETE, FILE_ADD_FILE, FILE_ATTRIBUTE_DIRECTORY,
    FILE_ATTRIBUTE_NORMAL, FILE_ATTRIBUTE_REPARSE_POINT, FILE_GENERIC_READ, FILE_GENERIC_WRITE,
    FILE_LIST_DIRECTORY, FILE_READ_ATTRIBUTES, FILE_READ_DATA, FILE_SHARE_DELETE, FILE_SHARE_READ,
    FILE_SHARE_WRITE, FILE_TRAVERSE, FILE_WRITE_ATTRIBUTES, FILE_WRITE_DATA,
    GetFileInformationByHandle, SYNCHRONIZE,
};
use windows_sys::Win32::System::IO::IO_STATUS_BLOCK;

use super::facts::{Facts, Found, Metadata};
use crate::errno::{Errno, errno_of};

mod private;

const SHARE_ALL: u32 = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
/// The rights to look up and list names in a directory.
const SEARCH: u32 = FILE_LIST_DIRECTORY | FILE_TRAVERSE | FILE_READ_ATTRIBUTES | SYNCHRONIZE;
/// The bit that the reparse tags of links have: of symbolic links, junctions and mount points.
const NAME_SURROGATE: u32 = 0x2000_0000;
/// The size of the buffer for a part of a listing, in bytes.
const LISTED_BYTES: usize = 64 * 1024;
/// How often an operation is repeated while another program prevents it: an editor, an indexer or a
/// scanner that has the file open without sharing it.
const ATTEMPTS: u32 = 8;

/// An open directory. A clone is the same handle.
///
/// An error of the operating system is returned as the nearest [`Errno`] of POSIX. A link gives `LOOP`, a
/// name that cannot be used `INVAL` or `NOENT`.
#[derive(Clone, Debug)]
pub struct Directory(Arc<OwnedHandle>);

impl Directory {
    /// Opens a canonical path. Fails if the path now has a symbolic link.
    pub fn open(path: &Path) -> Result<Self, Errno> {
        let (mut directory, names) = Directory::root(path)?;
        for name in names {
            directory = directory.child(name)?;
        }
        Ok(directory)
    }

    /// Opens the nearest existing directory at or above a canonical path. Also returns the names
    /// from that directory to the path.
    pub fn open_nearest(path: &Path) -> Result<(Self, Vec<&OsStr>), Errno> {
        let (mut directory, names) = Directory::root(path)?;
        let mut names = names.into_iter();
        while let Some(name) = names.next() {
            match directory.child(name) {
                Ok(child) => directory = child,
                Err(Errno::NOENT) => {
                    return Ok((directory, std::iter::once(name).chain(names).collect()));
                }
                Err(errno) => return Err(errno),
            }
        }
        Ok((directory, Vec::new()))
    }

    /// The root of the volume or share of an absolute path, and the names from there.
    fn root(path: &Path) -> Result<(Self, Vec<&OsStr>), Errno> {
        let mut components = path.components();
        let Some(Component::Prefix(prefix)) = components.next() else { return Err(Errno::INVAL) };
        let shown = |name: &OsStr| name.to_str().map(str::to_owned).ok_or(Errno::INVAL);
        let root = match prefix.kind() {
            Prefix::VerbatimDisk(letter) | Prefix::Disk(letter) => format!("{}:", letter as char),
            Prefix::VerbatimUNC(server, share) | Prefix::UNC(server, share) => {
                format!("UNC\\{}\\{}", shown(server)?, shown(share)?)
            }
            Prefix::Verbatim(volume) => shown(volume)?,
            Prefix::DeviceNS(_) => return Err(Errno::INVAL),
        };
        let mut names = Vec::new();
        for component in components {
            match component {
                Component::RootDir => {}
                Component::Normal(name) => names.push(name),
                _ => return Err(Errno::INVAL),
            }
        }
        let name: Vec<u16> = format!("\\??\\{root}\\").encode_utf16().collect();
        let options = nt::FILE_DIRECTORY_FILE;
        let handle = open_at(null_mut(), &name, SEARCH, nt::FILE_OPEN, options, null())?;
        Ok((Directory(Arc::new(handle)), names))
    }

    /// Opens a subdirectory. `NOTDIR` or `LOOP` if it is not a directory.
    pub fn child(&self, name: impl AsRef<OsStr>) -> Result<Self, Errno> {
        let name = wide(name.as_ref())?;
        let opened = self.at(&name, SEARCH, nt::FILE_OPEN, nt::FILE_DIRECTORY_FILE)?;
        if metadata_of(&opened)?.kind != EntryKind::Directory {
            return Err(Errno::LOOP);
        }
        Ok(Directory(Arc::new(opened)))
    }

    fn at(&self, name: &[u16], access: u32, how: u32, options: u32) -> Result<OwnedHandle, Errno> {
        open_at(self.0.as_raw_handle(), name, access, how, options, null())
    }

    /// Opens a file or directory, or creates it, as `how` says. With a mode for the owner alone, a new
    /// file or directory inherits no access rights from its directory. With another mode, it inherits
    /// them.
    fn make(
        &self,
        name: &[u16],
        access: u32,
        how: u32,
        options: u32,
        mode: u32,
    ) -> Result<OwnedHandle, Errno> {
        let is_private = mode & 0o077 == 0;
        let rights = if is_private { private::descriptor()? } else { null() };
        open_at(self.0.as_raw_handle(), name, access, how, options, rights)
    }

    /// The metadata and the change time of a file, or `None` if nothing exists under this name.
    pub(super) fn facts(&self, name: &str) -> Result<Option<Facts>, Errno> {
        if name == "." {
            return facts_of(&self.0).map(Some);
        }
        let access = FILE_READ_ATTRIBUTES | SYNCHRONIZE;
        match self.at(&wide(name.as_ref())?, access, nt::FILE_OPEN, 0) {
            Ok(opened) => facts_of(&opened).map(Some),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(errno),
        }
    }

    pub(crate) fn open_file(&self, name: &str) -> Result<Found<File>, Errno> {
        match self.at(&wide(name.as_ref())?, FILE_GENERIC_READ, nt::FILE_OPEN, 0) {
            Ok(file) => {
                let metadata = metadata_of(&file)?;
                Ok(match metadata.kind {
                    EntryKind::File => Found::File(File::from(file), metadata),
                    _ => Found::SomethingElse,
                })
            }
            Err(Errno::NOENT) => Ok(Found::Nothing),
            Err(errno) => Err(errno),
        }
    }

    /// Creates a file. `EXIST` if the name exists.
    pub fn create_file(&self, name: &str, mode: u32) -> Result<File, Errno> {
        let name = wide(name.as_ref())?;
        let access = FILE_GENERIC_READ | FILE_GENERIC_WRITE;
        self.make(&name, access, nt::FILE_CREATE, nt::FILE_NON_DIRECTORY_FILE, mode).map(File::from)
    }

    /// Opens a file to overwrite it, and creates it if it is missing.
    pub fn overwrite_file(&self, name: &str, mode: u32) -> Result<File, Errno> {
        let name = wide(name.as_ref())?;
        let options = nt::FILE_NON_DIRECTORY_FILE;
        let file = self.make(&name, FILE_GENERIC_WRITE, nt::FILE_OPEN_IF, options, mode)?;
        match metadata_of(&file)?.kind {
            EntryKind::File => Ok(File::from(file)),
            _ => Err(Errno::LOOP),
        }
    }

    /// Creates a directory. `EXIST` if the name exists.
    pub fn create_directory(&self, name: &str, mode: u32) -> Result<(), Errno> {
        let name = wide(name.as_ref())?;
        self.make(&name, SEARCH, nt::FILE_CREATE, nt::FILE_DIRECTORY_FILE, mode).map(drop)
    }

    /// Makes a hard link to the file `from`, with the name `to` in the directory `other`.
    pub fn link_into(&self, from: &str, other: &Directory, to: &str) -> Result<(), Errno> {
        let access = FILE_WRITE_ATTRIBUTES | SYNCHRONIZE;
        let options = nt::FILE_NON_DIRECTORY_FILE;
        let file = self.at(&wide(from.as_ref())?, access, nt::FILE_OPEN, options)?;
        set_name(&file, other, to, 0, nt::FileLinkInformation)
    }

    /// Renames a file to a name in another directory, and replaces any file there, even if other
    /// programs have it open. Fails after some attempts if such a program does not share the file.
    pub fn rename(&self, from: &str, other: &Directory, to: &str) -> Result<(), Errno> {
        let access = DELETE | FILE_READ_ATTRIBUTES | SYNCHRONIZE;
        let name = wide(from.as_ref())?;
        patiently(|| {
            let file = self.at(&name, access, nt::FILE_OPEN, 0)?;
            let flags = nt::FILE_RENAME_REPLACE_IF_EXISTS
                | nt::FILE_RENAME_POSIX_SEMANTICS
                | nt::FILE_RENAME_IGNORE_READONLY_ATTRIBUTE;
            match set_name(&file, other, to, flags, nt::FileRenameInformationEx) {
                // FAT and old versions of Windows do not support this kind of rename.
                Err(Errno::OPNOTSUPP | Errno::INVAL | Errno::NOSYS) => {
                    let replaces = nt::FILE_RENAME_REPLACE_IF_EXISTS;
                    set_name(&file, other, to, replaces, nt::FileRenameInformation)
                }
                renamed => renamed,
            }
        })
    }

    /// Removes a file.
    pub fn remove_file(&self, name: &str) -> Result<(), Errno> {
        self.remove(name, nt::FILE_NON_DIRECTORY_FILE)
    }

    /// Removes an empty directory.
    pub fn remove_directory(&self, name: &str) -> Result<(), Errno> {
        self.remove(name, nt::FILE_DIRECTORY_FILE)
    }

    fn remove(&self, name: &str, options: u32) -> Result<(), Errno> {
        let name = wide(name.as_ref())?;
        patiently(|| {
            let file = self.at(&name, DELETE | SYNCHRONIZE, nt::FILE_OPEN, options)?;
            let flags = nt::FILE_DISPOSITION_DELETE
                | nt::FILE_DISPOSITION_POSIX_SEMANTICS
                | nt::FILE_DISPOSITION_IGNORE_READONLY_ATTRIBUTE;
            match set(&file, &flags, nt::FileDispositionInformationEx) {
                Err(Errno::OPNOTSUPP | Errno::INVAL | Errno::NOSYS) => {
                    set(&file, &1u8, nt::FileDispositionInformation)
                }
                removed => removed,
            }
        })
    }

    /// Makes created, renamed and removed names survive a loss of power.
    pub fn sync(&self) -> Result<(), Errno> {
        let access = FILE_ADD_FILE | SYNCHRONIZE;
        let opened = self.at(&[], access, nt::FILE_OPEN, nt::FILE_DIRECTORY_FILE)?;
        match File::from(opened).sync_all().map_err(|error| errno_of(&error)) {
            // FAT and network drives flush no directory.
            Err(Errno::OPNOTSUPP | Errno::INVAL) => Ok(()),
            synced => synced,
        }
    }

    /// The names in the directory, in no order. Names that are not UTF-16 are left out: no path can
    /// name them.
    pub fn names(&self) -> Result<impl Iterator<Item = Result<String, Errno>>, Errno> {
        // Opens another handle, because the position in a listing belongs to the handle.
        let handle = self.at(&[], SEARCH, nt::FILE_OPEN, nt::FILE_DIRECTORY_FILE)?;
        let mut names = Vec::new();
        // The entries are aligned to eight bytes.
        let mut buffer = vec![0u64; LISTED_BYTES / size_of::<u64>()];
        loop {
            let mut status = IO_STATUS_BLOCK::default();
            // SAFETY: all pointers outlive the call, and the length is the buffer's.
            let listed = unsafe {
                nt::NtQueryDirectoryFile(
                    handle.as_raw_handle(),
                    null_mut(),
                    None,
                    null(),
                    &mut status,
                    buffer.as_mut_ptr().cast(),
                    LISTED_BYTES as u32,
                    nt::FileNamesInformation,
                    false,
                    null(),
                    false,
                )
            };
            if listed == STATUS_NO_MORE_FILES {
                return Ok(names.into_iter());
            }
            check(listed)?;
            let mut at = 0;
            loop {
                // SAFETY: the system wrote an entry here, and its name behind it.
                let (next, name) = unsafe { entry_at(&buffer, at) };
                let is_own = [".", ".."].iter().any(|own| name == *own);
                if let Ok(name) = name.into_string()
                    && !is_own
                {
                    names.push(Ok(name));
                }
                if next == 0 {
                    break;
                }
                at += next;
            }
        }
    }

    /// Sets the permission bits of a file without opening it. Windows has none.
    pub fn set_file_mode(&self, _name: &str, _mode: u32) -> Result<(), Errno> {
        Ok(())
    }

    /// Succeeds if this process may read the file `name` in this directory.
    pub fn readable_file(&self, name: &str) -> Result<(), Errno> {
        self.at(&wide(name.as_ref())?, FILE_READ_DATA | SYNCHRONIZE, nt::FILE_OPEN, 0).map(drop)
    }

    /// Succeeds if this process may create files in this directory.
    pub fn writable(&self) -> Result<(), Errno> {
        self.at(&[], FILE_ADD_FILE | SYNCHRONIZE, nt::FILE_OPEN, nt::FILE_DIRECTORY_FILE).map(drop)
    }

    /// Succeeds if this process may read and write the file `name` in this directory.
    pub fn may_use(&self, name: &str) -> Result<(), Errno> {
        let access = FILE_READ_DATA | FILE_WRITE_DATA | SYNCHRONIZE;
        self.at(&wide(name.as_ref())?, access, nt::FILE_OPEN, 0).map(drop)
    }
}

/// Sets the permission bits. Windows has none.
pub(crate) fn set_mode(_file: &File, _mode: u32) -> Result<(), Errno> {
    Ok(())
}

/// Returns the distance from the listing's entry at the offset `at` to the next entry, both in bytes,
/// and the name of the entry. The distance is 0 for the last entry.
///
/// # Safety
///
/// The system wrote an entry there.
unsafe fn entry_at(buffer: &[u64], at: usize) -> (usize, OsString) {
    let start = offset_of!(nt::FILE_NAMES_INFORMATION, FileName);
    // SAFETY: the caller vouches for the entry; its name has as many bytes as it says.
    unsafe {
        let entry = buffer.as_ptr().cast::<u8>().add(at);
        let found = entry.cast::<nt::FILE_NAMES_INFORMATION>();
        let length = (*found).FileNameLength as usize / size_of::<u16>();
        let name = std::slice::from_raw_parts(entry.add(start).cast::<u16>(), length);
        ((*found).NextEntryOffset as usize, OsString::from_wide(name))
    }
}

/// Converts a single name for the kernel. Refuses characters such as `\` and `:`, which the kernel
/// would take as a separator and as the start of a stream's name.
fn wide(name: &OsStr) -> Result<Vec<u16>, Errno> {
    let name: Vec<u16> = name.encode_wide().collect();
    let is_refused =
        |&unit: &u16| unit < 32 || (unit < 128 && b"\\/:*?\"<>|".contains(&(unit as u8)));
    match name.as_slice() {
        [] => Err(Errno::INVAL),
        [46] | [46, 46] => Err(Errno::INVAL),
        // Windows allows no such name, so nothing can exist under it.
        name if name.iter().any(is_refused) => Err(Errno::NOENT),
        _ => Ok(name),
    }
}

fn open_at(
    root: RawHandle,
    name: &[u16],
    access: u32,
    how: u32,
    options: u32,
    rights: *const c_void,
) -> Result<OwnedHandle, Errno> {
    let bytes = u16::try_from(name.len() * 2).map_err(|_| Errno::NAMETOOLONG)?;
    let text =
        UNICODE_STRING { Length: bytes, MaximumLength: bytes, Buffer: name.as_ptr().cast_mut() };
    let attributes = OBJECT_ATTRIBUTES {
        Length: size_of::<OBJECT_ATTRIBUTES>() as u32,
        RootDirectory: root,
        ObjectName: &text,
        Attributes: OBJ_CASE_INSENSITIVE,
        SecurityDescriptor: rights.cast(),
        SecurityQualityOfService: null(),
    };
    let mut handle = null_mut();
    let mut status = IO_STATUS_BLOCK::default();
    let options = options | nt::FILE_OPEN_REPARSE_POINT | nt::FILE_SYNCHRONOUS_IO_NONALERT;
    // SAFETY: all pointers outlive the call.
    check(unsafe {
        nt::NtCreateFile(
            &mut handle,
            access,
            &attributes,
            &mut status,
            null(),
            FILE_ATTRIBUTE_NORMAL,
            SHARE_ALL,
            how,
            options,
            null(),
            0,
        )
    })?;
    // SAFETY: the kernel has just given this handle.
    Ok(unsafe { OwnedHandle::from_raw_handle(handle) })
}

fn metadata_of(file: &OwnedHandle) -> Result<Metadata, Errno> {
    Ok(facts_of(file)?.metadata)
}

fn facts_of(file: &OwnedHandle) -> Result<Facts, Errno> {
    let mut found = BY_HANDLE_FILE_INFORMATION::default();
    // SAFETY: the handle is open, and the function only writes to the given memory.
    if unsafe { GetFileInformationByHandle(file.as_raw_handle(), &mut found) } == 0 {
        return Err(errno_of(&std::io::Error::last_os_error()));
    }
    // SAFETY: `FileBasicInformation` is the class of this struct.
    let times: nt::FILE_BASIC_INFORMATION = unsafe { query(file, nt::FileBasicInformation)? };
    let attributes = found.dwFileAttributes;
    let is_link = attributes & FILE_ATTRIBUTE_REPARSE_POINT != 0 && {
        // SAFETY: the data of this class are two numbers: the attributes and the tag.
        let [_, tag]: [u32; 2] = unsafe { query(file, nt::FileAttributeTagInformation)? };
        tag & NAME_SURROGATE != 0
    };
    let joined = |high: u32, low: u32| u64::from(high) << 32 | u64::from(low);
    let metadata = Metadata {
        kind: match attributes & FILE_ATTRIBUTE_DIRECTORY {
            _ if is_link => EntryKind::Other,
            0 => EntryKind::File,
            _ => EntryKind::Directory,
        },
        size: joined(found.nFileSizeHigh, found.nFileSizeLow),
        mode: 0o600,
        inode: joined(found.nFileIndexHigh, found.nFileIndexLow),
        modified: since_1970(times.LastWriteTime),
    };
    Ok(Facts { metadata, changed: since_1970(times.ChangeTime) })
}

/// Converts units of 100 ns since 1601 to seconds and nanoseconds since 1970.
fn since_1970(time: i64) -> (i64, i64) {
    let time = time - 116_444_736_000_000_000;
    (time.div_euclid(10_000_000), time.rem_euclid(10_000_000) * 100)
}

/// # Safety
///
/// `T` is the plain data type of the information class `class`.
unsafe fn query<T: Default>(file: &OwnedHandle, class: i32) -> Result<T, Errno> {
    let mut status = IO_STATUS_BLOCK::default();
    let mut data = T::default();
    let to = (&raw mut data).cast();
    let size = size_of::<T>() as u32;
    // SAFETY: the handle is open, and the caller vouches for the type.
    check(unsafe {
        nt::NtQueryInformationFile(file.as_raw_handle(), &mut status, to, size, class)
    })?;
    Ok(data)
}

fn set<T>(file: &OwnedHandle, data: &T, class: i32) -> Result<(), Errno> {
    set_bytes(file, (&raw const *data).cast(), size_of::<T>(), class)
}

fn set_bytes(file: &OwnedHandle, data: *const u8, size: usize, class: i32) -> Result<(), Errno> {
    let mut status = IO_STATUS_BLOCK::default();
    // SAFETY: the callers give plain data of the type that belongs to the class.
    check(unsafe {
        nt::NtSetInformationFile(file.as_raw_handle(), &mut status, data.cast(), size as u32, class)
    })
}

/// Gives a file the name `to` in the directory `other`: by a rename or a hard link, as `class` says.
fn set_name(
    file: &OwnedHandle,
    other: &Directory,
    to: &str,
    flags: u32,
    class: i32,
) -> Result<(), Errno> {
    let name = wide(to.as_ref())?;
    let start = offset_of!(nt::FILE_RENAME_INFORMATION, FileName);
    let size = (start + name.len() * 2).max(size_of::<nt::FILE_RENAME_INFORMATION>());
    let mut buffer = vec![0u64; size.div_ceil(8)];
    let to = buffer.as_mut_ptr().cast::<nt::FILE_RENAME_INFORMATION>();
    // SAFETY: the buffer is aligned and large enough.
    unsafe {
        (*to).Anonymous.Flags = flags;
        (*to).RootDirectory = other.0.as_raw_handle();
        (*to).FileNameLength = (name.len() * 2) as u32;
        let at = to.cast::<u8>().add(start).cast::<u16>();
        at.copy_from_nonoverlapping(name.as_ptr(), name.len());
    }
    set_bytes(file, to.cast(), size, class)
}

/// Repeats an operation while another program prevents it, for 255 ms in all.
fn patiently(mut attempt: impl FnMut() -> Result<(), Errno>) -> Result<(), Errno> {
    for round in 0..ATTEMPTS {
        match attempt() {
            Err(Errno::BUSY | Errno::ACCESS) => {
                std::thread::sleep(Duration::from_millis(1 << round));
            }
            done => return done,
        }
    }
    attempt()
}

fn check(status: NTSTATUS) -> Result<(), Errno> {
    match status {
        0.. => Ok(()),
        STATUS_DELETE_PENDING => Err(Errno::BUSY),
        STATUS_REPARSE_POINT_ENCOUNTERED => Err(Errno::LOOP),
        // SAFETY: the function only looks the number up.
        _ => Err(Errno::from_win32(unsafe { RtlNtStatusToDosError(status) })),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::windows::fs::OpenOptionsExt;

    use super::*;
    use crate::canonical;

    fn scratch() -> (tempfile::TempDir, Directory) {
        let scratch = tempfile::tempdir().unwrap();
        let directory = Directory::open(&canonical(scratch.path()).unwrap()).unwrap();
        (scratch, directory)
    }

    fn write(directory: &Directory, name: &str, text: &str) {
        directory.create_file(name, 0o600).unwrap().write_all(text.as_bytes()).unwrap();
    }

    #[test]
    fn a_name_is_no_path_no_stream_and_no_pattern() {
        let (_scratch, directory) = scratch();
        let hostile = [
            "",
            ".",
            "..",
            r"..\a",
            "../a",
            r"a\b",
            "a/b",
            r"\a",
            r"C:\a",
            "C:",
            "a:b",
            "a::$DATA",
            "a*",
            "a?",
            "a\0",
            "a\n",
            r"\??\C:\a",
            r"\\server\share\a",
        ];
        write(&directory, "a", "kept");
        for name in hostile {
            assert!(directory.create_file(name, 0o600).is_err(), "{name:?}");
            assert!(directory.create_directory(name, 0o700).is_err(), "{name:?}");
            assert!(directory.child(name).is_err(), "{name:?}");
            assert!(directory.rename("a", &directory, name).is_err(), "{name:?}");
            assert!(directory.remove_file(name).is_err(), "{name:?}");
            assert!(!matches!(directory.open_file(name), Ok(Found::File(..))), "{name:?}");
        }
        let names: Result<Vec<String>, Errno> = directory.names().unwrap().collect();
        assert_eq!(names, Ok(vec!["a".to_owned()]));
    }

    #[test]
    fn a_path_may_be_longer_than_win32_allows() {
        let (_scratch, mut directory) = scratch();
        for _ in 0..4 {
            let name = "n".repeat(100);
            directory.create_directory(&name, 0o700).unwrap();
            directory = directory.child(&name).unwrap();
        }
        write(&directory, "a", "kept");
        directory.rename("a", &directory, "b").unwrap();
        assert_eq!(directory.read_start("b", 10), Ok(Some(b"kept".to_vec())));
    }

    #[test]
    fn a_file_that_another_program_does_not_share_is_not_replaced() {
        let (scratch, directory) = scratch();
        write(&directory, "notes", "old");
        write(&directory, "new", "new");
        let path = scratch.path().join("notes");
        let other = File::options().read(true).share_mode(FILE_SHARE_READ).open(path).unwrap();
        let blocked = directory.rename("new", &directory, "notes");
        assert!(matches!(blocked, Err(Errno::BUSY | Errno::ACCESS)), "{blocked:?}");
        assert_eq!(directory.read_start("notes", 10), Ok(Some(b"old".to_vec())));
        drop(other);
        directory.rename("new", &directory, "notes").unwrap();
        assert_eq!(directory.read_start("notes", 10), Ok(Some(b"new".to_vec())));
    }
}
