//! Reading an agent's rows.

use std::collections::BTreeSet;

use super::row::{COLUMNS, Row, timestamp};
use super::rows::Rows;
use super::schema::{MAX_AGENTS, has_tables};
use super::sql::{
    count, integer, into_optional_text, into_text, is_in_integers, is_in_texts, is_name, json,
    query_one, statement, text, unexpected,
};
use super::unreadable::UnreadableRows;
use crate::index::RowIndex;
use crate::rows::read_rows;
use crate::source::{Collector, ReadDocuments};
use crate::storage;
use crate::storage::database::{self, Connection, Dialect, Statement, Transaction, Value};
use crate::time::Timestamp;
use crate::toolsets::records::entries::Search;
use crate::toolsets::records::error::Error;
use crate::toolsets::records::memory::{Importance, Kind, Memory};
use crate::toolsets::records::query::{Page, Query, Sort};
use crate::toolsets::records::stats::{Stats, TOP_TAGS};
use crate::toolsets::records::store::{Newest, Reader, View, WithAnyTerm};

/// Whether the database has this agent. Fails if another agent's name differs only in case.
pub(in crate::toolsets::records) fn has_agent(
    database: &dyn Connection,
    agent: &str,
) -> Result<bool, Error> {
    let query = |statement: &Statement| database.query(statement, 1);
    Ok(find_agent_or_tables(database.dialect(), query, agent)?.is_some())
}

/// Whether the database has an agent with exactly this name.
pub(in crate::toolsets::records) fn has_agent_of_same_case(
    database: &dyn Connection,
    agent: &str,
) -> Result<bool, Error> {
    let query = |statement: &Statement| database.query(statement, 1);
    let dialect = database.dialect();
    if !has_tables(dialect, query)? {
        return Ok(false);
    }
    // The first condition finds the rows by the index, which ignores case. The second compares the
    // case; with `|| ''` it can use no index.
    let is_name = is_name(dialect, "name", "lower_name", "?1");
    let sql = format!("SELECT 1 FROM agents WHERE {is_name} AND name || '' = ?1");
    Ok(!query(&statement(&sql, [text(agent)]))?.rows.is_empty())
}

/// The most memories at which `count_with_any_term` looks.
const MAX_NEWEST: u32 = 20_000;

/// The most rows that are read to find the most accessed memory: the first row may be unreadable.
const MAX_MOST_ACCESSED: u32 = 10;

/// The names of the agents in the database, in byte order, and the number of agents whose names are
/// not UTF-8.
pub(in crate::toolsets::records) fn agent_names(
    database: &dyn Connection,
) -> Result<(Vec<String>, usize), Error> {
    let query = |statement: &Statement| database.query(statement, MAX_AGENTS);
    if !has_tables(database.dialect(), query)? {
        return Ok((Vec::new(), 0));
    }
    let rows = query(&statement("SELECT name FROM agents ORDER BY name", []))?.rows;
    let count = rows.len();
    let names = rows.into_iter().filter_map(|mut row| into_text(row.swap_remove(0)).ok());
    let names: Vec<String> = names.collect();
    let unreadable = count - names.len();
    Ok((names, unreadable))
}

/// Like [`find_agent`], for a database that may have no tables.
fn find_agent_or_tables(
    dialect: Dialect,
    query: impl Fn(&Statement) -> Result<database::Rows, storage::Error>,
    agent: &str,
) -> Result<Option<AgentRow>, Error> {
    if has_tables(dialect, &query)? { find_agent(dialect, query, agent) } else { Ok(None) }
}

/// A row of the table `agents`.
pub(super) struct AgentRow {
    pub key: i64,
    /// The version of the file that the agent's rows are a copy of. `None` if a row has changed
    /// since, or if the rows were not copied from a file.
    pub copy_of: Option<String>,
}

/// Finds an agent by its name.
///
/// # Errors
///
/// `INVALID_INPUT` if another agent's name differs only in case.
pub(super) fn find_agent(
    dialect: Dialect,
    query: impl Fn(&Statement) -> Result<database::Rows, storage::Error>,
    agent: &str,
) -> Result<Option<AgentRow>, Error> {
    let is_name = is_name(dialect, "name", "lower_name", "?1");
    let sql = format!("SELECT key, name, moving FROM agents WHERE {is_name}");
    let Some(row) = query(&statement(&sql, [text(agent)]))?.rows.pop() else { return Ok(None) };
    let [key, name, copy_of] =
        row.try_into().map_err(|_| unexpected("three columns", &Value::Null))?;
    let name = into_text(name)?;
    if name == agent {
        Ok(Some(AgentRow { key: integer(&key)?, copy_of: into_optional_text(copy_of)? }))
    } else {
        Err(Error::case_twin(agent, &name))
    }
}

