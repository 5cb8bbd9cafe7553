//! The `repo_root` argument of a call.

use super::error::{Code, Error};

/// The rules for `repo_root`, in words.
pub(super) const ROOT_ACCEPTED: &str = "the absolute path of the repository's top level";

/// Checks the form of the path. The core does it, so that every host refuses the same paths.
pub(super) fn check_root(path: &str) -> Result<(), Error> {
    let drive = |path: &str| {
        path.get(1..3).is_some_and(|sign| sign == ":\\" || sign == ":/")
            && path.starts_with(|c: char| c.is_ascii_alphabetic())
    };
    let what = if !path.starts_with('/') && !drive(path) {
        "is not an absolute path"
    } else if path.split(['/', '\\']).any(|segment| matches!(segment, "." | "..")) {
        "has a `.` or `..` segment"
    } else if path.chars().any(char::is_control) {
        "holds a control character"
    } else {
        return Ok(());
    };
    Err(Error::at(
        Code::InvalidInput,
        format!("`repo_root` `{}` {what}", path.escape_debug()),
        "repo_root",
        ROOT_ACCEPTED.to_owned(),
    ))
}
