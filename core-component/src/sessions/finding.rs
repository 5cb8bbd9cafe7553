//! What is to be said of a document, and where in it.

/// A remark about one line: why a document is not what it should be, or what differs in it without
/// stopping anyone.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Finding {
    /// Counted from 1.
    pub line: usize,
    /// Lower case, to follow a place.
    pub what: String,
}

/// The text of a document.
///
/// # Errors
///
/// The line of the first byte that is not UTF-8.
pub(super) fn utf8(contents: &[u8]) -> Result<&str, Finding> {
    std::str::from_utf8(contents).map_err(|error| {
        let before = &contents[..error.valid_up_to()];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        Finding { line, what: "not UTF-8".into() }
    })
}
