//! The paths that a tree can hold, and the names of temporary files. `tests/paths.json` has the test
//! cases.

use agent_memory_storage::path::{MAX_SEGMENT_BYTES, TEMPORARY_SUFFIX, segments};
use agent_memory_storage::{Error, ErrorCode, version_of};

pub(crate) use agent_memory_storage::path::is_temporary;

/// The segments of a document's path.
///
/// # Errors
///
/// `invalid-path`.
pub fn document(path: &str) -> Result<Vec<&str>, Error> {
    segments(path).map_err(|reason| refused(path, reason))
}

/// The segments of a directory's path. The path of the root is empty and has no segments.
pub(crate) fn directory(path: &str) -> Result<Vec<&str>, Error> {
    if path.is_empty() {
        return Ok(Vec::new());
    }
    document(path)
}

/// The name of the temporary file beside a document of this name.
pub(crate) fn temporary(name: &str) -> String {
    temporary_with(name, TEMPORARY_SUFFIX)
}

/// The name of the temporary file that the plugin with this number writes beside a document.
pub(crate) fn temporary_of_plugin(name: &str, number: u64) -> String {
    temporary_with(name, &format!(".{number}{TEMPORARY_SUFFIX}"))
}

/// The number of the plugin in the name of its temporary file. `None` for any other name.
pub(crate) fn plugin_of_temporary(temporary: &str) -> Option<u64> {
    // The temporary file of a new database, or of the document `7`, has a number, too, but no name of a
    // document before it.
    let (document, number) = temporary.strip_suffix(TEMPORARY_SUFFIX)?.rsplit_once('.')?;
    if document.is_empty() { None } else { number.parse().ok() }
}

fn temporary_with(name: &str, suffix: &str) -> String {
    let temporary = format!(".{name}{suffix}");
    if temporary.len() <= MAX_SEGMENT_BYTES {
        return temporary;
    }
    format!(".{}{suffix}", version_of(name.as_bytes()))
}

pub(crate) fn refused(path: &str, reason: &str) -> Error {
    Error::new(
        ErrorCode::InvalidPath,
        format!("`{}` is not a path of a tree: it {reason}", path.escape_debug()),
    )
}

#[cfg(test)]
mod tests {
    //! Runs `tests/paths.json`, which describes its format.

    use serde_json::Value;

    use super::*;

    fn data() -> Value {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/paths.json");
        serde_json::from_str(&std::fs::read_to_string(path).expect(path)).expect(path)
    }

    fn spelled(path: &Value) -> String {
        let part = |part: &Value| match part.as_str() {
            Some(text) => text.to_owned(),
            None => {
                part["repeat"].as_str().unwrap().repeat(part["times"].as_u64().unwrap() as usize)
            }
        };
        match path.as_array() {
            Some(parts) => parts.iter().map(part).collect(),
            None => part(path),
        }
    }

    #[test]
    fn a_tree_accepts_and_refuses_the_paths_that_the_cases_say() {
        let data = data();
        for case in data["documents"].as_array().unwrap() {
            let path = spelled(&case["path"]);
            assert!(document(&path).is_ok(), "{path:?}: {}", case["why"]);
            assert!(directory(&path).is_ok(), "{path:?}: {}", case["why"]);
        }
        for case in data["refused"].as_array().unwrap() {
            let path = spelled(&case["path"]);
            for segments in [document(&path), directory(&path)] {
                let refused = segments.expect_err(&format!("{path:?}: {}", case["why"]));
                assert_eq!(refused.code, ErrorCode::InvalidPath);
            }
        }
        assert!(document("").is_err());
        assert_eq!(directory(""), Ok(Vec::new()));
    }

    #[test]
    fn a_temporary_file_is_named_after_its_document_and_fits_the_medium() {
        for case in data()["temporary"].as_array().unwrap() {
            let name = spelled(&case["name"]);
            let expected = spelled(&case["temporary"]);
            assert_eq!(temporary(&name), expected);
            assert!(is_temporary(&expected) && expected.len() <= 255);
            assert_eq!(plugin_of_temporary(&expected), None);
            let of_plugin = temporary_of_plugin(&name, u64::MAX);
            assert!(is_temporary(&of_plugin) && of_plugin.len() <= 255);
            assert_eq!(plugin_of_temporary(&of_plugin), Some(u64::MAX));
            assert_ne!(of_plugin, temporary_of_plugin(&name, 1));
        }
        for of_others in
            [temporary("7"), temporary("a.b"), format!(".0000000000000007{TEMPORARY_SUFFIX}")]
        {
            assert_eq!(plugin_of_temporary(&of_others), None, "{of_others}");
        }
    }
}
