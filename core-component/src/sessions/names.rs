//! What a caller names: an agent, and the repository that it works in.

use schemars::JsonSchema;
use serde::Deserialize;

use super::error::{Code, Error};
use crate::tool::is_name;

/// What a path to a repository has to be, in words.
pub(super) const ROOT_ACCEPTED: &str = "the absolute path of the repository's top level";

/// An agent's name: the name of its directory.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct AgentName(
    #[schemars(regex(pattern = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"))] String,
);

impl AgentName {
    /// The name, where it is sound beyond what its pattern says.
    pub fn checked(&self) -> Result<&str, Error> {
        check_name(&self.0).map(|()| self.0.as_str())
    }
}

/// Every host refuses the same paths, so this is not left to them.
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

/// Why no agent can have a name; none where one can.
pub(super) fn name_fault(name: &str) -> Option<&'static str> {
    if is_name(name) {
        return fault_beyond_pattern(name);
    }
    Some("is not 1 to 64 letters, digits, `.`, `_` and `-`, the first a letter or digit")
}

/// What the pattern of the name cannot say.
fn fault_beyond_pattern(name: &str) -> Option<&'static str> {
    let stem = name.split('.').next().unwrap_or_default().to_ascii_uppercase();
    let numbered = |device: &str| {
        stem.strip_prefix(device)
            .is_some_and(|n| n.len() == 1 && matches!(n.as_bytes()[0], b'1'..=b'9'))
    };
    let is_device = matches!(stem.as_str(), "CON" | "PRN" | "AUX" | "NUL")
        || numbered("COM")
        || numbered("LPT");
    if name.contains("..") {
        Some("contains `..`")
    } else if name.ends_with('.') {
        Some("ends in a dot")
    } else if is_device {
        Some("is the name of a device on Windows")
    } else {
        None
    }
}

fn check_name(name: &str) -> Result<(), Error> {
    let Some(what) = fault_beyond_pattern(name) else { return Ok(()) };
    let message = format!("`agent_name` `{name}` {what}: choose another name");
    let accepted = "a name without `..`, not ending in a dot, that is no device on Windows";
    Err(Error::at(Code::InvalidInput, message, "agent_name", accepted.into()))
}
