use super::Error;
use serde_json::Value;
use std::io::{ErrorKind, IsTerminal, Write};

/// Prints a line on standard output. It is not an error if the reader has stopped reading.
pub(super) fn print(text: &str) -> Result<(), Error> {
    print_text(&format!("{text}\n"))
}

/// Prints a text as it is.
pub(super) fn print_text(text: &str) -> Result<(), Error> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Error::storage(format!("standard output cannot be written: {error}")))
        }
        _ => Ok(()),
    }
}

/// Prints a line on standard error. Errors are ignored, since the exit status says enough.
pub(super) fn print_note(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Prints JSON: indented on a terminal, on one line elsewhere.
pub(super) fn print_json(json: &str) -> Result<(), Error> {
    let is_terminal = std::io::stdout().is_terminal();
    let value = is_terminal.then(|| serde_json::from_str::<Value>(json).ok());
    match value.flatten() {
        Some(value) => print(&format!("{value:#}")),
        None => print(json),
    }
}
