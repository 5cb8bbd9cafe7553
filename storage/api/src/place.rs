//! Places that a host may grant.

/// A place that a host may grant.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// The agent memory of the source repository whose top level has this absolute path.
    Repository(String),
    /// A place that a toolset describes.
    Named {
        /// The label in the toolset's description.
        label: String,
        /// The name of one place of a group. Empty if the label has only one place.
        name: String,
    },
}

impl Place {
    /// The agent memory of the repository with this top level.
    pub fn repository(top_level: impl Into<String>) -> Self {
        Self::Repository(top_level.into())
    }

    /// The only place with this label.
    pub fn named(label: impl Into<String>) -> Self {
        Self::Named { label: label.into(), name: String::new() }
    }

    /// The place with this name in the group with this label.
    pub fn in_group(label: impl Into<String>, name: impl Into<String>) -> Self {
        Self::Named { label: label.into(), name: name.into() }
    }
}
