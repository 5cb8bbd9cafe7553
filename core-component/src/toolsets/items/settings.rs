//! The settings of the toolset.

use serde::Deserialize;

use crate::toolset::{Setting, Takes};

/// The descriptions of the settings for hosts.
pub(super) const SETTINGS: &[Setting] = &[Setting {
    name: "file",
    takes: Takes::File,
    default_text: "items.db in the data directory",
    help: "Database of the items",
    flag: "items-db",
    environment: &[],
}];

/// The settings of a call. There are none: only the host knows the file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct ItemsSettings {}
