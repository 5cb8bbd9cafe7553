use super::failed::failed;
use crate::cli::Error;
use crate::enclosing_repository::repository_around;
use agent_memory_client_config::{Client, Directories, Plan, Scope};
use clap::builder::PossibleValue;
use clap::{Args, ValueEnum, ValueHint};
use std::path::PathBuf;

// The client, and which of its configuration files to change.
#[derive(Debug, Args)]
pub(super) struct Target {
    /// Client; without one, those that are found are listed
    #[arg(value_name = "CLIENT")]
    client: Option<Named>,

    /// For all projects of the user, or for this project alone
    #[arg(long, value_enum, default_value = "user")]
    scope: NamedScope,

    /// Configuration file, instead of the one where the client usually has it
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    file: Option<PathBuf>,
}

/// A client by its name on the command line.
#[derive(Clone, Copy, Debug)]
struct Named(Client);

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum NamedScope {
    /// All projects of the user
    User,
    /// This project alone; others of the project may share the file
    Project,
}

/// All clients, and `Other` for clients that this program does not know.
const NAMED: [Named; Client::ALL.len() + 1] = {
    let mut named = [Named(Client::Other); Client::ALL.len() + 1];
    let mut at = 0;
    while at < Client::ALL.len() {
        named[at] = Named(Client::ALL[at]);
        at += 1;
    }
    named
};

impl ValueEnum for Named {
    fn value_variants<'a>() -> &'a [Self] {
        &NAMED
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let help = match self.0 {
            Client::Other => "Any other that has `mcpServers` in the file given with `--file`",
            client => client.title(),
        };
        Some(PossibleValue::new(self.0.name()).help(help))
    }
}

impl Target {
    /// Checks a command line without a client: no option may be given that needs one.
    pub(super) fn check_without_client(&self) -> Result<(), Error> {
        if self.file.is_some() || self.is_of_project() {
            Err(Error::usage("name a client; `other` is any with `mcpServers` in a file"))
        } else {
            Ok(())
        }
    }

    /// Whether the file is that of all projects of the user. Its clients start their servers in any
    /// directory.
    pub(super) fn is_of_user(&self) -> bool {
        self.file.is_none() && self.scope == NamedScope::User
    }

    pub(super) fn is_of_project(&self) -> bool {
        self.file.is_none() && self.scope == NamedScope::Project
    }

    /// The changes to make. A changed file of a project gets no backup.
    pub(super) fn changes(&self, plans: Vec<Plan>) -> Vec<Plan> {
        if self.is_of_project() {
            plans.into_iter().map(Plan::without_backup).collect()
        } else {
            plans
        }
    }

    /// The options that select the same file on another command line.
    pub(super) fn options(&self) -> String {
        match &self.file {
            Some(file) => format!(" --file {}", file.display()),
            None if self.is_of_project() => " --scope project".to_owned(),
            None => String::new(),
        }
    }

    pub(super) fn client(&self) -> Option<Client> {
        self.client.map(|Named(client)| client)
    }

    pub(super) fn file(&self, client: Client, directories: &Directories) -> Result<PathBuf, Error> {
        match &self.file {
            Some(file) => {
                let shown = file.display();
                let last = file.as_os_str().as_encoded_bytes().last().copied().unwrap_or(b'/');
                if std::path::is_separator(last.into()) || file.file_name().is_none() {
                    return Err(Error::usage(format!("`{shown}` is no file: name one")));
                }
                std::path::absolute(file)
                    .map_err(|error| Error::usage(format!("`{shown}`: {error}")))
            }
            None => client.file(self.scope(), directories).map_err(failed),
        }
    }

    /// The file with the client's hooks. `None` with `--file`, which names the file with the servers.
    pub(super) fn hooks_file(
        &self,
        client: Client,
        directories: &Directories,
    ) -> Result<Option<PathBuf>, Error> {
        if self.file.is_some() {
            return Ok(None);
        }
        client.hooks_file(self.scope(), directories).map(Some).map_err(failed)
    }

    fn scope(&self) -> Scope {
        match self.scope {
            NamedScope::User => Scope::User,
            NamedScope::Project => Scope::Project,
        }
    }

    /// Whether the file is where the client usually has that of the user. Only this file may be changed
    /// by the client's own command.
    pub(super) fn is_usual(&self) -> bool {
        self.file.is_none() && self.scope == NamedScope::User
    }
}

/// The user's directories. The project is the repository around the working directory, or else the
/// working directory itself.
pub(super) fn directories() -> Result<Directories, Error> {
    let here = std::env::current_dir().ok();
    let project = here.as_deref().and_then(repository_around).or(here);
    let directories = Directories::from_system().map_err(failed)?;
    Ok(Directories { project, ..directories })
}
