//! All SQL of the toolset.

mod indexing;
mod reader;
mod row;
mod schema;
mod search;
mod sql;
mod whole;
mod writer;

pub(super) use reader::Reader;
pub(super) use search::Query;
pub(super) use whole::Position;
pub(super) use writer::Writer;
