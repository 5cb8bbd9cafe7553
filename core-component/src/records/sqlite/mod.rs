//! The SQLite format: one database for all agents. Filters, orders, pages and counts are SQL's.

mod indexing;
mod reader;
mod row;
mod schema;
mod search;
mod sql;
mod whole;
mod writer;

pub(super) use reader::{SqliteReader, has_agent};
pub(super) use schema::migrate;
pub(super) use whole::{AgentRows, Known, Position, Style};
pub(super) use writer::SqliteWriter;
