//! The platform's directories for the data and the configuration of programs.

use std::path::PathBuf;

/// The name of this program's directory in the platform's directory.
const OWN: &str = "agent-memory";

/// The directory for data that belongs to no repository; none without a home directory.
pub(crate) fn of_platform() -> Option<PathBuf> {
    Some(data_home()?.join(OWN))
}

/// The directory for files that people edit; none without a home directory.
pub(crate) fn of_configuration() -> Option<PathBuf> {
    Some(configuration_home()?.join(OWN))
}

#[cfg(target_os = "macos")]
fn data_home() -> Option<PathBuf> {
    Some(std::env::home_dir()?.join("Library/Application Support"))
}

#[cfg(windows)]
fn data_home() -> Option<PathBuf> {
    absolute("LOCALAPPDATA")
}

/// A relative path in the variable is ignored, as the XDG Base Directory Specification requires.
#[cfg(not(any(target_os = "macos", windows)))]
fn data_home() -> Option<PathBuf> {
    let below_home = || Some(std::env::home_dir()?.join(".local/share"));
    absolute("XDG_DATA_HOME").or_else(below_home).filter(|path| path.is_absolute())
}

#[cfg(target_os = "macos")]
fn configuration_home() -> Option<PathBuf> {
    data_home()
}

#[cfg(windows)]
fn configuration_home() -> Option<PathBuf> {
    absolute("APPDATA")
}

#[cfg(not(any(target_os = "macos", windows)))]
fn configuration_home() -> Option<PathBuf> {
    let below_home = || Some(std::env::home_dir()?.join(".config"));
    absolute("XDG_CONFIG_HOME").or_else(below_home).filter(|path| path.is_absolute())
}

#[cfg(not(target_os = "macos"))]
fn absolute(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute())
}
