use super::terminal;
use std::io::{Write, stderr};

/// How far a command is: one line on a terminal, which is written anew and cleared in the end.
/// Elsewhere nothing.
pub(super) struct Progress {
    what: &'static str,
    terminal: bool,
    shown: bool,
}

impl Progress {
    pub(super) fn new(what: &'static str) -> Progress {
        Progress { what, terminal: terminal::is_capable(&stderr()), shown: false }
    }

    pub(super) fn show(&mut self, done: usize, total: usize) {
        if self.terminal {
            // Nobody waits for it: where it cannot be written, nothing is lost.
            let _ = write!(stderr(), "\r\x1b[K{done} of {total} {}", self.what);
            self.shown = true;
        }
    }

    /// How many so far, where nobody knows of how many.
    pub(super) fn show_count(&mut self, done: usize) {
        if self.terminal {
            let _ = write!(stderr(), "\r\x1b[K{done} {}", self.what);
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
