//! Checks whether a stream is a terminal with colours, and makes text safe to print on a terminal.

use anstream::stream::{IsTerminal, RawStream};
use anstream::{AutoStream, ColorChoice};

/// Whether a stream is a terminal that can rewrite a line.
pub(super) fn is_capable(stream: &impl IsTerminal) -> bool {
    stream.is_terminal() && !is_dumb()
}

/// Whether to print in colours: as `NO_COLOR`, `CLICOLOR_FORCE` and `CLICOLOR` say, in this order, else
/// on a terminal that has colours. Never if `TERM` is `dumb`.
pub(super) fn has_colours(stream: &impl RawStream) -> bool {
    !is_dumb() && AutoStream::choice(stream) != ColorChoice::Never
}

/// When clap uses colours for help and errors of usage: as in [`has_colours`].
pub(super) fn colours_of_help() -> clap::ColorChoice {
    if is_dumb() { clap::ColorChoice::Never } else { clap::ColorChoice::Auto }
}

/// Whether `TERM` is `dumb`. This is checked here because `anstream` uses colours on a CI service even
/// then.
fn is_dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|term| term == "dumb")
}

/// Escapes control characters, since anyone may have written the files: the text stays on one line
/// and cannot control the terminal.
pub(super) fn visible(text: &str) -> String {
    let mut visible = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() {
            visible.extend(character.escape_default())
        } else {
            visible.push(character)
        }
    }
    visible
}
