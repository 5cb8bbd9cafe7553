use super::output::{print, print_note};
use super::setting::{Setting, checked_name, is_blank};
use super::{Error, help};
use crate::Builder;
use crate::database::{DatabaseOptions, DatabaseUrl, Migrated, TenantName};
use crate::storage::{self, ErrorCode};
use clap::{Args, Subcommand, ValueHint};
use std::ffi::OsString;
use std::process::ExitCode;

/// The maximum size of the file in `--database-url-file`, in bytes.
const MAX_URL: u64 = 4096;

/// Prepare or check the PostgreSQL database that servers share.
#[derive(Debug, Args)]
#[command(after_long_help = help::sections(&[include_str!("help/database.txt")]))]
pub struct DatabaseCommand {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Make the tables, or bring them to the version of this program
    #[command(after_long_help = help::sections(&[include_str!("help/database.txt")]))]
    Migrate(DatabaseArgs),
    /// Check that the database answers, takes writes, and has the tables of this program
    #[command(after_long_help = help::sections(&[include_str!("help/database.txt")]))]
    Check(DatabaseArgs),
    /// Make or list tenants, whose memory in the database is apart
    #[command(after_long_help = help::sections(&[include_str!("help/database-tenant.txt")]))]
    Tenant(Tenant),
}

#[derive(Debug, Args)]
struct Tenant {
    #[command(subcommand)]
    action: TenantAction,
}

#[derive(Debug, Subcommand)]
enum TenantAction {
    /// Make a tenant, for which tokens can then be made
    #[command(after_long_help = help::sections(&[include_str!("help/database-tenant.txt")]))]
    Create(CreateTenant),
    /// List the tenants, each with its number in the tables
    #[command(after_long_help = help::sections(&[include_str!("help/database-tenant.txt")]))]
    List(DatabaseArgs),
}

#[derive(Debug, Args)]
struct CreateTenant {
    /// Name of the tenant, such as that of a customer or a team
    #[arg(value_name = "NAME")]
    name: String,

    #[command(flatten)]
    database: DatabaseArgs,
}

// No doc comment here: clap would show it as the help of each command.
#[derive(Debug, Args)]
pub(super) struct DatabaseArgs {
    /// PostgreSQL database for what belongs to no repository, shared by several servers
    ///
    /// Such as `postgresql://user@host:5432/memory`. Other programs see the arguments of a command: give
    /// a password in the variable or in a file. TLS with a verified certificate is required, unless the
    /// host is this machine. [env: AGENT_MEMORY_DATABASE_URL]
    #[arg(long, value_name = "URL", help_heading = "Memory")]
    database_url: Option<OsString>,

    /// File that has only the URL of the database, instead of `--database-url`
    ///
    /// [env: AGENT_MEMORY_DATABASE_URL_FILE]
    #[arg(
        long,
        value_name = "FILE",
        value_hint = ValueHint::FilePath,
        help_heading = "Memory"
    )]
    database_url_file: Option<OsString>,

    /// Most connections to the database, at least 2 [default: 8]
    ///
    /// [env: AGENT_MEMORY_DATABASE_POOL]
    #[arg(long, value_name = "N", help_heading = "Memory")]
    database_pool: Option<OsString>,
}