/// Reads an agent's rows in one transaction.
pub(in crate::toolsets::records) struct RowReader<'a> {
    view: &'a dyn Transaction,
    /// The agent's key; `None` if the database has no such agent.
    agent: Option<i64>,
    unreadable: UnreadableRows,
}

impl<'a> RowReader<'a> {
    pub fn new(view: &'a dyn Transaction, agent: &str) -> Result<Self, Error> {
        let query = |statement: &Statement| view.query(statement, 1);
        let agent = find_agent_or_tables(view.dialect(), query, agent)?;
        Ok(Self::with_key(view, agent.map(|agent| agent.key), UnreadableRows::default()))
    }

    /// Makes a reader for the agent with this key. `unreadable` collects the rows that are left
    /// out. It may have some already.
    pub(super) fn with_key(
        view: &'a dyn Transaction,
        agent: Option<i64>,
        unreadable: UnreadableRows,
    ) -> Self {
        Self { view, agent, unreadable }
    }

    /// Whether the database has the agent.
    pub fn has_agent(&self) -> bool {
        self.agent.is_some()
    }

    pub(super) fn row(&self, id: &str) -> Result<Option<Row>, Error> {
        let Some(agent) = self.agent else { return Ok(None) };
        let sql = format!("SELECT {COLUMNS} FROM memories AS m WHERE m.agent = ?1 AND m.id = ?2");
        let found = query_one(self.view, statement(&sql, [Value::Integer(agent), text(id)]))?;
        found.map(Row::read).transpose()
    }

    /// The keys of the newest memories, with archived memories if `archived` is true.
    fn newest_keys(&self, agent: i64, archived: bool) -> Result<Newest<i64>, Error> {
        let sql = "SELECT key, bytes FROM memories WHERE agent = ?1 AND archived <= ?2 \
                   ORDER BY created_at DESC, id LIMIT ?3";
        let parameters = [agent, archived.into(), MAX_NEWEST.into()].map(Value::Integer);
        let rows = self.view.query(&statement(sql, parameters), MAX_NEWEST)?.rows;
        let sizes = rows.iter().map(|row| Ok((integer(&row[0])?, integer(&row[1])? as u64)));
        let newest = Newest::from_memories(sizes.collect::<Result<Vec<_>, Error>>()?.into_iter());
        let is_all = newest.is_all && rows.len() < MAX_NEWEST as usize;
        Ok(Newest { is_all, ..newest })
    }

    /// The number of memories with these keys that have any of the terms, counted up to `limit`.
    fn count_with_any(&self, keys: &[i64], terms: &[String], limit: u32) -> Result<u32, Error> {
        let mut parameters = vec![json(&keys), Value::Integer(limit.into())];
        let mut conditions = Vec::new();
        for term in terms {
            parameters.push(text(term));
            conditions.push(has_term(&format!("?{}", parameters.len())));
        }
        let is_one = is_in_integers(self.view.dialect(), "m.key", "?1");
        let sql = format!(
            "SELECT count(*) FROM (SELECT 1 FROM memories AS m WHERE {is_one} AND ({}) LIMIT ?2) \
             AS found",
            conditions.join(" OR ")
        );
        let row = query_one(self.view, statement(&sql, parameters))?;
        Ok(row.map_or(Ok(0), |row| integer(&row[0]))? as u32)
    }
}

