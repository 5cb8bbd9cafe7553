//! Canonical paths, and paths as people read them.

use std::io;
use std::path::{Path, PathBuf};

/// The canonical path of something that exists.
///
/// On Windows it is shown and compared without the prefix `\\?\`, with `/` between its names: as
/// `C:/notes` or `//server/share/notes`.
///
/// # Errors
///
/// The operating system's.
#[cfg(not(any(windows, target_os = "wasi")))]
pub fn canonical(path: &Path) -> io::Result<PathBuf> {
    path.canonicalize()
}

/// The path of something that exists. WASI cannot resolve links, so a path with a link is refused.
///
/// # Errors
///
/// The operating system's; `ELOOP` for a link.
#[cfg(all(target_os = "wasi", not(feature = "imported")))]
pub fn canonical(path: &Path) -> io::Result<PathBuf> {
    let has_link = |path: &Path| path.symlink_metadata().is_ok_and(|found| found.is_symlink());
    let has_parent = path.components().any(|part| part == std::path::Component::ParentDir);
    if has_parent || path.ancestors().any(has_link) {
        return Err(crate::Errno::LOOP.into());
    }
    path.symlink_metadata()?;
    Ok(path.components().collect())
}

/// The canonical path of something that exists.
///
/// # Errors
///
/// The host's.
#[cfg(all(target_arch = "wasm32", feature = "imported"))]
pub fn canonical(path: &Path) -> io::Result<PathBuf> {
    let bytes = crate::directory::canonical(path.to_str().ok_or(crate::Errno::INVAL)?)?;
    // SAFETY: on this system, any bytes are a path, as on Unix.
    Ok(PathBuf::from(unsafe { std::ffi::OsString::from_encoded_bytes_unchecked(bytes) }))
}

/// The canonical path of something that exists, as `C:/notes` or `//server/share/notes`.
///
/// # Errors
///
/// The operating system's.
#[cfg(windows)]
pub fn canonical(path: &Path) -> io::Result<PathBuf> {
    let path = path.canonicalize()?;
    let Some(text) = path.to_str() else { return Ok(path) };
    Ok(shown(text).map_or(path, PathBuf::from))
}

/// True in WebAssembly with an imported file system: the host may run on Windows, with paths such as
/// `C:/notes`.
const MAY_BE_WINDOWS: bool = cfg!(all(target_arch = "wasm32", feature = "imported"));

/// Whether a path is absolute. In WebAssembly, `C:/notes` counts as absolute, too: the host may run on
/// Windows.
pub fn is_absolute(path: &Path) -> bool {
    path.is_absolute() || MAY_BE_WINDOWS && path.to_str().is_some_and(has_drive)
}

/// Reads a path that a person or a program wrote. In WebAssembly, a path of Windows (`C:\notes` or
/// `\\server\share`) gets `/` for each `\`.
pub fn from_written(path: &str) -> PathBuf {
    if MAY_BE_WINDOWS && (has_drive(path) || path.starts_with(r"\\")) {
        return path.replace('\\', "/").into();
    }
    path.into()
}

/// Whether a path begins at the root of a drive of Windows.
fn has_drive(path: &str) -> bool {
    let bytes = path.as_bytes();
    matches!(bytes, [letter, b':', b'/' | b'\\', ..] if letter.is_ascii_alphabetic())
}

/// A path as messages and answers show it: with `/` between its names, also on Windows.
pub fn display(path: &Path) -> String {
    let path = path.to_string_lossy();
    if cfg!(windows) { path.replace('\\', "/") } else { path.into_owned() }
}

/// The path with the prefix `\\?\`. Win32 passes such a path on to the kernel unchanged, so it can have
/// any length and any names.
#[cfg(windows)]
pub fn verbatim(canonical: &Path) -> PathBuf {
    let Some(text) = canonical.to_str() else { return canonical.to_owned() };
    let text = text.replace('/', r"\");
    if text.starts_with(r"\\?\") {
        return text.into();
    }
    match text.strip_prefix(r"\\") {
        Some(share) => format!(r"\\?\UNC\{share}").into(),
        None => format!(r"\\?\{text}").into(),
    }
}

/// Whether an open file is the file at the path `canonical`. False if a link led to it.
#[cfg(windows)]
pub fn is_at(file: std::os::windows::io::RawHandle, canonical: &Path) -> bool {
    use windows_sys::Win32::Storage::FileSystem::{
        FILE_NAME_NORMALIZED, GetFinalPathNameByHandleW,
    };
    // The maximum length of a path on Windows, in UTF-16 units.
    let mut buffer = vec![0u16; 32_768];
    // SAFETY: the function only writes to the given memory, and fails for a handle of no file.
    let length = unsafe {
        let to = buffer.as_mut_ptr();
        let size = buffer.len() as u32;
        GetFinalPathNameByHandleW(file, to, size, FILE_NAME_NORMALIZED)
    };
    let Some(path) = buffer.get(..length as usize).filter(|path| !path.is_empty()) else {
        return false;
    };
    let lower = |path: &Path| path.to_string_lossy().to_lowercase();
    let path = PathBuf::from(String::from_utf16_lossy(path));
    lower(&path) == lower(&verbatim(canonical))
}

/// A canonical path without its prefix `\\?\` and with `/`. `None` if there is no prefix, or if the
/// path needs it, such as the path of a volume without a drive letter.
#[cfg(any(windows, test))]
fn shown(canonical: &str) -> Option<String> {
    let path = canonical.strip_prefix(r"\\?\")?;
    let path = match path.strip_prefix(r"UNC\") {
        Some(share) => format!(r"\\{share}"),
        None if path.get(1..3) == Some(r":\") => path.to_owned(),
        None => return None,
    };
    Some(path.replace('\\', "/"))
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn a_canonical_path_of_windows_is_shown_as_people_write_it() {
        for (canonical, expected) in [
            (r"\\?\C:\Users\Ada\notes", Some("C:/Users/Ada/notes")),
            (r"\\?\C:\", Some("C:/")),
            (r"\\?\UNC\server\share\notes", Some("//server/share/notes")),
            (r"\\?\Volume{b75e2c83-0000-0000-0000-602f00000000}\notes", None),
            (r"C:\notes", None),
        ] {
            assert_eq!(shown(canonical).as_deref(), expected, "{canonical}");
        }
    }
}
