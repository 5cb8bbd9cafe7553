//! The names of agents, the same rule in every toolset: they become names of files, which travel
//! between file systems.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::tool::is_name;

/// An agent's name.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(crate) struct AgentName(
    #[schemars(regex(pattern = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"))] String,
);

/// What a name has to be beyond its pattern, in words.
pub(crate) const NAME_ACCEPTED: &str =
    "a name without `..`, not ending in a dot, that is no device on Windows";

impl AgentName {
    /// A name; none where the text does not match the pattern.
    pub fn parse(name: &str) -> Option<Self> {
        is_name(name).then(|| Self(name.into()))
    }

    /// The name.
    ///
    /// # Errors
    ///
    /// The name, and what is wrong with it beyond what the pattern says.
    pub fn checked(&self) -> Result<&str, (&str, &'static str)> {
        fault_beyond_pattern(&self.0).map_or(Ok(&self.0), |what| Err((&self.0, what)))
    }
}

/// Why no agent can have a name; none where one can.
pub(crate) fn name_fault(name: &str) -> Option<&'static str> {
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
