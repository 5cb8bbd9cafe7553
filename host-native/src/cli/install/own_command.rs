//! Changes a client's servers by the client's own command. Claude Code writes its configuration file
//! while it runs, so a change by another program could be lost.

use super::failed::failed;
use crate::cli::Error;
use agent_memory_client_config::{Client, NAME, Plan};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The command-line program of a client.
pub(super) struct OwnCommand {
    program: PathBuf,
    client: Client,
}

impl OwnCommand {
    /// The command of a client. `None` if the client has none, or if the command is not in `PATH`.
    pub(super) fn from_client(client: Client) -> Option<Self> {
        if client != Client::ClaudeCode {
            return None;
        }
        let names: &[&str] =
            if cfg!(windows) { &["claude.exe", "claude.cmd"] } else { &["claude"] };
        let path = std::env::var_os("PATH")?;
        let mut files = std::env::split_paths(&path)
            .flat_map(|directory| names.iter().map(move |name| directory.join(name)));
        files.find(|file| is_program(file)).map(|program| OwnCommand { program, client })
    }

    /// Adds the entry of a plan to the client. An earlier entry with the same name is replaced.
    pub(super) fn install(&self, plan: &Plan) -> Result<(), Error> {
        let entry = plan.entry().unwrap_or_default().to_string();
        let add = ["mcp", "add-json", "--scope", "user", NAME, &entry];
        if self.has_none(plan)? {
            self.run(&add)?;
        } else {
            self.uninstall(plan)?;
            // The command does not replace an entry, so the earlier one was removed first.
            self.run(&add).map_err(|error| {
                error.adding("; the entry before was taken out: run the command again")
            })?;
        }
        self.expect(plan, true)
    }

    /// Removes the server's entry.
    pub(super) fn uninstall(&self, plan: &Plan) -> Result<(), Error> {
        self.run(&["mcp", "remove", "--scope", "user", NAME])?;
        self.expect(plan, false)
    }

    fn run(&self, arguments: &[&str]) -> Result<(), Error> {
        let shown = format!("`{} {}`", self.program.display(), arguments.join(" "));
        let output = Command::new(&self.program).args(arguments).stdin(Stdio::null()).output();
        let output = output.map_err(|error| Error::storage(format!("{shown}: {error}")))?;
        if output.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        Err(Error::storage(format!("{shown} failed ({}): {said}", output.status)))
    }

    /// Checks the client's file after the command: it has the entry if `is_there`, or else has none.
    fn expect(&self, plan: &Plan, is_there: bool) -> Result<(), Error> {
        if self.has_none(plan)? != is_there {
            return Ok(());
        }
        let program = self.program.display();
        let file = plan.file().display();
        Err(Error::storage(format!(
            "`{program}` ended well, but `{file}` is not as it should be: name the file with `--file`"
        )))
    }

    fn has_none(&self, plan: &Plan) -> Result<bool, Error> {
        Ok(Plan::uninstall(plan.file(), self.client).map_err(failed)?.changes_nothing())
    }
}

fn is_program(file: &Path) -> bool {
    let Ok(found) = file.metadata() else { return false };
    #[cfg(unix)]
    let may_run = std::os::unix::fs::PermissionsExt::mode(&found.permissions()) & 0o111 != 0;
    #[cfg(not(unix))]
    let may_run = true;
    found.is_file() && may_run
}
