//! An agent's rows, as entries of a search.

use std::collections::BTreeMap;

use super::row::COLUMNS;
use super::sql::{integer, is_in_integers, json, query_one, statement};
use super::unreadable::UnreadableRows;
use crate::index::RowIndex;
use crate::rows::{self, Sum, Table, add_rows};
use crate::source::Collector;
use crate::storage::database::{Transaction, Value};
use crate::toolsets::records::entries::{Search, facts};
use crate::toolsets::records::error::Error;

/// The most rows that one query reads, and the most bytes of these rows. A row that has more bytes
/// is read alone.
const PAGE: usize = 100;
const PAGE_BYTES: i64 = 4 << 20;

/// The most stamps that one query reads. A stamp is a hash of the memory in a row.
const STAMPS: u32 = 50_000;

/// The rows of one agent.
pub(super) struct Rows<'a> {
    pub view: &'a dyn Transaction,
    pub agent: i64,
    pub search: &'a Search<'a>,
    pub unreadable: &'a UnreadableRows,
}

impl Rows<'_> {
    /// Adds these rows as entries of the owner that was last passed to `collector.begin`. Reports
    /// how many rows were skipped because the budget of the search was used up.
    pub fn add_to(
        &self,
        index: &mut RowIndex<'_>,
        collector: &mut Collector<'_>,
    ) -> Result<(), Error> {
        let skipped = add_rows(self, index, collector)?;
        collector.skip_some(self.search.owner(), skipped, "memory", "memories");
        Ok(())
    }

    /// Divides keys into pages, each for one query. A page of several rows has at most
    /// [`PAGE_BYTES`].
    fn pages<'k>(&self, mut keys: &'k [i64]) -> Result<Vec<&'k [i64]>, Error> {
        let is_one = is_in_integers(self.view.dialect(), "key", "?1");
        let sql = format!(
            "SELECT key, bytes + coalesce(octet_length(original), 0) FROM memories WHERE {is_one}"
        );
        let rows = self.view.query(&statement(&sql, [json(&keys)]), keys.len() as u32)?.rows;
        let size = |row: &Vec<Value>| Ok((integer(&row[0])?, integer(&row[1])?));
        let sizes = rows.iter().map(size).collect::<Result<BTreeMap<i64, i64>, Error>>()?;
        let mut pages = Vec::new();
        while !keys.is_empty() {
            let mut room = PAGE_BYTES;
            let fits = keys.iter().take_while(|key| {
                room -= sizes.get(key).copied().unwrap_or_default();
                room >= 0
            });
            let (page, rest) = keys.split_at(fits.count().max(1));
            pages.push(page);
            keys = rest;
        }
        Ok(pages)
    }
}

impl Table for Rows<'_> {
    type Error = Error;

    const NUMBER: u8 = 0;

    fn sum(&self, last: i64) -> Result<Option<Sum>, Error> {
        let sql = "SELECT count(*), coalesce(sum(stamp), 0) FROM memories \
                   WHERE agent = ?1 AND key <= ?2";
        let parameters = [self.agent, last].map(Value::Integer);
        let row = query_one(self.view, statement(sql, parameters))?;
        let row = row.unwrap_or_else(|| vec![Value::Integer(0), Value::Integer(0)]);
        Ok(Some(Sum { rows: integer(&row[0])? as u64, stamps: Some(integer(&row[1])?) }))
    }

    fn stamps(&self, mut after: i64) -> Result<Vec<(i64, i64)>, Error> {
        let sql = "SELECT key, stamp FROM memories WHERE agent = ?1 AND key > ?2 \
                   ORDER BY key LIMIT ?3";
        let mut stamps = Vec::new();
        loop {
            let parameters = [self.agent, after, STAMPS.into()].map(Value::Integer);
            let rows = self.view.query(&statement(sql, parameters), STAMPS)?.rows;
            for row in &rows {
                after = integer(&row[0])?;
                stamps.push((after, integer(&row[1])?));
            }
            if rows.len() < STAMPS as usize {
                return Ok(stamps);
            }
        }
    }

    fn each(
        &self,
        keys: &[i64],
        read: &mut dyn FnMut(i64, rows::Row) -> bool,
    ) -> Result<(), Error> {
        let is_one = is_in_integers(self.view.dialect(), "m.key", "?1");
        let sql = format!("SELECT {COLUMNS} FROM memories AS m WHERE {is_one} ORDER BY m.key DESC");
        for keys in keys.chunks(PAGE) {
            for keys in self.pages(keys)? {
                for row in self.view.query(&statement(&sql, [json(&keys)]), PAGE as u32)?.rows {
                    let key = integer(&row[0])?;
                    let Some(memory) = self.unreadable.memory(row)? else { continue };
                    let facts = facts(&memory);
                    let stamp = memory.stamp();
                    let entry = self.search.entry(memory);
                    if !read(key, rows::Row { entry, facts, stamp, version: stamp }) {
                        return Ok(());
                    }
                }
            }
        }
        Ok(())
    }
}
