//! The settings of the toolset.

use serde::Deserialize;

use crate::toolset::{Setting, Takes};

/// The descriptions of the settings for hosts.
pub(super) const SETTINGS: &[Setting] = &[Setting {
    name: "registry",
    takes: Takes::File,
    default_text: "stores.yaml in the data directory if one is given, else in the configuration \
                   directory",
    help: "File that names the stores and their directories",
    flag: "stores-config",
    environment: &[],
}];

/// The settings of a call. There are none: only the host knows the registry.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct StoresSettings {}
