//! The settings of the toolset.

use serde::Deserialize;

use crate::toolset::{Setting, Takes};

/// How they are described to hosts.
pub(super) const SETTINGS: &[Setting] = &[Setting {
    name: "file",
    takes: Takes::File,
    default_text: "items.db in the data directory",
    help: "Database of the items",
    flag: "items-db",
    environment: &[],
}];

/// The settings of a call: none, because the host alone knows the file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct ItemsSettings {}
