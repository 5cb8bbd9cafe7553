//! Documents, rows and locks of places on PostgreSQL, for several servers that share one memory.
//!
//! A [`Server`] is a pool of connections to one database. It opens the [`Tree`] of a place, whose
//! documents are rows of one table, with their version as their stamp. A [`Lock`] is a transaction
//! that has locked a row of its scope. A commit ends it, and the next commit takes it anew.
//!
//! Each row belongs to a tenant. Every statement asks for the rows of one tenant, and row-level security
//! of the database lets only the rows of that tenant through.
//!
//! A [`Database`] runs the statements of a toolset on tables that a migration has made. A
//! [`Transaction`] that writes to a kept database is the transaction of a lock. A transaction on a
//! derived database does not take the lock of the place, and does not wait for other writers.
//!
//! All statements are unnamed and all settings end with their transaction, so that a pooler such as
//! PgBouncer in transaction mode may be between this program and the database.

mod commit;
mod connection;
mod database;
mod derived;
mod derived_key;
mod documents;
mod ending;
mod error;
mod known;
mod lock;
mod outcome;
mod places;
mod pool;
mod query;
mod schema;
mod server;
mod session;
mod single;
mod state;
mod statement;
mod statement_error;
mod tenants;
mod tls;
mod toolset_tables;
mod transaction;
mod url;
mod value;

pub use commit::MAX_PATH;
pub use database::Database;
pub use documents::{Reader, Tree};
pub use lock::{Lock, Scope};
pub use schema::{Migrated, VERSION};
pub use server::{Options, Server};
pub use tenants::{RowSecurity, TenantName};
pub use toolset_tables::ToolsetTables;
pub use transaction::Transaction;
pub use url::{DatabaseUrl, UrlError};
