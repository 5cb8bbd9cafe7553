//! The names of files.

/// The path of an agent's JSON file in the tree.
pub(in crate::toolsets::records) fn file_path(agent: &str) -> String {
    format!("{agent}.json")
}
