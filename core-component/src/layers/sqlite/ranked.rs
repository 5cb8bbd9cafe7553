//! Ranked search in a layer: the index counts the stems and finds the newest matches. Rows that wait
//! for the index are read, and so are all where there are few. Both ways give the same, unless
//! another program changed rows behind the index.

use std::collections::BTreeSet;

use super::indexing::Layer;
use super::reader::Reader;
use super::search::{Ids, Query, Searched, dates_of};
use super::sql::{integer, into_text, moment, text};
use crate::layers::error::Error;
use crate::layers::memory::{Compost, Episode};
use crate::ranking::{Counts, MAX_MATCHES, REACH, choose, cost};
use crate::source::Request;
use crate::storage::database::Value;
use crate::words::stem_query;
use crate::work::OF_ENTRY;

/// The number of rows that are read at once.
const PAGE: u32 = 1_000;

/// The rows of a layer for a ranked search.
pub(in crate::layers) struct Candidates<T> {
    /// The number of the agent's rows.
    pub rows: u64,
    /// The number of its rows with each term of the query.
    pub with_term: Vec<u64>,
    /// The matches and the rows around them, by id.
    pub near: Vec<Near<T>>,
    /// How many rows were not looked at, because the work of the search was used up.
    pub skipped: u64,
}

/// A match, or a row around one.
pub(in crate::layers) struct Near<T> {
    pub row: T,
    pub counts: Counts,
    pub is_match: bool,
    /// Whether the row before it is not the agent's row before it.
    pub begins_run: bool,
}

/// A row with a term of the query that was read.
struct Waiting {
    id: i64,
    counts: Counts,
    can_be_hit: bool,
}

impl Reader<'_> {
    /// The episodes that a ranked search looks at.
    pub fn ranked_episodes(&self, request: &Request) -> Result<Candidates<Episode>, Error> {
        self.ranked(request, self.indexed.unwrap_or_default().episodes)
    }

    /// The summaries in the compost that a ranked search looks at.
    pub fn ranked_compost(&self, request: &Request) -> Result<Candidates<Compost>, Error> {
        self.ranked(request, self.indexed.unwrap_or_default().compost)
    }

    /// `indexed` is the last row of the agent that is.
    fn ranked<T: Searched>(&self, request: &Request, indexed: i64) -> Result<Candidates<T>, Error> {
        let layer = T::LAYER;
        let indexed = self.has_many(layer, indexed)?.then_some(indexed);
        let sql = format!("SELECT count(*) FROM {} WHERE agent_id = ?1", layer.table);
        let rows = self.number(layer, &sql, [text(self.agent)])?;
        // Some of the work has to be left for the matches.
        let share = request.work.share();
        request.work.begin(share, 2);
        let (waiting, skipped) = self.waiting::<T>(request, indexed)?;
        request.work.begin(share, 1);
        let search = Search { reader: self, layer, request, indexed, waiting };
        let terms = 0..request.query.terms().len();
        let with_term = terms.map(|term| Ok(search.number_with(term)?.min(rows)));
        let with_term = with_term.collect::<Result<Vec<u64>, Error>>()?;
        let dates = Query { words: None, from: request.from, to: request.to, limit: 0 };
        let (near, more) = match self.ids_between_dates(layer, &dates)? {
            Some(ids) => {
                let newest = |term| search.newest(term, &dates, ids);
                search.near(&choose(&with_term, MAX_MATCHES, newest)?)?
            }
            None => (Vec::new(), 0),
        };
        Ok(Candidates { rows, with_term, near, skipped: skipped + more })
    }

    fn number(
        &self,
        layer: &Layer,
        sql: &str,
        parameters: impl Into<Vec<Value>>,
    ) -> Result<u64, Error> {
        let rows = self.rows(layer.table, sql, parameters, 1)?;
        Ok(rows.first().map_or(Ok(0), |row| integer(&row[0]))? as u64)
    }

    /// The rows with a term of the query that the index does not have, the oldest first, and the
    /// number of those that were not read. The newest are read first.
    fn waiting<T: Searched>(
        &self,
        request: &Request,
        indexed: Option<i64>,
    ) -> Result<(Vec<Waiting>, u64), Error> {
        let Layer { table, columns, .. } = T::LAYER;
        let of_agent = format!("FROM {table} AS m WHERE m.agent_id = ?1 AND m.id > ?2");
        let sql = format!("SELECT {columns} {of_agent} AND m.id < ?3 ORDER BY m.id DESC LIMIT ?4");
        let after = indexed.unwrap_or(i64::MIN);
        let mut before = i64::MAX;
        let (mut waiting, mut skipped, mut is_last) = (Vec::new(), 0, false);
        while !is_last && skipped == 0 {
            let bounds = [after, before, PAGE.into()].map(Value::Integer);
            let of_page: Vec<Value> = [text(self.agent)].into_iter().chain(bounds).collect();
            let rows = self.rows(table, &sql, of_page, PAGE)?;
            is_last = rows.len() < PAGE as usize;
            for row in rows {
                let id = integer(&row[0])?;
                let Some(row) = self.entry(table, row, T::of)? else {
                    before = id;
                    continue;
                };
                let row_text = row.text();
                if !request.work.take(OF_ENTRY + cost(&row_text)) {
                    let sql = format!("SELECT count(*) {of_agent} AND m.id <= ?3");
                    let bounds = [after, id].map(Value::Integer);
                    let parameters: Vec<Value> =
                        [text(self.agent)].into_iter().chain(bounds).collect();
                    skipped = self.number(T::LAYER, &sql, parameters)?;
                    break;
                }
                before = id;
                let counts = request.query.count([&*row_text]);
                if counts.any() {
                    let can_be_hit = request.admits(row.moment(), false);
                    waiting.push(Waiting { id: before, counts, can_be_hit });
                }
            }
        }
        waiting.reverse();
        Ok((waiting, skipped))
    }
}

