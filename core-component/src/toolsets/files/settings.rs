//! The settings of the toolset.

use serde::Deserialize;

use crate::toolset::{Setting, Takes};

/// How they are described to hosts.
pub(super) const SETTINGS: &[Setting] = &[Setting {
    name: "directory",
    takes: Takes::Directory,
    default_text: "files in the data directory",
    help: "Directory of the memory files, which models see as /memories; made for its owner alone",
    flag: "files-dir",
    environment: &[],
}];

/// The settings of a call: none, because the host alone knows the directory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct FilesSettings {}
