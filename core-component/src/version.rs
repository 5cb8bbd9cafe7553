//! Versions: a read returns the version of the document. A tool that replaces the document takes this
//! version, and refuses if the document has changed since.

use crate::storage::version_of;

/// The length of a version, in hexadecimal digits.
const DIGITS: usize = 16;

/// The version of a document or a record with these contents: the first 16 hexadecimal digits of
/// their SHA-256. It is the same on every host.
pub(crate) fn version(contents: impl AsRef<[u8]>) -> String {
    let mut version = version_of(contents.as_ref());
    version.truncate(DIGITS);
    version
}

/// Whether a caller may replace these contents: it gave no version, or the version of these contents.
pub(crate) fn is_current(given: Option<&str>, contents: impl AsRef<[u8]>) -> bool {
    given.is_none_or(|given| given.trim() == version(contents))
}

/// The message for a caller whose version is not the current one. `what` is the document, such as `the
/// memory`, and `tool` is the tool that reads it.
pub(crate) fn conflict_message(what: &str, tool: &str) -> String {
    format!(
        "{what} has changed since the given `version` was read, and nothing was written: read it \
         again with `{tool}`, and base the change on what it has now"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_the_beginning_of_the_digest_of_the_contents() {
        assert_eq!(version("abc"), "ba7816bf8f01cfea");
        assert!(is_current(None, "abc") && is_current(Some("ba7816bf8f01cfea"), "abc"));
        assert!(!is_current(Some("ba7816bf8f01cfea"), "abd") && !is_current(Some(""), "abc"));
    }
}