impl DatabaseCommand {
    pub(super) fn run(self) -> Result<ExitCode, Error> {
        match self.action {
            Action::Migrate(given) => {
                print(match given.required()?.migrate().map_err(failed)? {
                    Migrated::Created => "the tables were made",
                    Migrated::Updated => "the tables were brought to the version of this program",
                    Migrated::UpToDate => "the tables are up to date",
                })?;
            }
            Action::Check(given) => {
                let options = given.required()?;
                options.check().map_err(failed)?;
                print("the database is ready")?;
                if let Some(warning) = options.row_security().map_err(failed)?.warning() {
                    print_note(warning);
                }
            }
            Action::Tenant(Tenant { action: TenantAction::Create(given) }) => {
                let name = checked_name("NAME", &given.name)?;
                given.database.required()?.create_tenant(&name).map_err(failed)?;
                print(&format!("the tenant `{name}` was made"))?;
            }
            Action::Tenant(Tenant { action: TenantAction::List(given) }) => {
                let tenants = given.required()?.tenants().map_err(failed)?;
                if tenants.is_empty() {
                    print_note("there is no tenant: all clients share the memory of the database");
                }
                for TenantName { number, name } in tenants {
                    print(&format!("{number} {name}"))?;
                }
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn failed(error: storage::Error) -> Error {
    match error.code {
        ErrorCode::AlreadyExists => Error::usage(error.message),
        _ => Error::storage(error.message),
    }
}

impl DatabaseArgs {
    pub(super) fn set(&self, builder: Builder) -> Result<Builder, Error> {
        Ok(match self.options()? {
            Some(options) => builder.database(options),
            None => builder,
        })
    }

    /// The database of the options. An error if none is given.
    fn required(&self) -> Result<DatabaseOptions, Error> {
        self.options()?.ok_or_else(|| {
            Error::usage(
                "there is no URL of a database: give `--database-url` or `--database-url-file`",
            )
        })
    }

    /// The database at `url`, the value of the option `option`. If `url` is blank, the database of
    /// these options.
    pub(super) fn at(&self, option: &str, url: &OsString) -> Result<DatabaseOptions, Error> {
        if is_blank(url) {
            return self.required();
        }
        if self.database_url.is_some() || self.database_url_file.is_some() {
            return Err(Error::usage(format!(
                "`{option}` has a URL, and another option has one, too: leave one of them out"
            )));
        }
        let url = Setting::parse(option, Some(url)).expect("it is given");
        self.with_pool(read_url(&url)?)
    }

    /// The database of the options. `None` if none is given.
    fn options(&self) -> Result<Option<DatabaseOptions>, Error> {
        let url = Setting::parse("--database-url", self.database_url.as_ref());
        let file = Setting::parse("--database-url-file", self.database_url_file.as_ref());
        let url = match (url, file) {
            (None, None) => return Ok(None),
            (Some(url), None) => read_url(&url)?,
            (None, Some(file)) => read_file(&file)?,
            (Some(url), Some(file)) => {
                return Err(Error::usage(format!(
                    "`{}` and `{}` are both given: leave one of them out",
                    url.source(),
                    file.source()
                )));
            }
        };
        self.with_pool(url).map(Some)
    }

    fn with_pool(&self, url: DatabaseUrl) -> Result<DatabaseOptions, Error> {
        let options = DatabaseOptions::new(url);
        let pool = Setting::parse("--database-pool", self.database_pool.as_ref());
        Ok(match pool {
            None => options,
            Some(pool) => {
                options.with_connections(pool.read("a number from 2 to 1000", |text| {
                    text.parse().ok().filter(|number| (2..=1000).contains(number))
                })?)
            }
        })
    }
}

/// Reads the URL in a setting. Messages never contain the URL.
fn read_url(setting: &Setting) -> Result<DatabaseUrl, Error> {
    let source = setting.source();
    let parsed = setting.read("", |text| Some(text.parse::<DatabaseUrl>()));
    let parsed = parsed.map_err(|_| Error::usage(format!("`{source}` is not a text")))?;
    parsed.map_err(|error| Error::usage(format!("`{source}`: {error}")))
}

fn read_file(file: &Setting) -> Result<DatabaseUrl, Error> {
    // The user gave the URL itself instead of a file: no message may contain it.
    if file.read("", |text| Some(text.contains("://"))).unwrap_or_default() {
        let source = file.source();
        return Err(Error::usage(format!(
            "`{source}` takes the path of a file that holds the URL, not the URL: \
             `--database-url` and `AGENT_MEMORY_DATABASE_URL` take that"
        )));
    }
    let path = file.path()?;
    let refused = |reason: &dyn std::fmt::Display| {
        Error::usage(format!("`{}`, the file `{}`: {reason}", file.source(), path.display()))
    };
    let length = std::fs::metadata(&path).map_err(|error| refused(&error))?.len();
    if length > MAX_URL {
        return Err(refused(&"it is too long for the URL of a database"));
    }
    let text = std::fs::read_to_string(&path).map_err(|error| refused(&error))?;
    text.parse().map_err(|error| refused(&error))
}
