//! The SQLite format: one database for all agents. Filters, orders, pages and counts are SQL's.

mod indexing;
mod moving;
mod reader;
mod row;
mod schema;
mod search;
mod sql;
mod writer;

pub(super) use moving::{AgentRows, Known, Moving, Position, Style};
pub(super) use reader::{SqliteReader, Standing, standing};
pub(super) use schema::migrate;
pub(super) use writer::SqliteWriter;
