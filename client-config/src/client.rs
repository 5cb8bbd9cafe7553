//! The clients: their names, their files, and the key of the servers in these files.

use std::fs;
use std::path::{Path, PathBuf};

use crate::{Directories, Error};

/// An MCP client with a configuration file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Client {
    /// Claude Code, the command line.
    ClaudeCode,
    /// Claude Desktop.
    ClaudeDesktop,
    /// Codex: the command line, and its extension for editors.
    Codex,
    /// Cursor.
    Cursor,
    /// Gemini CLI.
    Gemini,
    /// opencode.
    Opencode,
    /// Visual Studio Code.
    VsCode,
    /// Windsurf.
    Windsurf,
    /// Zed.
    Zed,
    /// Any other client whose file has the servers in `mcpServers`.
    Other,
}

/// The projects for which a server is added.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// For all projects of the user.
    #[default]
    User,
    /// For one project, in a file that others of the project may share.
    Project,
}

/// The grammar of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Grammar {
    /// JSON, with comments and trailing commas.
    Json,
    Toml,
}

impl Client {
    /// All clients whose files are known.
    pub const ALL: [Client; 9] = [
        Client::ClaudeCode,
        Client::ClaudeDesktop,
        Client::Codex,
        Client::Cursor,
        Client::Gemini,
        Client::Opencode,
        Client::VsCode,
        Client::Windsurf,
        Client::Zed,
    ];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Client::ClaudeCode => "claude-code",
            Client::ClaudeDesktop => "claude-desktop",
            Client::Codex => "codex",
            Client::Cursor => "cursor",
            Client::Gemini => "gemini",
            Client::Opencode => "opencode",
            Client::VsCode => "vscode",
            Client::Windsurf => "windsurf",
            Client::Zed => "zed",
            Client::Other => "other",
        }
    }

    /// The name to show to people.
    pub fn title(self) -> &'static str {
        match self {
            Client::ClaudeCode => "Claude Code",
            Client::ClaudeDesktop => "Claude Desktop",
            Client::Codex => "Codex",
            Client::Cursor => "Cursor",
            Client::Gemini => "Gemini CLI",
            Client::Opencode => "opencode",
            Client::VsCode => "VS Code",
            Client::Windsurf => "Windsurf",
            Client::Zed => "Zed",
            Client::Other => "the client",
        }
    }

    /// The file in which the client keeps its servers. It need not exist.
    ///
    /// # Errors
    ///
    /// If the client has no such file for this scope, or the scope is a project and there is none.
    pub fn file(self, scope: Scope, directories: &Directories) -> Result<PathBuf, Error> {
        match scope {
            Scope::User => self.file_of_user(directories),
            Scope::Project => {
                let Some(file) = self.file_of_project() else {
                    let title = self.title();
                    return Err(Error::NoFile(format!(
                        "{title} has no servers of a project: leave `--scope project` out"
                    )));
                };
                let project = directories.project()?;
                Ok(match self {
                    Client::Opencode => either(project, "opencode.jsonc", file),
                    _ => project.join(file),
                })
            }
        }
    }

    fn file_of_user(self, directories: &Directories) -> Result<PathBuf, Error> {
        let home = &directories.home;
        Ok(match self {
            Client::ClaudeCode => directories.claude.as_ref().unwrap_or(home).join(".claude.json"),
            Client::ClaudeDesktop => {
                directories.of_windowed().join("Claude/claude_desktop_config.json")
            }
            Client::Codex => directories.of_codex().join("config.toml"),
            Client::Cursor => home.join(".cursor/mcp.json"),
            Client::Gemini => home.join(".gemini/settings.json"),
            Client::Opencode => {
                either(&directories.config().join("opencode"), "opencode.jsonc", "opencode.json")
            }
            Client::VsCode => directories.of_windowed().join("Code/User/mcp.json"),
            Client::Windsurf => home.join(".codeium/windsurf/mcp_config.json"),
            Client::Zed if cfg!(windows) => directories.of_windowed().join("Zed/settings.json"),
            Client::Zed => directories.config().join("zed/settings.json"),
            Client::Other => {
                let message = "name the file with `--file`, such as `--file ~/.client/mcp.json`";
                return Err(Error::NoFile(message.to_owned()));
            }
        })
    }

    fn file_of_project(self) -> Option<&'static str> {
        Some(match self {
            Client::ClaudeCode => ".mcp.json",
            Client::Codex => ".codex/config.toml",
            Client::Cursor => ".cursor/mcp.json",
            Client::Gemini => ".gemini/settings.json",
            Client::Opencode => "opencode.json",
            Client::VsCode => ".vscode/mcp.json",
            Client::Zed => ".zed/settings.json",
            Client::ClaudeDesktop | Client::Windsurf | Client::Other => return None,
        })
    }

    /// The file in which the client keeps its hooks. It need not exist, and may be that of the servers.
    ///
    /// # Errors
    ///
    /// If this program knows no hooks of the client, or if the scope needs a project and there is
    /// none.
    pub fn hooks_file(self, scope: Scope, directories: &Directories) -> Result<PathBuf, Error> {
        let home = &directories.home;
        Ok(match (self, scope) {
            (Client::ClaudeCode, Scope::User) => {
                let own = directories.claude.clone();
                own.unwrap_or_else(|| home.join(".claude")).join("settings.json")
            }
            (Client::ClaudeCode, Scope::Project) => {
                directories.project()?.join(".claude/settings.json")
            }
            (Client::Codex, Scope::User) => directories.of_codex().join("hooks.json"),
            (Client::Codex, Scope::Project) => directories.project()?.join(".codex/hooks.json"),
            (Client::Cursor, Scope::User) => home.join(".cursor/hooks.json"),
            (Client::Cursor, Scope::Project) => directories.project()?.join(".cursor/hooks.json"),
            (Client::Gemini, _) => return self.file(scope, directories),
            _ => {
                let title = self.title();
                return Err(Error::Unsupported(format!(
                    "no hooks of {title} are known: leave `--hooks` out; its agent can call \
                     `resume_memory` itself"
                )));
            }
        })
    }

    /// Whether the client keeps its hooks in the file with its servers.
    pub fn has_one_file(self) -> bool {
        self == Client::Gemini
    }

    /// The key of the object with the servers, at the top level.
    pub(crate) fn key(self) -> &'static str {
        match self {
            Client::VsCode => "servers",
            Client::Zed => "context_servers",
            Client::Opencode => "mcp",
            Client::Codex => "mcp_servers",
            _ => "mcpServers",
        }
    }

    pub(crate) fn grammar(self) -> Grammar {
        if self == Client::Codex { Grammar::Toml } else { Grammar::Json }
    }

    /// Whether the client seems to be installed: its file, or a directory of its own for that file, exists.
    pub fn is_found(self, directories: &Directories) -> bool {
        let Ok(file) = self.file_of_user(directories) else { return false };
        // `~/.claude.json` is in the home directory, which exists without the client, too.
        let own = file.parent().filter(|parent| *parent != directories.home);
        file.exists() || own.is_some_and(Path::exists)
    }

    /// Removes the client's own directories for the files of the user if they are empty, such as
    /// `~/.cursor`: `install` may have made them, and [`is_found`](Client::is_found) looks for them.
    /// A directory that cannot be removed stays.
    pub fn remove_empty_directories(self, directories: &Directories) {
        let files =
            [self.file(Scope::User, directories), self.hooks_file(Scope::User, directories)];
        for file in files.into_iter().flatten() {
            let own = file.ancestors().skip(1).take_while(|at| !directories.is_base(at));
            for directory in own {
                // This fails for a directory with anything in it.
                if fs::remove_dir(directory).is_err() {
                    break;
                }
            }
        }
    }
}

/// The first of two files if it exists, else the second.
fn either(directory: &Path, first: &str, second: &str) -> PathBuf {
    let first = directory.join(first);
    if first.exists() { first } else { directory.join(second) }
}
