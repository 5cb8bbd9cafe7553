//! The rows of a layer, as entries of a search.
//!
//! Other programs write to the tables of spec 002, too. In a layer of few rows, a search notices
//! most changed rows by the lengths of their columns. In a layer of many rows, a search notices a
//! changed row only if the number of rows changes, or if the row is a hit by its old text.

use super::reader::Reader;
use super::search::{LOOKED_AT, Layer, Searched};
use super::sql::{integer, is_in_integers, json, text};
use crate::index::{Facts, RowIndex, Written, number_of};
use crate::rows::{self, Sum, Table, add_rows};
use crate::source::{Collector, Entry, Request};
use crate::storage::Place;
use crate::storage::database::Value;
use crate::tool::Call;
use crate::toolsets::layers::error::Error;
use crate::toolsets::layers::place::LABEL;

/// The most rows that one query reads.
const PAGE: usize = 100;

/// The most stamps that one query reads. A stamp is a number that most changes of a row change.
const STAMPS: u32 = 50_000;

/// An agent's rows of a layer.
pub(in crate::toolsets::layers) struct LayerRows<'a, T> {
    pub reader: &'a Reader<'a>,
    /// Makes an entry of a search from a row.
    pub entry: &'a dyn Fn(T) -> Entry,
}

/// The name of the collection in the index that has an agent's rows of a table.
pub(in crate::toolsets::layers) fn collection_of(agent: &str, table: &str) -> String {
    format!("{agent} {table}")
}

impl<T: Searched> LayerRows<'_, T> {
    /// Opens the index of an agent's rows.
    pub fn index<'r>(call: &Call<'r>, agent: &str, request: &'r Request) -> RowIndex<'r> {
        let collection = collection_of(agent, T::LAYER.table);
        let place = Place::named(LABEL);
        RowIndex::open(call.storage, place, &collection, request.for_index())
    }

    /// Adds these rows as entries of the owner that was last passed to `collector.begin`. Returns
    /// how many rows were skipped because the budget of the search was used up.
    pub fn add_to(
        &self,
        index: &mut RowIndex<'_>,
        collector: &mut Collector<'_>,
    ) -> Result<u64, Error> {
        add_rows(self, index, collector)
    }

    /// Whether the layer has more than [`LOOKED_AT`] rows.
    fn has_many(&self) -> Result<bool, Error> {
        let table = T::LAYER.table;
        let sql = format!("SELECT 1 FROM {table} WHERE agent_id = ?1 LIMIT 1 OFFSET ?2");
        let parameters = [text(self.reader.agent), Value::Integer(LOOKED_AT)];
        Ok(!self.reader.rows(table, &sql, parameters, 1)?.is_empty())
    }
}

impl<T: Searched> Table for LayerRows<'_, T> {
    type Error = Error;

    const NUMBER: u8 = T::LAYER.number;

    const TELLS_ARCHIVED: bool = T::LAYER.is_archived;

    fn sum(&self, last: i64) -> Result<Option<Sum>, Error> {
        let table = T::LAYER.table;
        if !self.has_many()? {
            // Another program may have changed a row but not the number of rows. In a small layer,
            // the search compares each stamp.
            return Ok(None);
        }
        let sql = format!("SELECT count(*) FROM {table} WHERE agent_id = ?1 AND id <= ?2");
        let parameters = [text(self.reader.agent), Value::Integer(last)];
        let rows = self.reader.rows(table, &sql, parameters, 1)?;
        let rows = rows.first().map_or(Ok(0), |row| integer(&row[0]))? as u64;
        Ok(Some(Sum { rows, stamps: None }))
    }

    fn stamps(&self, mut after: i64) -> Result<Vec<(i64, i64)>, Error> {
        let Layer { table, stamp, .. } = T::LAYER;
        let sql = format!(
            "SELECT m.id, {stamp} FROM {table} AS m WHERE m.agent_id = ?1 AND m.id > ?2 \
             ORDER BY m.id LIMIT ?3"
        );
        let mut stamps = Vec::new();
        loop {
            let [from, most] = [after, STAMPS.into()].map(Value::Integer);
            let parameters = [text(self.reader.agent), from, most];
            let rows = self.reader.rows(table, &sql, parameters, STAMPS)?;
            for row in &rows {
                after = integer(&row[0])?;
                stamps.push((after, integer(&row[1])?));
            }
            if rows.len() < STAMPS as usize {
                return Ok(stamps);
            }
        }
    }

    fn each(&self, ids: &[i64], read: &mut dyn FnMut(i64, rows::Row) -> bool) -> Result<(), Error> {
        let Layer { table, columns, stamp, .. } = T::LAYER;
        let is_one = is_in_integers(self.reader.dialect(), "m.id", "?2");
        let sql = format!(
            "SELECT {columns}, {stamp} FROM {table} AS m WHERE m.agent_id = ?1 \
             AND {is_one} ORDER BY m.id DESC"
        );
        for ids in ids.chunks(PAGE) {
            let parameters = [text(self.reader.agent), json(ids)];
            for mut row in self.reader.rows(table, &sql, parameters, PAGE as u32)? {
                let stamp = row.pop().map_or(Ok(0), |stamp| integer(&stamp))?;
                let id = integer(&row[0])?;
                let Some(row) = self.reader.entry(table, row, T::from_row)? else { continue };
                let moment = row.moment();
                let facts = Facts {
                    written: moment.map(Written::At),
                    is_archived: T::LAYER.is_archived,
                    ..Facts::default()
                };
                let moment = moment.map(|moment| moment.to_string()).unwrap_or_default();
                let version = number_of(&format!("{moment} {}", row.text()));
                let entry = (self.entry)(row);
                if !read(id, rows::Row { entry, facts, stamp, version }) {
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}
