//! All SQL of the toolset `items`.

mod reader;
mod rows;
mod schema;
mod sql;
mod writer;

pub(super) use reader::Reader;
pub(super) use rows::Rows;
pub(super) use schema::{POSTGRES_TABLES, SQLITE_TABLES, has_tables, prepare};
pub(super) use writer::{NewItem, Writer};
