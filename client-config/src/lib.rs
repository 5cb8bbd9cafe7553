//! The configuration files of MCP clients: where each client keeps its servers and its hooks, the form
//! of an entry, and how an entry is added and removed without any other change.
//!
//! A file is read by its own grammar, JSON with comments or TOML, and edited in place: comments, order,
//! indentation, line ends, a byte order mark and every other entry stay. A file that cannot be read is
//! refused. A backup beside the file has its earlier bytes, so that removing the entry restores them.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use agent_memory_client_config::{Client, Directories, Plan, Scope, Server};
//!
//! # let home = tempfile::tempdir()?;
//! let directories = Directories { home: home.path().into(), ..Directories::from_system()? };
//! let file = Client::Cursor.file(Scope::User, &directories)?;
//! let program = "/usr/local/bin/agent-memory".to_owned();
//! let server = Server::Command { program, arguments: vec!["serve".to_owned()] };
//! let plan = Plan::install(&file, Client::Cursor, &server)?;
//! assert!(plan.diff().contains("+"), "people see the change before it is made");
//! plan.carry_out()?;
//! # Ok(())
//! # }
//! ```

mod client;
mod command;
mod diff;
mod directories;
mod disk;
mod entry;
mod error;
mod format;
mod hooks;
mod json;
mod json_hooks;
mod plan;
mod runner;
mod token;
mod toml;

pub use client::{Client, Scope};
pub use directories::Directories;
pub use entry::{NAME, Server};
pub use error::Error;
pub use hooks::{Event, Hooks};
pub use plan::{Plan, installed, installed_hooks};
pub use runner::Runner;
pub use token::is_variable_name;
