//! Reading an agent's rows.
//!
//! Another program may store a value of another type than the schema has. A row with such a value
//! is left out, and a warning names the row.

use std::cell::RefCell;
use std::collections::BTreeMap;

use super::row::Row;
use super::schema::{Tables, check_version};
use super::sql::{integer, into_text, is_name, statement, text};
use crate::storage::database::{Dialect, Statement, Transaction, Value};
use crate::toolsets::layers::error::{Code, Error};
use crate::toolsets::layers::memory::{Compost, Counts, Episode, Memory, Task};

/// The most core memories that a call reads.
const MAX_CORE: u32 = 100_000;

/// The SQL condition that a recent memory can be summarised. Another program may have stored a
/// blob, or a text that is too long for storage to return.
pub(super) const IS_SUMMARISABLE: &str =
    "typeof(memory) = 'text' AND octet_length(memory) <= 65536";

/// The most rows that a warning names: recent memories that cannot be summarised, or rows that
/// cannot be read.
const MAX_NAMED: u32 = 10;

/// Reads an agent's rows in one transaction.
pub(in crate::toolsets::layers) struct Reader<'a> {
    /// The transaction. `None` if the database does not exist.
    pub(super) view: Option<&'a dyn Transaction>,
    pub(super) agent: &'a str,
    tables: Tables,
    /// Whether `layers_agents` has the agent.
    pub(super) is_known: bool,
    /// The rows that were left out: for each table and id, the reason why the row cannot be read.
    unreadable: RefCell<BTreeMap<(String, i64), String>>,
}

impl<'a> Reader<'a> {
    /// A reader of a database that does not exist.
    pub fn empty(agent: &'a str) -> Self {
        let unreadable = RefCell::default();
        Self { view: None, agent, tables: Tables::none(), is_known: false, unreadable }
    }

    /// A reader of the agent's rows in this view.
    ///
    /// # Errors
    ///
    /// `INVALID_INPUT` if another agent's name differs only in case.
    pub fn new(view: &'a dyn Transaction, agent: &'a str) -> Result<Self, Error> {
        let tables = Tables::read(view)?;
        if tables.has_ours() {
            check_version(view)?;
        }
        Self::with_tables(view, tables, agent)
    }

    /// Like [`new`](Self::new), for a database whose version was checked.
    pub(super) fn with_tables(
        view: &'a dyn Transaction,
        tables: Tables,
        agent: &'a str,
    ) -> Result<Self, Error> {
        let unreadable = RefCell::default();
        let mut reader = Self { view: Some(view), agent, tables, is_known: false, unreadable };
        if reader.tables.has_ours() {
            reader.is_known = reader.find_agent()?;
        }
        Ok(reader)
    }

    pub(super) fn dialect(&self) -> Dialect {
        self.view.map_or(Dialect::Sqlite, Transaction::dialect)
    }

    /// Whether `layers_agents` has the agent: the agent has memories or had some.
    pub fn has_agent(&self) -> bool {
        self.is_known
    }

    /// Whether `layers_agents` has the agent. Fails if another agent's name differs only in case.
    fn find_agent(&self) -> Result<bool, Error> {
        let is_name = is_name(self.dialect(), "agent_id", "lower_id", "?1");
        let sql = format!("SELECT agent_id FROM layers_agents WHERE {is_name}");
        let mut twin = None;
        for row in self.rows("layers_agents", &sql, [text(self.agent)], 1_000)? {
            let name = into_text(row.into_iter().next().unwrap_or(Value::Null))?;
            if name == self.agent {
                return Ok(true);
            }
            twin = Some(name);
        }
        match twin {
            // The program of spec 002 allows names that differ only in case. If it has stored rows
            // of this agent, they stay readable.
            Some(twin) if !self.has_rows()? => Err(Error::case_twin(self.agent, &twin)),
            _ => Ok(false),
        }
    }

    /// Whether any layer has a row of the agent.
    pub fn has_rows(&self) -> Result<bool, Error> {
        let sql = "SELECT 1 FROM core_memories WHERE agent_id = ?1 \
                   UNION ALL SELECT 1 FROM recent_memories WHERE agent_id = ?1 \
                   UNION ALL SELECT 1 FROM current_task WHERE agent_id = ?1 \
                   UNION ALL SELECT 1 FROM episodic_memories WHERE agent_id = ?1 \
                   UNION ALL SELECT 1 FROM memory_compost WHERE agent_id = ?1 LIMIT 1";
        Ok(!self.rows("core_memories", sql, [text(self.agent)], 1)?.is_empty())
    }

