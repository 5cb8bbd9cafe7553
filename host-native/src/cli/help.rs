//! The sections that end a long help: examples, environment, exit statuses.
//!
//! Their texts are the files in `help/`. A line without indentation is a heading; other lines are
//! shown unchanged. Manual pages have the same sections.

use clap::builder::{StyledStr, Styles};
use std::fmt::Write;

/// These sections as one text, with headings in the style of the headings of options.
pub(super) fn sections(files: &[&str]) -> StyledStr {
    let styles = Styles::styled();
    let header = styles.get_header();
    let mut text = StyledStr::new();
    for line in files.join("\n").trim_end().lines() {
        // Writing to a string does not fail.
        let _ = match heading(line) {
            Some(_) => writeln!(text, "{header}{line}{header:#}"),
            None => writeln!(text, "{line}"),
        };
    }
    text
}

/// The heading in a line. `None` if the line is no heading.
pub(super) fn heading(line: &str) -> Option<&str> {
    line.strip_suffix(':').filter(|line| !line.starts_with(' '))
}
