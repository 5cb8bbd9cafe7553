//! Records as rows of one database for all agents. SQL filters, sorts, pages and counts.

mod agent_rows;
mod forget;
mod reader;
mod row;
mod rows;
mod schema;
mod sql;
#[cfg(test)]
mod tests;
mod unreadable;
mod writer;

pub(super) use agent_rows::{AgentRows, Position, StoredAgent, Style};
pub(super) use forget::ForgottenRows;
pub(super) use reader::{RowReader, agent_names, has_agent, has_agent_of_same_case};
pub(super) use schema::{POSTGRES_TABLES, SQLITE_TABLES, prepare};
pub(super) use writer::RowWriter;
