//! All SQL of the toolset.

mod batch;
mod indexing;
mod ranked;
mod reader;
mod row;
mod schema;
mod search;
mod sql;
mod undated;
mod whole;
mod writer;

pub(super) use batch::{Batch, agent_of, lease, waiting};
pub(super) use ranked::{Candidates, Near};
pub(super) use reader::{Reader, agent_names};
pub(super) use search::Query;
pub(super) use whole::Position;
pub(super) use writer::Writer;
