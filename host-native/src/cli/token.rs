use super::output::{print, print_json, print_note};
use super::setting::{checked_name, checked_path};
use super::settings::DataDirectory;
use super::{Error, help};
use crate::Reach;
use crate::oauth::{Issuer, MAX_SUBJECT};
use crate::storage::{self, ErrorCode};
use crate::tokens::{NewToken, Subject, Token, Tokens};
use agent_memory_setting_values::duration;
use agent_memory_storage_files::{canonical, display};
use clap::{Args, Subcommand, ValueHint};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::json;
use std::ffi::{OsStr, OsString};
use std::fmt::Display;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// The longest time for which a token may be valid: a hundred years.
const LONGEST: Duration = Duration::from_secs(36_500 * 24 * 60 * 60);

/// Make, list and revoke the tokens of clients over HTTP.
///
/// As soon as there is a token, a server over HTTP with the same data directory lets nobody in without
/// one. Each token reaches what it was made for. A change holds at once, also in a server that runs.
#[derive(Debug, Args)]
#[command(after_long_help = help::sections(&[include_str!("help/token.txt")]))]
pub struct TokenCommand {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    Create(Create),
    List(List),
    Revoke(Revoke),
}

/// Make a token, and print it. It cannot be shown again.
///
/// With `--subject`, there is nothing to print: the subject's access tokens stand for the token.
#[derive(Debug, Args)]
#[command(after_long_help = help::sections(&[include_str!("help/token-create.txt")]))]
struct Create {
    /// Name of the token, such as that of its user or program
    #[arg(value_name = "NAME")]
    name: String,

    /// Only what this tenant has in the database of the server [default: what belongs to no tenant]
    ///
    /// `agent-memory database tenant create` makes a tenant. Its tokens reach nothing on the disk of the
    /// server but their `--repositories`.
    #[arg(long, value_name = "NAME")]
    tenant: Option<String>,

    /// Only these agents, as a comma list [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    agents: Option<Vec<String>>,

    /// Only these stores, as a comma list [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    stores: Option<Vec<String>>,

    /// Only repositories in this directory, of those that the server has [default: all]
    ///
    /// May be given several times.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    repositories: Vec<OsString>,

    /// No tools that change anything
    #[arg(long)]
    read_only: bool,

    /// How long it is valid, such as `90d` [default: until it is revoked]
    #[arg(long, value_name = "DURATION")]
    expires: Option<String>,

    /// Bind it to this subject of an authorization server: the claim `sub` of its access tokens
    #[arg(long, value_name = "SUBJECT", requires = "issuer")]
    subject: Option<String>,

    /// The authorization server of the subject, as in `serve --oauth-issuer`
    #[arg(long, value_name = "URL", requires = "subject")]
    issuer: Option<Issuer>,

    #[command(flatten)]
    place: Place,
}

/// List the tokens, without their secrets.
#[derive(Debug, Args)]
#[command(after_long_help = help::sections(&[include_str!("help/token-list.txt")]))]
struct List {
    /// Print them as JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    place: Place,
}

/// Take a token away. Its next request is refused.
#[derive(Debug, Args)]
#[command(after_long_help = help::sections(&[include_str!("help/token-revoke.txt")]))]
struct Revoke {
    /// Name of the token
    #[arg(value_name = "NAME")]
    name: String,

    #[command(flatten)]
    place: Place,
}

#[derive(Debug, Args)]
struct Place {
    #[command(flatten)]
    data_directory: DataDirectory,
}

impl Place {
    fn tokens(&self) -> Result<Tokens, Error> {
        tokens_of(&self.data_directory)
    }
}

/// The tokens in the data directory of a command.
pub(super) fn tokens_of(data_directory: &DataDirectory) -> Result<Tokens, Error> {
    let Some(directory) = data_directory.path()? else {
        return Err(Error::usage("there is no home directory: give a directory with `--data-dir`"));
    };
    Ok(Tokens::new(&directory))
}

