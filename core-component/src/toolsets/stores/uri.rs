//! The URIs of the resources.

use super::path::{INDEX, slug_of_file};

pub(super) const SCHEME: &str = "stores://";

/// Returns the URI of the resource that shows a file of a store: the URI of the memory, or of the
/// category if the file is its index. `None` for other files.
pub(super) fn changed_by(store: &str, file: &str) -> Option<String> {
    let (category, name) = file.rsplit_once('/').unwrap_or(("", file));
    let slash = if category.is_empty() { "" } else { "/" };
    match (name, slug_of_file(name)) {
        (INDEX, _) => Some(format!("{SCHEME}{store}/{category}{slash}")),
        (_, Some(slug)) => Some(format!("{SCHEME}{store}/{category}{slash}{slug}")),
        _ => None,
    }
}
