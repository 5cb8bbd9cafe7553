//! Findings: errors and warnings about one line of a document.

use schemars::JsonSchema;
use serde::Serialize;

use crate::text::lines;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Severity {
    Error,
    Warning,
}

/// An error or a warning about one line of a document.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Finding {
    /// The number of the line, from 1.
    pub line: usize,
    /// What is wrong. The text begins in lower case: messages put it after the path and the line.
    pub what: String,
}

/// Finds the first merge conflict by the three markers of Git. `None` unless all three are there in
/// their order.
pub(super) fn merge_conflict(text: &str) -> Option<Finding> {
    let mut lines = lines(text).map(|(_, line)| line);
    let before = lines.by_ref().take_while(|line| !line.starts_with("<<<<<<< ")).count();
    let is_whole =
        lines.any(|line| line == "=======") && lines.any(|line| line.starts_with(">>>>>>> "));
    let what = "a merge conflict begins here: keep the text of both sides and remove the markers";
    is_whole.then(|| Finding { line: before + 1, what: what.into() })
}

/// Decodes the contents of a document.
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
