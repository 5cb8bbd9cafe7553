//! All SQL of the toolset.

mod batch;
mod forget;
mod reader;
mod row;
mod rows;
mod schema;
mod search;
mod sql;
mod undated;
mod whole;
mod writer;

pub(super) use batch::{Batch, agent_of, lease, waiting};
pub(super) use forget::Rows;
pub(super) use reader::{Reader, agent_names};
pub(super) use rows::{LayerRows, collection_of};
pub(super) use schema::{POSTGRES_TABLES, SQLITE_TABLES};
pub(super) use search::{Query, Searched};
pub(super) use whole::Position;
pub(super) use writer::{OF_TASK, Writer};
