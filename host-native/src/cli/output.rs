use super::Failure;
use serde_json::Value;
use std::io::{ErrorKind, IsTerminal, Write};

/// Prints a line on standard output. Whoever reads it may stop at any time: that is no failure.
pub(super) fn print(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match writeln!(out, "{text}").and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::storage(format!("standard output cannot be written: {error}")))
        }
        _ => Ok(()),
    }
}

/// Prints a line on standard error, which may be gone: the exit status says what happened, too.
pub(super) fn tell(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Prints JSON: on many lines for a person, on one for a program.
pub(super) fn print_json(json: &str) -> Result<(), Failure> {
    let person = std::io::stdout().is_terminal();
    let value = person.then(|| serde_json::from_str::<Value>(json).ok());
    match value.flatten() {
        Some(value) => print(&format!("{value:#}")),
        None => print(json),
    }
}
