//! The settings of the toolset.

use serde::Deserialize;

use crate::toolset::{Setting, Takes};

/// The descriptions of the settings for hosts.
pub(super) const SETTINGS: &[Setting] = &[Setting {
    name: "directory",
    takes: Takes::Directory,
    default_text: "files in the data directory",
    help: "Directory of the memory files, which models see as /memories; made for its owner alone",
    flag: "files-dir",
    environment: &[],
}];

/// The settings that a call gets. It gets none: `directory` is for the host, which opens the place.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct FilesSettings {}