impl Reader for RowReader<'_> {
    fn find(&self, id: &str) -> Result<Option<Memory>, Error> {
        Ok(self.row(id)?.map(|row| row.memory))
    }

    fn has_id(&self, id: &str) -> Result<bool, Error> {
        let Some(agent) = self.agent else { return Ok(false) };
        let sql = "SELECT 1 FROM memories WHERE agent = ?1 AND id = ?2";
        Ok(query_one(self.view, statement(sql, [Value::Integer(agent), text(id)]))?.is_some())
    }

    fn query(&self, query: &Query) -> Result<Page, Error> {
        let Some(agent) = self.agent else { return Ok(Page::default()) };
        let (condition, parameters) = condition(self.view.dialect(), agent, query);
        let mut of_page = parameters.clone();
        of_page.extend([Value::Integer(query.limit.into()), count(query.offset)]);
        let sql = format!(
            "SELECT {COLUMNS} FROM memories AS m WHERE {condition} ORDER BY {} LIMIT ?{} OFFSET ?{}",
            order(query),
            of_page.len() - 1,
            of_page.len()
        );
        let rows = self.view.query(&statement(&sql, of_page), query.limit)?.rows;
        // A page that is not full ends with the last match: its end is the number of all matches,
        // and no second query is needed.
        let is_last = rows.len() < query.limit as usize && (!rows.is_empty() || query.offset == 0);
        let total = match (query.counts_all, is_last) {
            (false, _) => 0,
            (true, true) => query.offset + rows.len() as u64,
            (true, false) => {
                let sql = format!("SELECT count(*) FROM memories AS m WHERE {condition}");
                let row = query_one(self.view, statement(&sql, parameters))?;
                row.map_or(Ok(0), |row| integer(&row[0]))? as u64
            }
        };
        let count = rows.len();
        let memories = self.unreadable.memories(rows)?;
        let total = total.saturating_sub((count - memories.len()) as u64);
        Ok(Page { memories, total })
    }

    fn count_with_any_term(&self, query: &Query) -> Result<WithAnyTerm, Error> {
        let Some(agent) = self.agent else { return Ok(WithAnyTerm { count: 0, of_newest: None }) };
        let newest = self.newest_keys(agent, query.archived)?;
        let count = self.count_with_any(&newest.keys, &query.terms, query.limit)?;
        Ok(WithAnyTerm { count, of_newest: newest.number() })
    }

    fn stats(&self) -> Result<Stats, Error> {
        let Some(agent) = self.agent else { return Ok(Stats::default()) };
        let mut stats = Stats::default();
        let sql = "SELECT type, importance, archived, count(*), sum(bytes), min(created_at), \
                   max(created_at) FROM memories WHERE agent = ?1 GROUP BY 1, 2, 3";
        let groups = statement(sql, [Value::Integer(agent)]);
        for group in self.view.query(&groups, 100)?.rows {
            add_group(&mut stats, &group)?;
        }
        let sql = format!(
            "SELECT {COLUMNS} FROM memories AS m WHERE m.agent = ?1 AND m.archived = 0 \
             ORDER BY m.access_count DESC, m.accessed_at DESC, m.id LIMIT {MAX_MOST_ACCESSED}"
        );
        let most_accessed = statement(&sql, [Value::Integer(agent)]);
        for row in self.view.query(&most_accessed, MAX_MOST_ACCESSED)?.rows {
            stats.most_accessed = self.unreadable.memory(row)?;
            if stats.most_accessed.is_some() {
                break;
            }
        }
        let sql = "SELECT tag, count(*) FROM memory_tags WHERE agent = ?1 AND archived = 0 \
                   GROUP BY tag ORDER BY 2 DESC, 1 LIMIT ?2";
        let tags = statement(sql, [Value::Integer(agent), count(TOP_TAGS as u64)]);
        for mut row in self.view.query(&tags, TOP_TAGS as u32)?.rows {
            let count = integer(&row[1])? as u64;
            if let Ok(tag) = into_text(row.swap_remove(0)) {
                stats.top_tags.push((tag, count));
            }
        }
        Ok(stats)
    }

    fn existing_ids(&self, ids: &[&str]) -> Result<BTreeSet<String>, Error> {
        let Some(agent) = self.agent else { return Ok(BTreeSet::new()) };
        let is_one = is_in_texts(self.view.dialect(), "id", "?2");
        let sql = format!("SELECT id FROM memories WHERE agent = ?1 AND {is_one}");
        let existing = statement(&sql, [Value::Integer(agent), json(&ids)]);
        let mut rows = self.view.query(&existing, ids.len() as u32)?.rows;
        rows.iter_mut().map(|row| into_text(row.swap_remove(0))).collect()
    }

    fn unused(
        &self,
        since: Timestamp,
        kind: Option<Kind>,
        limit: u32,
    ) -> Result<Vec<Memory>, Error> {
        let Some(agent) = self.agent else { return Ok(Vec::new()) };
        let sql = format!(
            "SELECT {COLUMNS} FROM memories AS m WHERE m.agent = ?1 AND m.archived = 0 \
             AND m.accessed_at < ?2 AND m.updated_at < ?2 AND coalesce(m.type = ?3, true) \
             ORDER BY m.accessed_at, m.created_at, m.id DESC LIMIT ?4"
        );
        let kind = kind.map_or(Value::Null, |kind| Value::Integer(kind as i64));
        let since = Value::Integer(since.milliseconds());
        let parameters = [Value::Integer(agent), since, kind, count(limit.into())];
        let rows = self.view.query(&statement(&sql, parameters), limit)?.rows;
        self.unreadable.memories(rows)
    }

    fn unreadable(&self) -> Option<String> {
        self.unreadable.warning()
    }
}

