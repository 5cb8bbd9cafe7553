//! The editor of the user.

use super::target::Open;
use crate::cli::output::print_note;
use crate::cli::setting::Setting;
use crate::cli::{Error, terminal};
use std::fmt::Display;
use std::path::Path;
use std::process::Command;

const DEFAULT: &str = if cfg!(windows) { "notepad" } else { "vi" };

/// The exit statuses of a shell that cannot start a command.
const NOT_EXECUTABLE: i32 = 126;
const NOT_FOUND: i32 = 127;

pub(super) struct Editor {
    /// A command line, perhaps with arguments.
    command: String,
}

impl Editor {
    /// The editor of `VISUAL`, or else of `EDITOR`.
    pub(super) fn from_user() -> Result<Editor, Error> {
        let set = ["VISUAL", "EDITOR"].into_iter().find_map(|name| Setting::variable(name.into()));
        let command = match set {
            Some(set) => set.read("UTF-8", |command| Some(command.to_owned()))?,
            None => DEFAULT.to_owned(),
        };
        Ok(Editor { command })
    }

    /// Waits until the user has edited a file.
    pub(super) fn edit(&self, target: &Open, file: &Path) -> Result<(), Error> {
        let command = &self.command;
        // Ctrl-C is meant for the editor. Without this, it would also end this program while the editor
        // runs.
        let _interrupts = target.interrupts();
        if terminal::is_capable(&std::io::stderr()) {
            print_note(&format!("waiting for `{command}`, which edits `{}`", file.display()));
        }
        let unusable = |reason: &dyn Display| {
            Error::usage(format!(
                "the editor `{command}` cannot be started ({reason}): set `VISUAL` or `EDITOR`"
            ))
        };
        match self.on(file).status() {
            Ok(status) if status.success() => Ok(()),
            Ok(status) if matches!(status.code(), Some(NOT_EXECUTABLE | NOT_FOUND)) => {
                Err(unusable(&status))
            }
            Ok(status) => Err(Error::tool(format!("the editor `{command}` failed: {status}"))),
            Err(error) => Err(unusable(&error)),
        }
    }

    /// The shell splits the command line, as for other programs that read `EDITOR`.
    #[cfg(not(windows))]
    fn on(&self, file: &Path) -> Command {
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(format!("{} \"$@\"", self.command)).arg(&self.command).arg(file);
        shell
    }

    #[cfg(windows)]
    fn on(&self, file: &Path) -> Command {
        use std::os::windows::process::CommandExt;
        let mut shell = Command::new("cmd");
        shell.arg("/C").raw_arg(format!("\"{} \"{}\"\"", self.command, file.display()));
        shell
    }
}
