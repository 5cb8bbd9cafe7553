//! The findings in a repository, as lines, as a summary and as JSON.

use crate::cli::terminal::{self, visible};
use agent_memory_storage_files::{canonical, display};
use clap::builder::styling::{AnsiColor, Style};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// A finding about a line of a file.
#[derive(Deserialize, Serialize)]
pub(super) struct Finding {
    /// Relative to the repository's top level, with `/`.
    file: String,
    line: u64,
    severity: Severity,
    message: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
enum Severity {
    Error,
    Warning,
}

/// All findings so far.
pub(super) struct Findings {
    repository: PathBuf,
    /// The path from the working directory to the repository.
    prefix: PathBuf,
    colours: bool,
    all: Vec<Finding>,
}

impl Findings {
    pub(super) fn new(repository: &Path) -> Findings {
        let here = std::env::current_dir().and_then(|here| canonical(&here));
        let prefix =
            here.map_or_else(|_| repository.to_owned(), |here| path_from(&here, repository));
        let colours = terminal::has_colours(&std::io::stdout());
        Findings { repository: repository.to_owned(), prefix, colours, all: Vec::new() }
    }

    /// The findings in the form of compilers: `file:line: error: message`.
    pub(super) fn lines(&self, findings: &[Finding]) -> String {
        let lines = findings.iter().map(|finding| {
            let file = display(&self.prefix.join(&finding.file));
            let (severity, style) = match finding.severity {
                Severity::Error => ("error", AnsiColor::Red.on_default().bold()),
                Severity::Warning => ("warning", AnsiColor::Yellow.on_default().bold()),
            };
            let style = if self.colours { style } else { Style::new() };
            let file = visible(&file);
            let message = visible(&finding.message);
            format!("{file}:{}: {style}{severity}:{style:#} {message}", finding.line)
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    pub(super) fn add(&mut self, findings: Vec<Finding>) {
        self.all.extend(findings);
    }

    pub(super) fn summary(&self, documents: usize) -> String {
        let counted = |count: usize, name| match count {
            1 => format!("1 {name}"),
            _ => format!("{count} {name}s"),
        };
        let errors = self.count(Severity::Error);
        let warnings = self.count(Severity::Warning);
        [counted(documents, "document"), counted(errors, "error"), counted(warnings, "warning")]
            .join(", ")
    }

    pub(super) fn document(&self, documents: usize) -> Value {
        json!({
            "repository": self.repository.to_string_lossy(),
            "documents": documents,
            "errors": self.count(Severity::Error),
            "warnings": self.count(Severity::Warning),
            "findings": self.all,
        })
    }

    /// Whether the findings are failures: errors or, if `strict`, also warnings.
    pub(super) fn fail(&self, strict: bool) -> bool {
        strict && !self.all.is_empty() || self.count(Severity::Error) > 0
    }

    fn count(&self, severity: Severity) -> usize {
        self.all.iter().filter(|finding| finding.severity == severity).count()
    }
}

/// The path from the working directory to the repository: relative if one contains the other.
fn path_from(here: &Path, repository: &Path) -> PathBuf {
    if let Ok(up) = here.strip_prefix(repository) {
        return up.components().map(|_| "..").collect();
    }
    repository.strip_prefix(here).unwrap_or(repository).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_relative_if_one_directory_contains_the_other() {
        let path = |here: &str, repository: &str| path_from(Path::new(here), Path::new(repository));
        assert_eq!(path("/a/b", "/a/b"), Path::new(""));
        assert_eq!(path("/a/b/c/d", "/a/b"), Path::new("../.."));
        assert_eq!(path("/a", "/a/b/c"), Path::new("b/c"));
        assert_eq!(path("/a/bc", "/a/b"), Path::new("/a/b"));
    }

    #[test]
    fn a_finding_is_one_line_without_control_characters() {
        let finding = Finding {
            file: "a\u{1b}[2J.md".to_owned(),
            line: 7,
            severity: Severity::Error,
            message: "é\nx: 1: error: y\u{9b}".to_owned(),
        };
        let findings = Findings {
            repository: PathBuf::new(),
            prefix: PathBuf::new(),
            colours: false,
            all: Vec::new(),
        };
        let line = findings.lines(&[finding]);
        assert_eq!(line, r"a\u{1b}[2J.md:7: error: é\nx: 1: error: y\u{9b}");
    }
}
