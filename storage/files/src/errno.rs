//! The operating system's errors by the names of POSIX, which all hosts show.

#[cfg(not(windows))]
pub use rustix::io::Errno;

#[cfg(windows)]
mod windows;
#[cfg(windows)]
pub use windows::Errno;

/// The operating system's error in an error of the standard library. `IO` if there is none.
pub(crate) fn errno_of(error: &std::io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}
