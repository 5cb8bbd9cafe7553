//! A client's own command for its servers. Claude Code writes its file itself while it runs, so it is
//! asked to change it.

use super::failed;
use crate::cli::Error;
use agent_memory_client_config::{Client, NAME, Plan, Server};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The command of a client.
pub(super) struct OwnCommand {
    program: PathBuf,
    client: Client,
}

impl OwnCommand {
    /// The command of a client; none if it has none, or if it is not in `PATH`.
    pub(super) fn of(client: Client) -> Option<Self> {
        if client != Client::ClaudeCode {
            return None;
        }
        let names: &[&str] =
            if cfg!(windows) { &["claude.exe", "claude.cmd"] } else { &["claude"] };
        let path = std::env::var_os("PATH")?;
        let mut files = std::env::split_paths(&path)
            .flat_map(|directory| names.iter().map(move |name| directory.join(name)));
        files.find(|file| file.is_file()).map(|program| OwnCommand { program, client })
    }

    /// Adds a server, which replaces one of the same name.
    pub(super) fn install(&self, file: &Path, server: &Server) -> Result<(), Error> {
        if !Plan::uninstall(file, self.client).map_err(failed)?.is_done() {
            self.uninstall(file)?;
        }
        let entry = match server {
            Server::Command { program, arguments } => {
                json!({"type": "stdio", "command": program, "args": arguments})
            }
            Server::Url(url) => json!({"type": "http", "url": url}),
        };
        self.run(&["mcp", "add-json", "--scope", "user", NAME, &entry.to_string()])?;
        self.expect(file, true)
    }

    /// Takes the server out.
    pub(super) fn uninstall(&self, file: &Path) -> Result<(), Error> {
        self.run(&["mcp", "remove", "--scope", "user", NAME])?;
        self.expect(file, false)
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

    /// Checks what the command has done.
    fn expect(&self, file: &Path, is_there: bool) -> Result<(), Error> {
        let has_none = Plan::uninstall(file, self.client).map_err(failed)?.is_done();
        if has_none != is_there {
            return Ok(());
        }
        let (program, file) = (self.program.display(), file.display());
        Err(Error::storage(format!(
            "`{program}` ended well, but `{file}` is not as it should be: name the file with `--file`"
        )))
    }
}