impl TokenCommand {
    pub(super) fn run(self) -> Result<ExitCode, Error> {
        match self.action {
            Action::Create(create) => create.run(),
            Action::List(list) => list.run(),
            Action::Revoke(revoke) => revoke.run(),
        }
    }
}

impl Create {
    fn run(self) -> Result<ExitCode, Error> {
        let tokens = self.place.tokens()?;
        let name = checked_name("NAME", &self.name)?;
        let now = Timestamp::now();
        let expires = self.expires.as_deref().map(|expires| {
            let is_allowed = |duration: &Duration| !duration.is_zero() && *duration <= LONGEST;
            let duration = valid_for(expires).filter(is_allowed).ok_or_else(|| {
                let accepted = "write it as `90d` or `12h`, at most `36500d`";
                Error::usage(format!("`--expires` is `{expires}`: {accepted}"))
            })?;
            now.checked_add(duration).map_err(Error::usage)
        });
        let repositories: Vec<PathBuf> =
            self.repositories.iter().map(|given| directory(given)).collect::<Result<_, _>>()?;
        let reach = Reach {
            agents: self.agents.map(|agents| names("--agents", agents)).transpose()?,
            stores: self.stores.map(|stores| names("--stores", stores)).transpose()?,
            repositories: (!repositories.is_empty()).then_some(repositories),
            read_only: self.read_only,
        };
        let tenant = self.tenant.map(|tenant| checked_name("--tenant", &tenant)).transpose()?;
        let new = NewToken { name, tenant, reach, expires: expires.transpose()? };
        if let (Some(id), Some(issuer)) = (self.subject, self.issuer) {
            if id.is_empty() || id.len() > MAX_SUBJECT {
                let accepted = "a subject has 1 to 255 bytes";
                return Err(Error::usage(format!("`--subject` is `{id}`: {accepted}")));
            }
            let subject = Subject { issuer: issuer.to_string(), id };
            return bind(&tokens, new, subject, now);
        }
        let name = new.name.clone();
        let shown = tokens.create(new, now).map_err(failed)?;
        if let Err(error) = print(&shown) {
            // The token could not be printed, so nobody has seen it.
            tokens.revoke(&name).map_err(failed)?;
            return Err(error);
        }
        print_note(&format!(
            "keep it now: it is not shown again. From now on, a server over HTTP with the tokens of \
             `{}` asks for one",
            tokens.location()
        ));
        Ok(ExitCode::SUCCESS)
    }
}

fn bind(
    tokens: &Tokens,
    new: NewToken,
    subject: Subject,
    now: Timestamp,
) -> Result<ExitCode, Error> {
    let said = format!("`{}` is bound to `{}` of `{}`", new.name, subject.id, subject.issuer);
    tokens.bind(new, subject, now).map_err(failed)?;
    print(&said)?;
    Ok(ExitCode::SUCCESS)
}

