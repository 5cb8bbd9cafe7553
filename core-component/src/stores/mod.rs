//! The `stores` toolset: named stores of Markdown memories in categories (spec 003).
//!
//! ```text
//! STORE/index.yaml                 the subcategories of the root
//! STORE/<category>/index.yaml      the memories and subcategories of a category
//! STORE/<category>/<slug>.md       a memory: YAML front matter, then Markdown
//! ```
//!
//! The files are those of spec 003's program. A person or Git may change them at any time, so the
//! memories are the truth and the indexes follow them.

pub(crate) mod registry;
mod settings;

use crate::toolset::{PlaceDescription, PlaceKind, Toolset};

pub(crate) const TOOLSET: Toolset = Toolset {
    name: "stores",
    title: "Categorised Markdown",
    description: "Named stores of Markdown memories in categories, with tags, citations and expiry",
    is_default: false,
    settings: settings::SETTINGS,
    check: |settings| settings.of::<settings::StoresSettings>("stores").map(drop),
    places: &[PlaceDescription {
        label: PLACE,
        title: "Stores",
        kind: PlaceKind::Family,
        is_private: false,
        setting: "registry",
        default: "config:stores.yaml",
        databases: &[],
        missing: "this host has no registry of stores: set one, or mount the toolset `stores` where \
                  there is a configuration directory",
    }],
    tools: &[],
    resources: None,
};

/// The label of the family of stores.
const PLACE: &str = "stores";
