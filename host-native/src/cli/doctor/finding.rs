use crate::cli::terminal::{has_colours, visible};
use clap::builder::styling::{AnsiColor, Style};
use serde::Serialize;
use serde_json::{Value, json};
use std::fmt::Display;

/// A finding, and what to do.
#[derive(Debug, Serialize)]
pub(super) struct Finding {
    level: Level,
    /// The subject of the finding, in a word.
    about: &'static str,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    advice: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Level {
    Good,
    /// Everything works, but people should know.
    Warning,
    /// A part of the memory does not work.
    Error,
}

impl Finding {
    pub(super) fn good(about: &'static str, message: impl Display) -> Self {
        Self::new(Level::Good, about, message)
    }

    pub(super) fn warning(about: &'static str, message: impl Display) -> Self {
        Self::new(Level::Warning, about, message)
    }

    pub(super) fn error(about: &'static str, message: impl Display) -> Self {
        Self::new(Level::Error, about, message)
    }

    fn new(level: Level, about: &'static str, message: impl Display) -> Self {
        Finding { level, about, message: message.to_string(), advice: None }
    }

    /// Adds the advice what to do.
    pub(super) fn advise(self, advice: impl Display) -> Self {
        Finding { advice: Some(advice.to_string()), ..self }
    }

    fn line(&self, colours: bool) -> String {
        let (level, style) = match self.level {
            Level::Good => ("ok", AnsiColor::Green.on_default()),
            Level::Warning => ("warning", AnsiColor::Yellow.on_default().bold()),
            Level::Error => ("error", AnsiColor::Red.on_default().bold()),
        };
        let style = if colours { style } else { Style::new() };
        let about = self.about;
        let message = visible(&self.message);
        let advice = self.advice.as_deref().map(|advice| format!(": {}", visible(advice)));
        let advice = advice.unwrap_or_default();
        format!("{style}{level:<8}{style:#} {about:<11} {message}{advice}")
    }
}

/// All findings so far.
#[derive(Debug, Default)]
pub(super) struct Findings(Vec<Finding>);

impl Findings {
    pub(super) fn add(&mut self, finding: Finding) {
        self.0.push(finding);
    }

    pub(super) fn extend(&mut self, findings: impl IntoIterator<Item = Finding>) {
        self.0.extend(findings);
    }

    pub(super) fn has_errors(&self) -> bool {
        self.count(Level::Error) > 0
    }

    pub(super) fn lines(&self) -> String {
        let colours = has_colours(&std::io::stdout());
        self.0.iter().map(|finding| finding.line(colours)).collect::<Vec<_>>().join("\n")
    }

    pub(super) fn summary(&self) -> String {
        let counted = |level, name| match self.count(level) {
            1 => format!("1 {name}"),
            count => format!("{count} {name}s"),
        };
        format!("{}, {}", counted(Level::Error, "error"), counted(Level::Warning, "warning"))
    }

    pub(super) fn document(&self) -> Value {
        json!({
            "errors": self.count(Level::Error),
            "warnings": self.count(Level::Warning),
            "findings": self.0,
        })
    }

    fn count(&self, level: Level) -> usize {
        self.0.iter().filter(|finding| finding.level == level).count()
    }
}