struct Search<'a> {
    reader: &'a Reader<'a>,
    layer: &'static Layer,
    request: &'a Request,
    /// The last row that the index has. `None` if no row is looked up there.
    indexed: Option<i64>,
    waiting: Vec<Waiting>,
}

impl Search<'_> {
    /// The query for rows with a term.
    fn rows_with(&self, term: usize) -> Value {
        Value::Text(stem_query(self.reader.agent, &self.request.query.terms()[term]))
    }

    /// The number of the agent's rows with a term.
    fn number_with(&self, term: usize) -> Result<u64, Error> {
        let waiting = self.waiting.iter().filter(|row| row.counts.has(term)).count() as u64;
        if self.indexed.is_none() {
            return Ok(waiting);
        }
        let index = self.layer.index;
        let sql = format!("SELECT count(*) FROM {index} WHERE {index} MATCH ?1");
        Ok(waiting + self.reader.number(self.layer, &sql, [self.rows_with(term)])?)
    }

    /// The newest rows with a term that can be hits, as [`choose`] asks for them.
    fn newest(&self, term: usize, dates: &Query, ids: Ids) -> Result<Vec<i64>, Error> {
        let waiting = self.waiting.iter().rev();
        let waiting = waiting.filter(|row| row.can_be_hit && row.counts.has(term));
        let mut newest: Vec<i64> = waiting.map(|row| row.id).take(MAX_MATCHES).collect();
        let Some(indexed) = self.indexed else { return Ok(newest) };
        let Layer { table, index, moment: moment_column, .. } = self.layer;
        let mut before = ids.before.min(indexed.saturating_add(1));
        while newest.len() < MAX_MATCHES {
            let bounds = [ids.first, before, MAX_MATCHES as i64].map(Value::Integer);
            let mut parameters = vec![text(self.reader.agent), self.rows_with(term)];
            parameters.extend(bounds);
            let mut conditions = dates_of(self.layer, dates, &mut parameters);
            conditions.push(format!(
                "{index} MATCH ?2 AND m.agent_id = ?1 AND {index}.rowid >= ?3 \
                 AND {index}.rowid < ?4"
            ));
            let sql = format!(
                "SELECT m.id, {moment_column} FROM {index} CROSS JOIN {table} AS m \
                 ON m.id = {index}.rowid WHERE {} ORDER BY {index}.rowid DESC LIMIT ?5",
                conditions.join(" AND ")
            );
            let rows = self.reader.rows(table, &sql, parameters, MAX_MATCHES as u32)?;
            let is_last = rows.len() < MAX_MATCHES;
            for mut row in rows {
                before = integer(&row[0])?;
                if self.request.admits(moment(row.swap_remove(1)), false) {
                    newest.push(before);
                }
            }
            if is_last {
                break;
            }
        }
        newest.truncate(MAX_MATCHES);
        Ok(newest)
    }

    /// The matches with the rows around them, and the number of those that were not read. The newest
    /// are read first.
    fn near<T: Searched>(&self, matches: &BTreeSet<i64>) -> Result<(Vec<Near<T>>, u64), Error> {
        if matches.is_empty() {
            return Ok((Vec::new(), 0));
        }
        let (ids, first_of_runs) = self.ids_around(matches)?;
        let Layer { table, columns, .. } = T::LAYER;
        let sql = format!(
            "SELECT {columns} FROM {table} AS m WHERE m.agent_id = ?1 \
             AND m.id IN (SELECT value FROM json_each(?2)) ORDER BY m.id DESC"
        );
        let mut near: Vec<Near<T>> = Vec::with_capacity(ids.len());
        let mut unreadable = 0;
        'pages: for page in ids.rchunks(PAGE as usize) {
            let parameters = [text(self.reader.agent), listed(page)];
            for row in self.reader.rows(table, &sql, parameters, PAGE)? {
                let id = integer(&row[0])?;
                let Some(row) = self.reader.entry(table, row, T::of)? else {
                    unreadable += 1;
                    continue;
                };
                let counts = {
                    let row_text = row.text();
                    if !self.request.work.take(OF_ENTRY + cost(&row_text)) {
                        break 'pages;
                    }
                    self.request.query.count([&*row_text])
                };
                let begins_run = first_of_runs.contains(&id);
                near.push(Near { row, counts, is_match: matches.contains(&id), begins_run });
            }
        }
        near.reverse();
        // The row before the first one was perhaps not read.
        near.first_mut().into_iter().for_each(|first| first.begins_run = true);
        let skipped = (ids.len() - near.len() - unreadable) as u64;
        Ok((near, skipped))
    }

    /// The ids of the matches and of the rows around them, ascending, and the first id of each run.
    ///
    /// A neighbour of a match is a candidate, too. So one more is read on each side than is around a
    /// match.
    fn ids_around(&self, matches: &BTreeSet<i64>) -> Result<(Vec<i64>, BTreeSet<i64>), Error> {
        let table = self.layer.table;
        let around = |comparison: &str, order: &str| {
            format!(
                "(SELECT json_group_array(id) FROM (SELECT n.id FROM {table} AS n \
                 WHERE n.agent_id = ?1 AND n.id {comparison} m.value ORDER BY n.id {order} \
                 LIMIT ?3))"
            )
        };
        let sql = format!(
            "SELECT m.value, {}, {} FROM json_each(?2) AS m ORDER BY m.value",
            around("<", "DESC"),
            around(">", "ASC"),
        );
        let ids: Vec<i64> = matches.iter().copied().collect();
        let parameters = [text(self.reader.agent), listed(&ids), Value::Integer(REACH as i64 + 1)];
        let (mut ids, mut first_of_runs) = (Vec::new(), BTreeSet::new());
        for row in self.reader.rows(table, &sql, parameters, matches.len() as u32)? {
            let mut around = unlisted(&row[1])?;
            around.reverse();
            around.push(integer(&row[0])?);
            around.extend(unlisted(&row[2])?);
            let last = ids.last().copied().unwrap_or(i64::MIN);
            if around[0] > last {
                first_of_runs.insert(around[0]);
            }
            ids.extend(around.into_iter().filter(|id| *id > last));
        }
        Ok((ids, first_of_runs))
    }
}

/// Ids as a JSON array.
fn listed(ids: &[i64]) -> Value {
    Value::Text(serde_json::to_string(ids).expect("ids are JSON"))
}

fn unlisted(ids: &Value) -> Result<Vec<i64>, Error> {
    let ids = into_text(ids.clone())?;
    Ok(serde_json::from_str(&ids).expect("SQLite writes JSON"))
}
