use super::Failure;
use std::io::{ErrorKind, Write};

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