    /// The rows of a statement. Empty if the table does not exist.
    pub(super) fn rows(
        &self,
        table: &str,
        sql: &str,
        parameters: impl Into<Vec<Value>>,
        most: u32,
    ) -> Result<Vec<Vec<Value>>, Error> {
        match self.view {
            Some(view) if self.tables.has(table) => {
                Ok(view.query(&statement(sql, parameters), most)?.rows)
            }
            _ => Ok(Vec::new()),
        }
    }

    /// Reads an entry from a row whose first column is its id. `None` if the row cannot be read: a
    /// warning will name the row.
    pub(super) fn entry<T>(
        &self,
        table: &str,
        row: Vec<Value>,
        read: impl FnOnce(Row) -> Result<T, Error>,
    ) -> Result<Option<T>, Error> {
        let id = integer(&row[0])?;
        Ok(match read(Row::new(row)) {
            Ok(entry) => Some(entry),
            Err(error) => {
                let reason = error.message().to_owned();
                self.unreadable.borrow_mut().insert((table.to_owned(), id), reason);
                None
            }
        })
    }

    /// Reads at most `most` entries. Parameter 2 of the statement is its limit. If some rows cannot
    /// be read, the statement runs again with a higher limit.
    fn entries<T>(
        &self,
        table: &str,
        sql: &str,
        most: u32,
        read: fn(Row) -> Result<T, Error>,
    ) -> Result<Vec<T>, Error> {
        let mut limit = most;
        loop {
            let parameters = [text(self.agent), Value::Integer(limit.into())];
            let rows = self.rows(table, sql, parameters, limit)?;
            let is_all = rows.len() < limit as usize;
            let mut entries = Vec::new();
            for row in rows {
                entries.extend(self.entry(table, row, read)?);
            }
            if is_all || entries.len() >= most as usize {
                entries.truncate(most as usize);
                return Ok(entries);
            }
            limit = limit.saturating_add(most - entries.len() as u32);
        }
    }

    /// The warnings about the rows that this reader has left out.
    pub fn warnings(&self) -> Vec<String> {
        let unreadable = self.unreadable.borrow();
        let named = unreadable.iter().take(MAX_NAMED as usize);
        let named = named
            .map(|((table, id), reason)| format!("row {id} of `{table}` was left out: {reason}"));
        let mut warnings: Vec<String> = named.collect();
        if unreadable.len() > warnings.len() {
            warnings.push(format!("and {} more rows", unreadable.len() - warnings.len()));
        }
        warnings
    }

    /// The core memories, the oldest first.
    pub fn core(&self) -> Result<Vec<Memory>, Error> {
        let sql = "SELECT id, memory, created_at FROM core_memories WHERE agent_id = ?1 ORDER BY id \
                   LIMIT ?2";
        self.entries("core_memories", sql, MAX_CORE, Row::memory)
    }

    /// The id of the core memory with exactly this text. `None` if there is none.
    pub fn core_id(&self, memory: &str) -> Result<Option<i64>, Error> {
        let sql = "SELECT id FROM core_memories WHERE agent_id = ?1 AND memory = ?2";
        let rows = self.rows("core_memories", sql, [text(self.agent), text(memory)], 1)?;
        rows.first().map(|row| integer(&row[0])).transpose()
    }

    /// The latest recent memories, the newest first.
    pub fn recent(&self, most: u32) -> Result<Vec<Memory>, Error> {
        self.recent_where("TRUE ORDER BY id DESC", most)
    }

    /// The latest recent memories, the newest first. If `from` is given, only those whose ids are
    /// at most `from`.
    pub fn recent_from(&self, from: Option<i64>, most: u32) -> Result<Vec<Memory>, Error> {
        let from = from.unwrap_or(i64::MAX);
        self.recent_where(&format!("id <= {from} ORDER BY id DESC"), most)
    }

    /// The oldest recent memories that can be summarised, the oldest first.
    pub fn oldest_recent(&self, most: u32) -> Result<Vec<Memory>, Error> {
        self.recent_where(&format!("{IS_SUMMARISABLE} ORDER BY id"), most)
    }

    /// The ids of recent memories that cannot be summarised, the oldest first, at most
    /// [`MAX_NAMED`].
    pub fn not_summarisable(&self) -> Result<Vec<i64>, Error> {
        let sql = format!(
            "SELECT id FROM recent_memories WHERE agent_id = ?1 AND NOT ({IS_SUMMARISABLE}) \
             ORDER BY id LIMIT {MAX_NAMED}"
        );
        let rows = self.rows("recent_memories", &sql, [text(self.agent)], MAX_NAMED)?;
        rows.iter().map(|row| integer(&row[0])).collect()
    }

