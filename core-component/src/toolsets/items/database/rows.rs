//! Items as entries of a search.

use super::reader::{IS_LIVE, Reader};
use super::sql::{integer, milliseconds};
use crate::index::{Facts, RowIndex, Written};
use crate::rows::{self, Sum, Table, add_rows};
use crate::source::{Collector, Entry};
use crate::storage::database::Value;
use crate::toolsets::items::error::Error;
use crate::toolsets::items::item::Item;
use crate::toolsets::items::namespace::Below;

/// The number of items that one query reads.
const PAGE: usize = 100;

/// The maximum number of stamps that one query reads.
const STAMPS: u32 = 50_000;

/// The items below a namespace, as a table for the search.
pub(in crate::toolsets::items) struct Rows<'a> {
    pub reader: &'a Reader<'a>,
    pub below: &'a Below,
    /// If set, the search reads the items below this namespace before the others.
    pub first: Option<&'a Below>,
    /// Converts an item to an entry of the search.
    pub entry: &'a dyn Fn(&Item) -> Entry,
}

impl Rows<'_> {
    /// Adds these items to the entries of the owner that `collector` began last. Returns how many
    /// items were skipped because the budget was used up.
    pub fn add_to(
        &self,
        index: &mut RowIndex<'_>,
        collector: &mut Collector<'_>,
    ) -> Result<u64, Error> {
        add_rows(self, index, collector)
    }
}

impl Table for Rows<'_> {
    type Error = Error;

    const NUMBER: u8 = 0;

    const STANDS_ALONE: bool = true;

    fn sum(&self, last: i64) -> Result<Option<Sum>, Error> {
        let mut parameters = vec![milliseconds(self.reader.now), Value::Integer(last)];
        let below = self.below.condition(&mut parameters);
        let sql = format!(
            "SELECT count(*), coalesce(sum(stamp), 0) FROM items \
             WHERE {IS_LIVE} AND id <= ?2 AND {below}"
        );
        let rows = self.reader.rows(&sql, parameters, 1)?;
        let Some(row) = rows.first() else { return Ok(Some(Sum { rows: 0, stamps: Some(0) })) };
        Ok(Some(Sum { rows: integer(&row[0])?.unsigned_abs(), stamps: Some(integer(&row[1])?) }))
    }

    fn stamps(&self, mut after: i64) -> Result<Vec<(i64, i64)>, Error> {
        let mut stamps = Vec::new();
        loop {
            let mut parameters = vec![milliseconds(self.reader.now), Value::Integer(after)];
            let below = self.below.condition(&mut parameters);
            let sql = format!(
                "SELECT id, stamp FROM items WHERE {IS_LIVE} AND id > ?2 AND {below} \
                 ORDER BY id LIMIT {STAMPS}"
            );
            let rows = self.reader.rows(&sql, parameters, STAMPS)?;
            for row in &rows {
                after = integer(&row[0])?;
                stamps.push((after, integer(&row[1])?));
            }
            if rows.len() < STAMPS as usize {
                return Ok(stamps);
            }
        }
    }

    fn newest_first(&self, mut ids: Vec<i64>) -> Vec<i64> {
        ids.reverse();
        if let Some(first) = self.first.filter(|_| ids.len() > PAGE) {
            // Ignores an error: only the order of reading would differ.
            let first = self.reader.ids(first).unwrap_or_default();
            ids.sort_by_key(|id| first.binary_search(id).is_err());
        }
        ids
    }

    fn each(&self, ids: &[i64], read: &mut dyn FnMut(i64, rows::Row) -> bool) -> Result<(), Error> {
        for ids in ids.chunks(PAGE) {
            for item in self.reader.with_ids(self.below, ids)? {
                let row = row(&item, self.entry);
                if !read(item.id, row) {
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}

fn row(item: &Item, entry: &dyn Fn(&Item) -> Entry) -> rows::Row {
    let facts = Facts {
        written: Some(Written::At(item.created_at)),
        updated_at: Some(item.updated_at).filter(|updated_at| *updated_at > item.created_at),
        ..Facts::default()
    };
    rows::Row { entry: entry(item), facts, stamp: item.stamp, version: item.stamp }
}