impl List {
    fn run(self) -> Result<ExitCode, Error> {
        let tokens = self.place.tokens()?.all().map_err(failed)?;
        if self.json {
            let tokens: Vec<Shown> = tokens.iter().map(Shown::from_token).collect();
            print_json(&json!(tokens).to_string())?;
            return Ok(ExitCode::SUCCESS);
        }
        if tokens.is_empty() {
            print_note("there is no token: a server over HTTP serves the programs of this machine");
        }
        let now = Timestamp::now();
        for token in tokens.iter() {
            print(&line(token, now))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl Revoke {
    fn run(self) -> Result<ExitCode, Error> {
        let tokens = self.place.tokens()?;
        let name = self.name.trim();
        if !tokens.revoke(name).map_err(failed)? {
            let help = "`agent-memory token list` names them all";
            let location = tokens.location();
            return Err(Error::usage(format!(
                "no token in `{location}` is called `{name}`: {help}"
            )));
        }
        print(&format!("`{name}` is revoked"))?;
        if tokens.all().map_err(failed)?.is_empty() {
            print_note(
                "no token is left: a server that starts now serves this machine without one",
            );
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Checks the names of an option. A token with an invalid name would reach nothing, and nobody would
/// see why.
fn names(option: &str, given: Vec<String>) -> Result<Vec<String>, Error> {
    given.iter().map(|name| checked_name(option, name)).collect()
}

/// Checks a directory of `--repositories`.
fn directory(given: &OsStr) -> Result<PathBuf, Error> {
    let path = checked_path("--repositories", given)?;
    let failed = |why: &dyn Display| {
        Error::usage(format!("`--repositories` is `{}`: {why}", path.display()))
    };
    let found = canonical(&path).map_err(|error| failed(&error))?;
    if found.is_dir() { Ok(found) } else { Err(failed(&"it is no directory")) }
}

/// Reads a duration, also in days.
fn valid_for(text: &str) -> Option<Duration> {
    let days = text.trim().strip_suffix('d').and_then(|days| days.parse::<u32>().ok());
    let in_days = |days: u32| Duration::from_secs(u64::from(days) * 24 * 60 * 60);
    days.map(in_days).or_else(|| duration(text))
}

/// The line that describes a token to a person.
fn line(token: &Token, now: Timestamp) -> String {
    let Reach { agents, stores, repositories, read_only } = token.reach();
    let list = |what: &str, names: Option<Vec<String>>| {
        names.map(|names| format!("{what} {}", names.join(",")))
    };
    let reach = [
        list("agents:", agents),
        list("stores:", stores),
        list("repositories:", repositories.map(|paths| shown(&paths)).filter(|of| !of.is_empty())),
        read_only.then(|| "read only".to_owned()),
    ];
    let reach: Vec<String> = reach.into_iter().flatten().collect();
    let reach = if reach.is_empty() { "everything".to_owned() } else { reach.join("; ") };
    let tenant = token.tenant.as_ref().map(|tenant| format!("of the tenant {tenant}, "));
    let reach = tenant.unwrap_or_default() + &reach;
    let used =
        token.last_used.map_or_else(|| "never used".to_owned(), |used| format!("used {used:.0}"));
    let ends = match token.expires {
        Some(expires) if token.has_expired(now) => format!(", expired {expires:.0}"),
        Some(expires) => format!(", expires {expires:.0}"),
        None => String::new(),
    };
    let bound =
        token.subject.as_ref().map(|Subject { issuer, id }| format!(", `{id}` of `{issuer}`"));
    format!("{}: {reach} ({used}{ends}{})", token.name, bound.unwrap_or_default())
}

/// A token as JSON, for programs.
#[derive(Serialize)]
struct Shown<'a> {
    id: &'a str,
    name: &'a str,
    created: Timestamp,
    expires: Option<Timestamp>,
    last_used: Option<Timestamp>,
    agents: Option<Vec<String>>,
    stores: Option<Vec<String>>,
    repositories: Option<Vec<String>>,
    read_only: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    subject: Option<&'a Subject>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tenant: Option<&'a str>,
}

impl<'a> Shown<'a> {
    fn from_token(token: &'a Token) -> Self {
        let Reach { agents, stores, repositories, read_only } = token.reach();
        let id = &token.id;
        let name = &token.name;
        let subject = token.subject.as_ref();
        let tenant = token.tenant.as_deref();
        let Token { created, expires, last_used, .. } = *token;
        let repositories = repositories.map(|paths| shown(&paths));
        Shown {
            id,
            name,
            created,
            expires,
            last_used,
            agents,
            stores,
            repositories,
            read_only,
            subject,
            tenant,
        }
    }
}

fn shown(paths: &[PathBuf]) -> Vec<String> {
    paths.iter().map(|path| display(path)).collect()
}

fn failed(error: storage::Error) -> Error {
    match error.code {
        ErrorCode::AlreadyExists => Error::usage(error.message),
        _ => Error::storage(error.message),
    }
}
