//! `install` and `uninstall`: the entry of this program in the configuration of MCP clients, and its
//! hooks.

mod failed;
mod hooks;
mod own_command;
mod target;

use super::output::{print, print_note};
use super::serve::Serve;
use super::terminal::visible;
use super::{Error, help, program};
use crate::tokens::PREFIX;
use agent_memory_client_config::{
    Client, Directories, Error as ConfigError, Plan, Scope, Server, is_variable_name,
};
use clap::{ArgMatches, Args, FromArgMatches, ValueHint};
use failed::failed;
use hooks::HookOptions;
use own_command::OwnCommand;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use target::Target;

/// Add this program to an MCP client, as the server `agent-memory`.
///
/// The change of the client's configuration file is shown, then made. Comments, order and all other
/// entries stay, the state before is kept beside the file, and `uninstall` gives it back. Without a
/// client, those that are found are listed, and nothing is changed.
#[derive(Debug, Args)]
#[command(after_long_help = help::sections(&[include_str!("../help/install.txt")]))]
pub struct Install {
    #[command(flatten)]
    target: Target,

    /// Toolsets that the client gets, as a comma list, or `all`
    ///
    /// By default those of `serve`, in the repository where the client works. For Claude Desktop,
    /// which works in none, those whose data is in no repository.
    #[arg(long, value_name = "NAMES")]
    toolset: Option<String>,

    /// Let the client reach a server over HTTP at this URL, instead of starting one
    #[arg(long, value_name = "URL", conflicts_with_all = ["toolset", "arguments"])]
    http: Option<String>,

    /// Environment variable with the token that the client sends to the server at `--http`
    ///
    /// The client's file names the variable. The token itself is never written to a file: it has to be
    /// in the environment in which the client starts.
    #[arg(long, value_name = "NAME", requires = "http")]
    token_variable: Option<String>,

    /// Keep the memory of each project apart: `project`
    ///
    /// The server and the hooks find the project when they start: the repository where the client works,
    /// with all of its worktrees.
    #[arg(
        long,
        value_name = "SOURCE",
        value_parser = ["project"],
        hide_possible_values = true,
        conflicts_with_all = ["http", "agent"]
    )]
    agent_from: Option<String>,

    #[command(flatten)]
    hooks: HookOptions,

    /// Show the change, and do not make it
    #[arg(long = "dry-run")]
    shows_only: bool,

    /// Further arguments of `agent-memory serve` and of the hooks, after `--`
    #[arg(last = true, value_name = "ARGUMENT")]
    arguments: Vec<String>,
}

/// Take this program out of an MCP client.
///
/// The configuration file gets the bytes that it had before `install`. If somebody has changed it
/// since, the entry alone is taken out. The hooks are taken out in the same way. What agents have
/// stored stays.
#[derive(Debug, Args)]
#[command(after_long_help = help::sections(&[include_str!("../help/uninstall.txt")]))]
pub struct Uninstall {
    #[command(flatten)]
    target: Target,

    /// Show the change, and do not make it
    #[arg(long = "dry-run")]
    shows_only: bool,
}

impl Install {
    pub(super) fn run(self) -> Result<ExitCode, Error> {
        let directories = target::directories()?;
        let Some(client) = self.target.client() else {
            self.target.check_without_client()?;
            return list(&directories, "install");
        };
        let plans = self.plans(client, &directories)?;
        let title = client.title();
        if plans.iter().all(Plan::changes_nothing) {
            print(&format!("{title} has agent-memory already, in {}", files(&plans)))?;
            return Ok(ExitCode::SUCCESS);
        }
        let own = self.own_command(client);
        show(&plans)?;
        if self.shows_only {
            return Ok(ExitCode::SUCCESS);
        }
        carry_out(&plans, own.map(|own| move |plan: &Plan| own.install(plan)))?;
        for backup in plans.iter().filter_map(Plan::backup).filter(|backup| backup.exists()) {
            print_note(&format!("kept the state before in `{}`", backup.display()));
        }
        if client == Client::Codex && plans.len() > 1 {
            print_note("Codex asks once whether it may run the hooks: look at them with `/hooks`");
        }
        let named = format!("{}{}", client.name(), self.target.options());
        if let Some(runner) = program::runner().filter(|_| self.http.is_none()) {
            print_note(&format!(
                "{title} starts it with `{}`; an installed program starts faster: run `{}`, and then \
                 this command again as `agent-memory install ...`",
                runner.command(),
                runner.installation()
            ));
        }
        print_note(&format!(
            "start {title} anew to use it. What agents store stays on this machine, unless a model \
             or an embedder is configured; `{} uninstall {named}` takes it out again",
            program::typed()
        ));
        Ok(ExitCode::SUCCESS)
    }

