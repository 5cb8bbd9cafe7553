//! A database with tenants, and a directory for the servers and tokens of a test.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use agent_memory_host::database::DatabaseOptions;
use tempfile::TempDir;

use crate::http_server::HttpServer;
use crate::postgres::PostgresServer;
use crate::product::program;

/// A database with tenants, and a directory for servers and tokens.
#[derive(Debug)]
pub struct Scene {
    /// The database.
    pub database: PostgresServer,
    directory: TempDir,
}

impl Scene {
    /// A database with these tenants. `None` without PostgreSQL.
    #[track_caller]
    pub fn new(tenants: &[&str]) -> Option<Self> {
        let database = PostgresServer::start()?;
        let options = DatabaseOptions::new(database.url());
        for tenant in tenants {
            options.create_tenant(tenant).expect("a new name");
        }
        Some(Scene { database, directory: tempfile::tempdir().expect("a directory") })
    }

    /// The home directory of all programs of the test.
    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// The data directory of all programs of the test.
    pub fn data_dir(&self) -> PathBuf {
        self.path().join("data")
    }

    /// The option that names the database.
    pub fn database_option(&self) -> String {
        format!("--database-url={}", self.database.url_text())
    }

    /// Runs `agent-memory` with these arguments.
    pub fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(program("agent-memory"));
        command.args(arguments).env_clear().env("HOME", self.path());
        command.env("AGENT_MEMORY_DATA_DIR", self.data_dir()).current_dir(self.path());
        command.output().expect("it runs")
    }

    /// Makes a token.
    #[track_caller]
    pub fn create_token(&self, name: &str, options: &[&str]) -> String {
        let output = self.run(&[&["token", "create", name], options].concat());
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).expect("UTF-8").trim().to_owned()
    }

    /// Makes a token without limits in a tenant, or without a tenant.
    #[track_caller]
    pub fn token_of(&self, tenant: Option<&str>) -> String {
        let options = tenant.map(|name| vec!["--tenant", name]).unwrap_or_default();
        self.create_token(tenant.unwrap_or("none"), &options)
    }

    /// Starts a server.
    #[track_caller]
    pub fn serve(&self, options: &[&str]) -> HttpServer {
        let data = format!("--data-dir={}", self.data_dir().display());
        let options = options.iter().copied().chain([data.as_str()]);
        HttpServer::start(&options.map(str::to_owned).collect::<Vec<_>>(), self.path())
    }
}