impl View for RowReader<'_> {
    fn add_to(
        &self,
        search: &Search<'_>,
        index: &mut RowIndex<'_>,
        collector: &mut Collector<'_>,
    ) -> Result<(), Error> {
        match self.agent {
            Some(agent) => Rows { view: self.view, agent, search, unreadable: &self.unreadable }
                .add_to(index, collector),
            None => Ok(()),
        }
    }

    fn read_rows(&self, search: &Search<'_>, keys: &[i64]) -> Result<ReadDocuments, Error> {
        match self.agent {
            Some(agent) => {
                let unreadable = &self.unreadable;
                read_rows(&Rows { view: self.view, agent, search, unreadable }, keys)
            }
            None => Ok(Vec::new()),
        }
    }
}

/// Adds to the statistics one row of the query that groups memories by type, importance and
/// `archived`.
fn add_group(stats: &mut Stats, group: &[Value]) -> Result<(), Error> {
    let number = |index: usize| integer(&group[index]);
    let memories = number(3)? as u64;
    stats.bytes += number(4)? as u64;
    if number(2)? != 0 {
        stats.archived += memories;
        return Ok(());
    }
    let add = |to: &mut u64| *to += memories;
    let kind = Kind::ALL.get(number(0)? as usize);
    let importance = Importance::ALL.get(number(1)? as usize);
    if let Some(kind) = kind {
        add(stats.by_kind.entry(*kind).or_default());
    }
    if let Some(importance) = importance {
        add(stats.by_importance.entry(*importance).or_default());
    }
    let oldest = Some(timestamp(&group[5])?);
    let newest = Some(timestamp(&group[6])?);
    stats.oldest = stats.oldest.or(oldest).min(oldest);
    stats.newest = stats.newest.max(newest);
    Ok(())
}

/// The SQL condition of a query, and its parameters. The first parameter is the agent's key.
fn condition(dialect: Dialect, agent: i64, query: &Query) -> (String, Vec<Value>) {
    // `+` excludes the indexes on `agent`, so that SQLite first reads the keys from the subqueries
    // below and then looks up these rows. Otherwise it may read all rows of the agent in the order
    // of the query. See "unary +" in https://www.sqlite.org/optoverview.html.
    let has_subquery = !query.tags.is_empty();
    let mut condition = if has_subquery { "+m.agent = ?1" } else { "m.agent = ?1" }.to_owned();
    let mut parameters = vec![Value::Integer(agent)];
    let mut and = |sql: &str, value: Value| {
        parameters.push(value);
        condition += &format!(" AND {}", sql.replace("??", &format!("?{}", parameters.len())));
    };
    if !query.ids.is_empty() {
        and(&is_in_texts(dialect, "m.id", "??"), json(&query.ids));
    }
    if !query.archived {
        and("m.archived = ??", Value::Integer(0));
    }
    if let Some(kind) = query.kind {
        and("m.type = ??", Value::Integer(kind as i64));
    }
    if let Some(importance) = query.importance {
        and("m.importance = ??", Value::Integer(importance as i64));
    }
    if let Some(category) = &query.category {
        and("m.category = ??", text(category));
    }
    for tag in &query.tags {
        let sql = "m.key IN (SELECT memory FROM memory_tags WHERE agent = ?1 AND tag = ??)";
        and(sql, text(tag));
    }
    for term in &query.terms {
        and(&has_term("??"), text(term));
    }
    (condition, parameters)
}

/// The SQL condition that a memory has the term in this parameter. `lower` is enough for an ASCII
/// content. Any other content is in the column `folded`.
fn has_term(parameter: &str) -> String {
    format!(
        "(instr(m.folded, {parameter}) > 0 OR (instr(lower(m.content), {parameter}) > 0 \
         AND octet_length(m.content) = length(m.content)))"
    )
}

fn order(query: &Query) -> String {
    let column = match query.sort {
        Sort::CreatedAt => "created_at",
        Sort::UpdatedAt => "updated_at",
        Sort::AccessedAt => "accessed_at",
        Sort::Importance => "importance",
        Sort::AccessCount => "access_count",
    };
    let direction = if query.descending { "DESC" } else { "ASC" };
    format!("m.{column} {direction}, m.created_at DESC, m.id")
}
