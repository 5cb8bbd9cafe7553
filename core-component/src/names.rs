//! The rule for names of agents and stores, the same in every toolset. A name becomes a file name, so
//! it has to be valid on every file system.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::tool::is_name;

/// An agent's name.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(crate) struct AgentName(
    #[schemars(regex(pattern = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"))] String,
);

/// The name of a store follows the same rules.
pub(crate) use AgentName as StoreName;

/// The rules for a name beyond its pattern, in words.
pub(crate) const NAME_ACCEPTED: &str =
    "a name without `..` that does not end in a dot and is no device name of Windows";

impl AgentName {
    /// The name. `None` if the text does not match the pattern.
    pub fn parse(name: &str) -> Option<Self> {
        is_name(name).then(|| Self(name.into()))
    }

    /// The text of the name. It may break a rule that the pattern cannot express, see
    /// [`checked`](Self::checked).
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name, if it follows all rules.
    ///
    /// # Errors
    ///
    /// The name and the broken rule, if the name breaks a rule that the pattern cannot express.
    pub fn checked(&self) -> Result<&str, (&str, &'static str)> {
        error_beyond_pattern(&self.0).map_or(Ok(&self.0), |what| Err((&self.0, what)))
    }
}

/// Why a name is invalid, as words that follow the name. `None` if the name is valid.
pub(crate) fn name_error(name: &str) -> Option<&'static str> {
    if is_name(name) {
        return error_beyond_pattern(name);
    }
    Some("is not 1 to 64 letters, digits, `.`, `_` and `-`, the first a letter or digit")
}

/// The broken rule, if any, among those that the pattern cannot express.
fn error_beyond_pattern(name: &str) -> Option<&'static str> {
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