    fn recent_where(&self, condition: &str, most: u32) -> Result<Vec<Memory>, Error> {
        let sql = format!(
            "SELECT id, memory, created_at FROM recent_memories WHERE agent_id = ?1 \
             AND {condition} LIMIT ?2"
        );
        self.entries("recent_memories", &sql, most, Row::memory)
    }

    /// The number of recent memories that can be summarised, counted up to `most`.
    pub fn recent_count(&self, most: u32) -> Result<u32, Error> {
        let sql = format!(
            "SELECT count(*) FROM (SELECT 1 FROM recent_memories WHERE agent_id = ?1 \
             AND {IS_SUMMARISABLE} LIMIT ?2) AS found"
        );
        let parameters = [text(self.agent), Value::Integer(most.into())];
        let rows = self.rows("recent_memories", &sql, parameters, 1)?;
        let count = rows.first().map_or(Ok(0), |row| integer(&row[0]))?;
        Ok(u32::try_from(count).unwrap_or(most))
    }

    /// The current task. `None` if there is none, or if it cannot be read.
    pub fn task(&self) -> Result<Option<Task>, Error> {
        let Some(row) = self.task_row()? else { return Ok(None) };
        self.entry("current_task", row, Row::task)
    }

    /// The current task, for a change that replaces it.
    ///
    /// # Errors
    ///
    /// `CORRUPTED_DATA` if the task cannot be read: the change would lose it.
    pub fn task_to_change(&self) -> Result<Option<Task>, Error> {
        self.task_row()?.map(|row| Row::new(row).task()).transpose()
    }

    pub fn has_task(&self) -> Result<bool, Error> {
        Ok(self.task_row()?.is_some())
    }

    fn task_row(&self) -> Result<Option<Vec<Value>>, Error> {
        let sql = "SELECT id, task, started_at, updated_at FROM current_task WHERE agent_id = ?1";
        Ok(self.rows("current_task", sql, [text(self.agent)], 1)?.pop())
    }

    /// The latest episodes, the newest first.
    pub fn episodes(&self, most: u32) -> Result<Vec<Episode>, Error> {
        let sql = "SELECT id, memory, tags, created_at FROM episodic_memories \
                   WHERE agent_id = ?1 ORDER BY id DESC LIMIT ?2";
        self.entries("episodic_memories", sql, most, Row::episode)
    }

    /// The latest summaries in the compost, the newest first.
    pub fn compost(&self, most: u32) -> Result<Vec<Compost>, Error> {
        let sql = "SELECT id, summary, original_count, archived_at FROM memory_compost \
                   WHERE agent_id = ?1 ORDER BY id DESC LIMIT ?2";
        self.entries("memory_compost", sql, most, Row::compost)
    }

    pub fn counts(&self) -> Result<Counts, Error> {
        let count = |table: &str| {
            let sql = format!("SELECT count(*) FROM {table} WHERE agent_id = ?1");
            let rows = self.rows(table, &sql, [text(self.agent)], 1)?;
            rows.first().map_or(Ok(0), |row| integer(&row[0]))
        };
        Ok(Counts {
            core: count("core_memories")?,
            recent: count("recent_memories")?,
            episodic: count("episodic_memories")?,
            compost: count("memory_compost")?,
        })
    }
}

/// The most agents that a query lists.
const MAX_AGENTS: u32 = 10_000;

/// The names of the agents in the database, in byte order. A name that is not a text is left out.
pub(in crate::toolsets::layers) fn agent_names(
    view: &dyn Transaction,
) -> Result<Vec<String>, Error> {
    let tables = Tables::read(view)?;
    let sql = if tables.has_ours() {
        "SELECT agent_id FROM layers_agents ORDER BY agent_id"
    } else if tables.has_spec() {
        // Only the program of spec 002 has written to this database.
        "SELECT agent_id FROM core_memories UNION SELECT agent_id FROM recent_memories \
         UNION SELECT agent_id FROM current_task UNION SELECT agent_id FROM episodic_memories \
         UNION SELECT agent_id FROM memory_compost ORDER BY agent_id"
    } else {
        return Ok(Vec::new());
    };
    let rows = view.query(&statement(sql, []), MAX_AGENTS)?.rows.into_iter();
    Ok(rows.filter_map(|mut row| into_text(row.swap_remove(0)).ok()).collect())
}

/// Runs a statement and returns the id in the first column of its first row. Fails if there is no
/// row.
pub(super) fn returned_id(view: &dyn Transaction, statement: &Statement) -> Result<i64, Error> {
    let rows = view.query(statement, 1)?.rows;
    rows.first()
        .and_then(|row| row.first())
        .map_or_else(|| Err(Error::new(Code::InternalError, "storage returned no id")), integer)
}