    /// The server's entry for the client: a program to start, or a URL.
    fn server(&self, client: Client) -> Result<Server, Error> {
        if let Some(url) = &self.http {
            let (scheme, rest) = url.split_once("://").unwrap_or_default();
            let is_http = ["http", "https"].iter().any(|http| scheme.eq_ignore_ascii_case(http));
            let has_host = rest.starts_with(|first: char| first.is_alphanumeric() || first == '[');
            let is_odd = |letter: char| letter.is_whitespace() || letter.is_control();
            if !is_http || !has_host || rest.contains(is_odd) {
                let what = "is no URL: write it as in `http://127.0.0.1:8080/mcp`";
                return Err(Error::usage(format!("`{url}` {what}")));
            }
            if !rest.contains('/') {
                let what = format!("has no path: the tools are at `{url}/mcp`");
                return Err(Error::usage(format!("`{url}` {what}")));
            }
            return Ok(Server::Url { url: url.clone(), token_variable: self.token_variable()? });
        }
        let names_project = self.arguments.iter().any(|argument| argument.starts_with("--project"));
        if client == Client::ClaudeDesktop && self.agent_from.is_some() && !names_project {
            let what = "Claude Desktop works in no repository: name the project, as in `-- --project NAME`";
            return Err(Error::usage(what));
        }
        let mut arguments = vec!["serve".to_owned()];
        let default = client == Client::ClaudeDesktop && self.arguments.is_empty();
        let toolset = self.toolset.clone().or_else(|| default.then(outside_of_repositories));
        arguments.extend(toolset.map(|toolset| format!("--toolset={toolset}")));
        arguments.extend(self.shared_arguments());
        check(&arguments, self.target.is_of_user())?;
        let mut start = start()?.into_iter();
        let program = start.next().unwrap_or_default();
        Ok(Server::Command { program, arguments: start.chain(arguments).collect() })
    }

    /// The arguments of the server and of the hooks.
    fn shared_arguments(&self) -> Vec<String> {
        let agent_from = self.agent_from.iter().map(|source| format!("--agent-from={source}"));
        agent_from.chain(self.arguments.iter().cloned()).collect()
    }

    /// The arguments of the hooks: those that are shared, and the toolsets of the server, so that the
    /// hooks name no tool that the client lacks.
    fn arguments_of_hooks(&self) -> Vec<String> {
        let toolset = self.toolset.iter().map(|toolset| format!("--toolset={toolset}"));
        toolset.chain(self.shared_arguments()).collect()
    }

    fn token_variable(&self) -> Result<Option<String>, Error> {
        let Some(name) = &self.token_variable else { return Ok(None) };
        if is_variable_name(name) && !name.starts_with(PREFIX) {
            return Ok(Some(name.clone()));
        }
        // The value may be the token itself, so the message must not contain it.
        Err(Error::usage(
            "`--token-variable` is the name of an environment variable, such as `AGENT_MEMORY_TOKEN`: put \
             the token into the variable, not on the command line",
        ))
    }

