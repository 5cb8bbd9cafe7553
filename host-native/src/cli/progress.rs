use super::terminal;
use std::io::{Write, stderr};

/// The progress of a command: a line on a terminal that is rewritten, and cleared in the end. If standard
/// error is no terminal, nothing is shown.
pub(super) struct Progress {
    unit: &'static str,
    terminal: bool,
    shown: bool,
}

impl Progress {
    pub(super) fn new(unit: &'static str) -> Progress {
        Progress { unit, terminal: terminal::is_capable(&stderr()), shown: false }
    }

    pub(super) fn show(&mut self, done: usize, total: usize) {
        if self.terminal {
            // Errors are ignored: progress is not important.
            let _ = write!(stderr(), "\r\x1b[K{done} of {total} {}", self.unit);
            self.shown = true;
        }
    }

    /// Shows a count if the total is not known.
    pub(super) fn show_count(&mut self, done: usize) {
        if self.terminal {
            let _ = write!(stderr(), "\r\x1b[K{done} {}", self.unit);
            self.shown = true;
        }
    }

    pub(super) fn clear(&mut self) {
        if self.shown {
            let _ = write!(stderr(), "\r\x1b[K");
            self.shown = false;
        }
    }
}
