//! The sections that end a long help: examples, environment, exit statuses.
//!
//! They are the files in `help/`. A line that begins at the margin heads a section; the others are
//! shown as they are. `man` makes sections of a manual page of the same text.

use clap::builder::{StyledStr, Styles};
use std::fmt::Write;

/// The sections of these files, with headings like those of the options.
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

/// What a line heads, if it does.
pub(super) fn heading(line: &str) -> Option<&str> {
    line.strip_suffix(':').filter(|line| !line.starts_with(' '))
}
