//! Ranked search: the index counts the stems and finds the candidates.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::row::{COLUMNS, Row};
use super::search::NOTHING;
use super::sql::{
    flag, integer, into_optional_text, into_text, query_one, statement, text, unexpected,
};
use super::vectors::{Similarities, similarities};
use super::vocabulary::json;
use crate::ranking::{Counts, MAX_MATCHES, Match, REACH, choose};
use crate::records::candidates::{Candidates, Near, counts, work};
use crate::records::error::Error;
use crate::source::Request;
use crate::storage::database::{Transaction, Value};
use crate::time::Timestamp;

/// The number of rows that are read at once, and their most bytes, unless one alone has more.
const PAGE: usize = 100;
const PAGE_BYTES: i64 = 4 << 20;

/// If a term has more memories, SQLite reads the memories from the newest on. Otherwise it looks up
/// each memory of the term.
const FEW: u64 = 4 * MAX_MATCHES as u64;

/// The candidates of a search among an agent's memories.
pub(super) fn candidates(
    view: &dyn Transaction,
    agent: i64,
    request: &Request,
) -> Result<Candidates, Error> {
    let sql = "SELECT count(*) FROM memories WHERE agent = ?1";
    let memories = number(view, sql, [Value::Integer(agent)])?;
    // Some of the work has to be left for the matches.
    let share = request.work.share();
    request.work.begin(share, 2);
    let (pending, unread) = pending(view, agent, request)?;
    request.work.begin(share, 1);
    let search = Search { view, agent, request, pending };
    let terms = request.query.terms();
    let with_words = terms.iter().map(|stems| search.words_of(stems));
    let with_words = with_words.collect::<Result<Vec<String>, Error>>()?;
    let with_term = with_words.iter().enumerate().map(|(term, words)| {
        let sql = "SELECT count(*) FROM memories_words WHERE memories_words MATCH ?1";
        Ok(number(view, sql, [text(words)])? + search.pending_with(term).count() as u64)
    });
    let with_term = with_term.collect::<Result<Vec<u64>, Error>>()?;
    let matches = choose(&with_term, MAX_MATCHES, |term| {
        search.newest(term, &with_words[term], with_term[term])
    })?;
    let similarities = similarities(view, agent, request)?;
    let (near, skipped) = search.near(&matches, &similarities)?;
    let Similarities { wants_vector, warning: not_compared, .. } = similarities;
    Ok(Candidates { memories, with_term, near, unread, skipped, wants_vector, not_compared })
}

fn number(
    view: &dyn Transaction,
    sql: &str,
    parameters: impl Into<Vec<Value>>,
) -> Result<u64, Error> {
    let row = query_one(view, statement(sql, parameters))?;
    Ok(row.map_or(Ok(0), |row| integer(&row[0]))? as u64)
}

/// The pending memories of an agent that a search reads, newest first: at most so many, and at most
/// so many bytes.
const MAX_PENDING: u32 = 5_000;
const MAX_PENDING_BYTES: i64 = 2 << 20;

/// The keys of an agent's pending memories, with their counts, and the number of those that were too
/// many to read. The newest are read first.
fn pending(
    view: &dyn Transaction,
    agent: i64,
    request: &Request,
) -> Result<(Vec<(i64, Counts)>, u64), Error> {
    let from =
        "FROM unindexed AS u CROSS JOIN memories AS m ON m.key = u.memory WHERE m.agent = ?1";
    let sql = format!("SELECT u.memory, m.bytes {from} ORDER BY u.memory DESC LIMIT ?2");
    let parameters = [agent, MAX_PENDING.into()].map(Value::Integer);
    let newest = view.query(&statement(&sql, parameters), MAX_PENDING)?.rows;
    let is_cut = newest.len() == MAX_PENDING as usize;
    let (mut keys, mut room, found) = (Vec::new(), MAX_PENDING_BYTES, newest.len());
    for row in newest {
        let bytes = integer(&row[1])?;
        if bytes <= room {
            room -= bytes;
            keys.push(integer(&row[0])?);
        }
    }
    let all = match is_cut {
        true => number(view, &format!("SELECT count(*) {from}"), [Value::Integer(agent)])?,
        false => found as u64,
    };
    let mut pending = Vec::with_capacity(keys.len());
    each_row(view, &keys, |Row { key, memory, .. }| {
        let fits = request.work.take(work(&memory));
        if fits {
            pending.push((key, counts(&request.query, &memory)));
        }
        fits
    })?;
    let unread = all - pending.len() as u64;
    Ok((pending, unread))
}

