//! The `repo_root` argument of a call.

use super::error::{Code, Error, listed};
use crate::storage::Place;
use crate::tool::Call;

/// The rules for `repo_root`, in words.
pub(super) const ROOT_ACCEPTED: &str = "the absolute path of the repository's top level";

/// Returns the repository of a call without `repo_root`: the only one that is granted by its top
/// level. If several are granted, repositories that cannot be opened do not count, unless none can
/// be opened.
///
/// # Errors
///
/// `InvalidInput` if no repository is granted, or if several of them count.
pub(super) fn default_root(call: &Call<'_>) -> Result<String, Error> {
    let mut granted = call.storage.list_repositories()?;
    if granted.len() > 1 {
        let is_usable = |root: &String| call.storage.open(&Place::repository(root)).is_ok();
        let usable: Vec<String> = granted.iter().filter(|root| is_usable(root)).cloned().collect();
        granted = if usable.is_empty() { granted } else { usable };
    }
    let (what, accepted) = match &granted[..] {
        [only] => return Ok(only.clone()),
        [] => {
            let what = "no repository is granted by its top level: pass `repo_root`, the absolute \
                        path of the repository's top level";
            (what.to_owned(), ROOT_ACCEPTED.to_owned())
        }
        several => {
            let accepted = format!("one of {}", listed(several.iter().map(String::as_str)));
            let count = several.len();
            (format!("{count} repositories are granted: pass `repo_root`, {accepted}"), accepted)
        }
    };
    Err(Error::at(Code::InvalidInput, what, "repo_root", accepted))
}

/// Checks the form of the path. The core checks it, so that every host refuses the same paths.
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