    /// The changes to the client's files: first of the file with the servers, then of the file with the
    /// hooks.
    fn plans(&self, client: Client, directories: &Directories) -> Result<Vec<Plan>, Error> {
        let server = self.server(client)?;
        let file = self.target.file(client, directories)?;
        let file_of_hooks = if self.hooks.are_wanted() {
            self.target.hooks_file(client, directories)?
        } else {
            None
        };
        let hooks = self.hooks.hooks(client, &start()?, &self.arguments_of_hooks())?;
        let plans = match (hooks, file_of_hooks) {
            (Some(hooks), _) if client.has_one_file() => {
                vec![Plan::install_both(&file, client, &server, &hooks)]
            }
            (Some(hooks), Some(file_of_hooks)) => vec![
                Plan::install(&file, client, &server),
                Plan::install_hooks(&file_of_hooks, client, &hooks),
            ],
            _ => vec![Plan::install(&file, client, &server)],
        };
        let plans = plans.into_iter().collect::<Result<Vec<_>, _>>().map_err(failed)?;
        Ok(self.target.changes(plans))
    }

    fn own_command(&self, client: Client) -> Option<OwnCommand> {
        self.target.is_usual().then(|| OwnCommand::from_client(client)).flatten()
    }
}

impl Uninstall {
    pub(super) fn run(self) -> Result<ExitCode, Error> {
        let directories = target::directories()?;
        let Some(client) = self.target.client() else {
            self.target.check_without_client()?;
            return list(&directories, "uninstall");
        };
        let file = self.target.file(client, &directories)?;
        let mut plans = vec![Plan::uninstall(&file, client).map_err(failed)?];
        if client.has_hooks() && !client.has_one_file() {
            let file = self.target.hooks_file(client, &directories)?;
            let plan = file.map(|file| Plan::uninstall_hooks(&file, client)).transpose();
            plans.extend(plan.map_err(failed)?);
        }
        let plans = self.target.changes(plans);
        if plans.iter().all(Plan::changes_nothing) {
            let title = client.title();
            print(&format!("{title} has no agent-memory, in {}", files(&plans)))?;
            return Ok(ExitCode::SUCCESS);
        }
        show(&plans)?;
        if !self.shows_only {
            let is_usual = self.target.is_usual();
            let own = is_usual.then(|| OwnCommand::from_client(client)).flatten();
            carry_out(&plans, own.map(|own| move |plan: &Plan| own.uninstall(plan)))?;
            if is_usual {
                client.remove_empty_directories(&directories);
            }
            print_note("what agents have stored is kept");
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// The toolsets with places of their own, as a comma list.
fn outside_of_repositories() -> String {
    let toolsets = program::description().toolsets.iter();
    let names = toolsets.filter(|toolset| !toolset.places.is_empty());
    names.map(|toolset| toolset.name.as_str()).collect::<Vec<_>>().join(",")
}

/// Checks the arguments of `serve` now: later, the client would only report that the server does not
/// start. With `is_of_user`, refuses relative paths: they would name other files in each directory in
/// which the client starts the server.
fn check(arguments: &[String], is_of_user: bool) -> Result<(), Error> {
    let mut command = Serve::augment_args(clap::Command::new("serve"));
    let matches = command.try_get_matches_from_mut(arguments.iter().map(OsString::from));
    if let Ok(matches) = &matches
        && is_of_user
        && let Some((option, path)) = relative_path(&command, matches)
    {
        let shown = path.display();
        let meant = std::path::absolute(path).map_or(String::new(), |absolute| {
            format!(", as in `{}`", absolute.components().collect::<PathBuf>().display())
        });
        return Err(Error::usage(format!(
            "`--{option}` is `{shown}`, which is another path in each directory in which the client \
             starts: write the absolute path{meant}, or install with `--scope project`"
        )));
    }
    let parsed = matches.and_then(|matches| Serve::from_arg_matches(&matches)).map_err(|error| {
        let message = error.render().to_string();
        let first = message.lines().next().unwrap_or_default();
        first.strip_prefix("error: ").unwrap_or(first).to_owned()
    });
    let checked = parsed.and_then(|serve| {
        if serve.is_over_http() {
            Err("it would serve over HTTP: give its URL as `install CLIENT --http URL`".to_owned())
        } else {
            serve.check().map_err(|error| error.to_string())
        }
    });
    checked
        .map_err(|reason| Error::usage(format!("`agent-memory serve` would not start: {reason}")))
}

/// The first relative path among the given options, with the name of its option.
fn relative_path<'a>(
    command: &'a clap::Command,
    matches: &'a ArgMatches,
) -> Option<(&'a str, &'a Path)> {
    let paths = [ValueHint::AnyPath, ValueHint::DirPath, ValueHint::FilePath];
    let options = command.get_arguments().filter(|option| paths.contains(&option.get_value_hint()));
    let given = options.flat_map(|option| {
        let values = matches.get_raw(option.get_id().as_str()).into_iter().flatten();
        values.map(|value| (option.get_long().unwrap_or_default(), Path::new(value)))
    });
    given.into_iter().find(|(_, path)| !path.is_absolute() && !path.starts_with("~"))
}

/// The command line with which a client starts this program, without its arguments.
fn start() -> Result<Vec<String>, Error> {
    if let Some(runner) = program::runner() {
        return Ok(runner.start());
    }
    let start = program::start().map(|part| {
        part.to_str().map(str::to_owned).ok_or_else(|| {
            let shown = part.to_string_lossy().into_owned();
            Error::usage(format!("the path `{shown}` is not UTF-8: move the program"))
        })
    });
    start.collect()
}

fn files(plans: &[Plan]) -> String {
    let files: Vec<_> = plans.iter().map(|plan| format!("`{}`", plan.file().display())).collect();
    files.join(" and ")
}

fn show(plans: &[Plan]) -> Result<(), Error> {
    for plan in plans.iter().filter(|plan| !plan.changes_nothing()) {
        print(&format!("{}:", plan.file().display()))?;
        let diff = plan.diff();
        // Escape control characters: the file of a project may come from anyone.
        let shown =
            diff.lines().map(|line| line.split('\t').map(visible).collect::<Vec<_>>().join("\t"));
        print(&shown.collect::<Vec<_>>().join("\n"))?;
    }
    Ok(())
}

/// Makes the changes. The first plan adds or removes the server: the client's own command does this, if
/// there is one.
fn carry_out(
    plans: &[Plan],
    own: Option<impl Fn(&Plan) -> Result<(), Error>>,
) -> Result<(), Error> {
    for (number, plan) in plans.iter().enumerate().filter(|(_, plan)| !plan.changes_nothing()) {
        match &own {
            Some(own) if number == 0 => own(plan)?,
            _ => plan.carry_out().map_err(failed)?,
        }
    }
    Ok(())
}

/// Lists the clients that are found, and whether this program is installed in them.
fn list(directories: &Directories, command: &str) -> Result<ExitCode, Error> {
    let found: Vec<Client> =
        Client::ALL.into_iter().filter(|client| client.is_found(directories)).collect();
    if found.is_empty() {
        print("No client is found. These are known:")?;
    } else {
        print("Clients on this machine:")?;
    }
    let all = if found.is_empty() { &Client::ALL[..] } else { &found };
    for client in all {
        let file = client.file(Scope::User, directories).map_err(failed)?;
        let state = match Plan::uninstall(&file, *client) {
            Ok(plan) if plan.changes_nothing() => "has no agent-memory".to_owned(),
            Ok(_) => "has agent-memory".to_owned(),
            Err(ConfigError::Malformed { reason, .. }) => format!("cannot be read ({reason})"),
            Err(error) => error.to_string(),
        };
        print(&format!("  {:<15} {state}: {}", client.name(), file.display()))?;
    }
    let program = program::typed();
    print(&format!("Nothing was changed. Name one: `{program} {command} CLIENT`"))?;
    Ok(ExitCode::SUCCESS)
}