/// Reads memories by their keys, which descend, as long as `read` wants more.
fn each_row(
    view: &dyn Transaction,
    keys: &[i64],
    mut read: impl FnMut(Row) -> bool,
) -> Result<(), Error> {
    let sql = format!(
        "SELECT {COLUMNS} FROM memories AS m \
         WHERE m.key IN (SELECT value FROM json_each(?1)) ORDER BY m.key DESC"
    );
    for keys in pages(view, keys)? {
        for row in view.query(&statement(&sql, [json(&keys)]), PAGE as u32)?.rows {
            if !read(Row::read(row)?) {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// Keys of memories, divided into those that are read at once.
fn pages<'a>(view: &dyn Transaction, mut keys: &'a [i64]) -> Result<Vec<&'a [i64]>, Error> {
    let sql = "SELECT key, bytes + coalesce(octet_length(original), 0) FROM memories \
               WHERE key IN (SELECT value FROM json_each(?1))";
    let rows = view.query(&statement(sql, [json(&keys)]), keys.len() as u32)?.rows;
    let size = |row: &Vec<Value>| Ok((integer(&row[0])?, integer(&row[1])?));
    let sizes = rows.iter().map(size).collect::<Result<BTreeMap<i64, i64>, Error>>()?;
    let mut pages = Vec::new();
    while !keys.is_empty() {
        let mut room = PAGE_BYTES;
        let fits = keys.iter().take(PAGE).take_while(|key| {
            room -= sizes.get(key).copied().unwrap_or_default();
            room >= 0
        });
        let (page, rest) = keys.split_at(fits.count().max(1));
        pages.push(page);
        keys = rest;
    }
    Ok(pages)
}

struct Search<'a> {
    view: &'a dyn Transaction,
    agent: i64,
    request: &'a Request,
    pending: Vec<(i64, Counts)>,
}

impl Search<'_> {
    /// The FTS5 query for memories with any word of some stems.
    fn words_of(&self, stems: &[String]) -> Result<String, Error> {
        let sql = "SELECT group_concat(key, ' OR ') FROM words \
                   WHERE agent = ?1 AND stem IN (SELECT value FROM json_each(?2))";
        let row = query_one(self.view, statement(sql, [Value::Integer(self.agent), json(&stems)]))?;
        let words = row.and_then(|mut row| row.pop()).map_or(Ok(None), into_optional_text)?;
        Ok(words.unwrap_or_else(|| NOTHING.to_owned()))
    }

    /// The keys of the pending memories with a term.
    fn pending_with(&self, term: usize) -> impl Iterator<Item = i64> {
        self.pending.iter().filter(move |(_, counts)| counts.has(term)).map(|(key, _)| *key)
    }

    /// The newest memories with a term that can be hits, as [`choose`] asks for them.
    ///
    /// `+` excludes an index, see "unary +" in <https://www.sqlite.org/optoverview.html>.
    fn newest(&self, term: usize, words: &str, number: u64) -> Result<Vec<i64>, Error> {
        let (table, agent, key) = match number > FEW {
            true => ("memories AS m INDEXED BY memories_by_created_at", "m.agent", "+m.key"),
            false => ("memories AS m", "+m.agent", "m.key"),
        };
        let sql = format!(
            "SELECT m.key FROM {table} WHERE {agent} = ?1 AND {key} IN \
             (SELECT rowid FROM memories_words WHERE memories_words MATCH ?2 \
             UNION ALL SELECT value FROM json_each(?3)) \
             AND m.archived <= ?4 AND m.created_at BETWEEN ?5 AND ?6 \
             ORDER BY m.created_at DESC, m.id LIMIT ?7"
        );
        let moment = |bound: Option<Timestamp>, none| bound.map_or(none, |at| at.milliseconds());
        let parameters = [
            Value::Integer(self.agent),
            text(words),
            json(&self.pending_with(term).collect::<Vec<_>>()),
            flag(self.request.include_archived),
            Value::Integer(moment(self.request.from, i64::MIN)),
            Value::Integer(moment(self.request.to, i64::MAX)),
            Value::Integer(MAX_MATCHES as i64),
        ];
        let rows = self.view.query(&statement(&sql, parameters), MAX_MATCHES as u32)?.rows;
        rows.iter().map(|row| integer(&row[0])).collect()
    }

    /// The matches by words and by vectors with the memories around them, and the number of those that
    /// were not read. The newest are read first.
    fn near(
        &self,
        matches: &BTreeSet<i64>,
        similarities: &Similarities,
    ) -> Result<(Vec<Near>, u64), Error> {
        let all: BTreeSet<i64> = matches.union(&similarities.nearest).copied().collect();
        if all.is_empty() {
            return Ok((Vec::new(), 0));
        }
        let (keys, first_of_runs) = self.keys_around(&all)?;
        let mut newest = keys.clone();
        newest.sort_unstable_by_key(|key| Reverse(*key));
        let mut read = BTreeMap::new();
        each_row(self.view, &newest, |Row { key, memory, .. }| {
            let fits = self.request.work.take(work(&memory));
            if fits {
                let counts = counts(&self.request.query, &memory);
                read.insert(key, (memory, counts));
            }
            fits
        })?;
        let skipped = (keys.len() - read.len()) as u64;
        let (mut near, mut follows_skipped) = (Vec::with_capacity(read.len()), false);
        for key in keys {
            let Some((memory, counts)) = read.remove(&key) else {
                follows_skipped = true;
                continue;
            };
            let follows_skipped = std::mem::take(&mut follows_skipped);
            let begins_run = follows_skipped || first_of_runs.contains(&key);
            let matches = match matches.contains(&key) {
                true => Match::Words,
                false if similarities.nearest.contains(&key) => Match::Vector,
                false => Match::None,
            };
            let similarity = similarities.of.get(&key).copied();
            near.push(Near { memory, counts, matches, similarity, begins_run });
        }
        Ok((near, skipped))
    }

    /// The keys of the matches and of those around them, by type and then ascending, and the first
    /// key of each run.
    ///
    /// A neighbour of a match is a candidate, too. So one more is read on each side than is around a
    /// match.
    fn keys_around(&self, matches: &BTreeSet<i64>) -> Result<(Vec<i64>, BTreeSet<i64>), Error> {
        let around = |comparison: &str, order: &str| {
            format!(
                "(SELECT json_group_array(key) FROM (SELECT n.key FROM memories AS n \
                 INDEXED BY memories_in_order WHERE n.agent = ?1 AND n.type = m.type \
                 AND n.key {comparison} m.key ORDER BY n.key {order} LIMIT ?3))"
            )
        };
        let sql = format!(
            "SELECT m.type, m.key, {}, {} FROM memories AS m \
             WHERE m.key IN (SELECT value FROM json_each(?2)) ORDER BY m.type, m.key",
            around("<", "DESC"),
            around(">", "ASC"),
        );
        let reach = Value::Integer(REACH as i64 + 1);
        let parameters = [Value::Integer(self.agent), json(matches), reach];
        let rows = self.view.query(&statement(&sql, parameters), matches.len() as u32)?.rows;
        let (mut keys, mut first_of_runs) = (Vec::new(), BTreeSet::new());
        let mut last = None;
        for row in rows {
            let [kind, key, before, after] =
                row.try_into().map_err(|_| unexpected("four columns", &Value::Null))?;
            let kind = integer(&kind)?;
            let mut around = listed(before)?;
            around.reverse();
            around.push(integer(&key)?);
            around.extend(listed(after)?);
            let is_read = |key: i64| last.is_some_and(|last| (kind, key) <= last);
            match around.first() {
                Some(first) if !is_read(*first) => drop(first_of_runs.insert(*first)),
                _ => (),
            }
            keys.extend(around.iter().copied().filter(|key| !is_read(*key)));
            last = around.last().map(|key| (kind, *key));
        }
        Ok((keys, first_of_runs))
    }
}

/// A list of keys.
fn listed(value: Value) -> Result<Vec<i64>, Error> {
    let text = into_text(value)?;
    serde_json::from_str(&text).map_err(|_| unexpected("a JSON array", &Value::Text(text)))
}
