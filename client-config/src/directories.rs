//! The directories below which clients keep their files.

use std::env;
use std::path::{Path, PathBuf};

use crate::Error;

/// The directories below which clients keep their files.
#[derive(Clone, Debug)]
pub struct Directories {
    /// The home directory.
    pub home: PathBuf,
    /// `CLAUDE_CONFIG_DIR`, the directory of Claude Code; the home directory by default.
    pub claude: Option<PathBuf>,
    /// `CODEX_HOME`, the directory of Codex; `.codex` in the home directory by default.
    pub codex: Option<PathBuf>,
    /// `XDG_CONFIG_HOME`; `.config` in the home directory by default. On Windows and macOS, only some
    /// programs use this directory.
    pub xdg_config: Option<PathBuf>,
    /// `%APPDATA%` of Windows.
    pub app_data: Option<PathBuf>,
    /// The project: the top level of a repository, or the working directory.
    pub project: Option<PathBuf>,
}

impl Directories {
    /// The directories from the environment, without a project.
    ///
    /// # Errors
    ///
    /// If there is no home directory.
    pub fn from_system() -> Result<Self, Error> {
        let absolute =
            |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let Some(home) = env::home_dir().filter(|home| home.is_absolute()) else {
            return Err(Error::NoFile("there is no home directory: set `HOME`".to_owned()));
        };
        let [claude, codex, xdg_config, app_data] =
            ["CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME", "APPDATA"].map(absolute);
        Ok(Directories { home, claude, codex, xdg_config, app_data, project: None })
    }

    /// The configuration directory of programs that follow XDG on every system.
    pub(crate) fn config(&self) -> PathBuf {
        self.xdg_config.clone().unwrap_or_else(|| self.home.join(".config"))
    }

    /// The configuration directory of programs that follow the convention of the system.
    pub(crate) fn of_windowed(&self) -> PathBuf {
        if cfg!(target_os = "macos") {
            self.home.join("Library/Application Support")
        } else if cfg!(windows) {
            self.app_data.clone().unwrap_or_else(|| self.home.join("AppData/Roaming"))
        } else {
            self.config()
        }
    }

    /// The directory of Codex.
    pub(crate) fn of_codex(&self) -> PathBuf {
        self.codex.clone().unwrap_or_else(|| self.home.join(".codex"))
    }

    /// Whether clients keep their own directories in this one, or the user names it in a variable.
    pub(crate) fn is_base(&self, directory: &Path) -> bool {
        let named = [&self.claude, &self.codex, &self.xdg_config, &self.app_data];
        let found = [self.home.clone(), self.config(), self.of_windowed()];
        let bases = found.iter().chain(named.into_iter().flatten());
        bases.into_iter().any(|base| base == directory)
    }

    /// The project.
    ///
    /// # Errors
    ///
    /// If there is no project.
    pub(crate) fn project(&self) -> Result<&Path, Error> {
        self.project.as_deref().ok_or_else(|| {
            Error::NoFile("there is no project here: run this in its directory".to_owned())
        })
    }
}
