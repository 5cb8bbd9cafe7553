//! Reads items from the database.

use super::sql::{
    damaged, integer, into_text, is_in_integers, json, milliseconds, moment, optional, statement,
    text,
};
use crate::forget::in_json;
use crate::storage::database::{Dialect, Transaction, Value};
use crate::time::Timestamp;
use crate::toolsets::items::error::Error;
use crate::toolsets::items::filter::Filter;
use crate::toolsets::items::item::{Item, fill_answer};
use crate::toolsets::items::namespace::{Below, labels, stored};

const COLUMNS: &str =
    "id, namespace, key, value, paths, created_at, updated_at, ttl_seconds, expires_at, stamp";

/// The SQL condition that a row has not expired. `?1` is the time of the call.
pub(super) const IS_LIVE: &str = "(expires_at IS NULL OR expires_at > ?1)";

/// The maximum numbers of rows and of bytes of values that one query reads. A row with more bytes
/// is read by its own query.
const PAGE: usize = 500;
const PAGE_BYTES: i64 = 4 << 20;

/// The maximum number of namespaces that one query reads.
const NAMESPACES: u32 = 10_000;

/// The maximum number of ids that one query reads.
const IDS: u32 = 50_000;

/// Reads the items that have not expired at the moment `now`.
pub(in crate::toolsets::items) struct Reader<'a> {
    /// The transaction to read in. `None` if the database is missing or empty: then no item is
    /// found.
    pub(super) view: Option<&'a dyn Transaction>,
    pub(super) now: Timestamp,
}

/// A row whose value has not been read yet.
struct Place {
    id: i64,
    updated_at: i64,
    bytes: i64,
}

impl<'a> Reader<'a> {
    pub fn new(view: Option<&'a dyn Transaction>, now: Timestamp) -> Self {
        Self { view, now }
    }

    pub(super) fn rows(
        &self,
        sql: &str,
        parameters: impl Into<Vec<Value>>,
        most: u32,
    ) -> Result<Vec<Vec<Value>>, Error> {
        match self.view {
            Some(view) => Ok(view.query(&statement(sql, parameters), most)?.rows),
            None => Ok(Vec::new()),
        }
    }

    /// Returns the item with a key. `None` if it is missing or has expired.
    pub fn get(&self, namespace: &[String], key: &str) -> Result<Option<Item>, Error> {
        let sql =
            format!("SELECT {COLUMNS} FROM items WHERE namespace = ?2 AND key = ?3 AND {IS_LIVE}");
        let parameters = [milliseconds(self.now), text(&stored(namespace)), text(key)];
        self.rows(&sql, parameters, 1)?.pop().map(item).transpose()
    }

    /// Returns a page of the items that the filter accepts, the last changed first. Returns fewer
    /// than `limit` if the items [fill an answer](fill_answer).
    pub fn newest(
        &self,
        below: &Below,
        filter: &Filter<'_>,
        offset: usize,
        limit: usize,
    ) -> Result<Vec<Item>, Error> {
        let mut found = Vec::new();
        let mut skipped = 0;
        let mut last = None;
        loop {
            let mut places = self.places(below, last)?;
            let Some(end) = places.last() else { return Ok(found) };
            last = Some((end.updated_at, end.id));
            let is_end = places.len() < PAGE;
            if filter.is_empty() {
                let skips = places.len().min(offset - skipped);
                skipped += skips;
                places.drain(..skips);
                places.truncate(limit - found.len());
            }
            for page in pages(&places) {
                let items = self.items(page)?.into_iter();
                for item in items.filter(|item| filter.accepts(&item.value)) {
                    if skipped < offset {
                        skipped += 1;
                    } else if found.len() < limit {
                        found.push(item);
                    }
                }
                if found.len() >= limit || fill_answer(found.iter()) {
                    return Ok(found);
                }
            }
            if is_end {
                return Ok(found);
            }
        }
    }

    /// Returns at most [`PAGE`] rows, the last changed first. `last` has the time of change and the
    /// id of the previous page's last row.
    fn places(&self, below: &Below, last: Option<(i64, i64)>) -> Result<Vec<Place>, Error> {
        let (updated_at, id) = last.unwrap_or((i64::MAX, i64::MAX));
        let mut parameters = vec![milliseconds(self.now)];
        parameters.extend([updated_at, id].map(Value::Integer));
        let below = below.condition(&mut parameters);
        let sql = format!(
            "SELECT id, updated_at, octet_length(value) FROM items WHERE {IS_LIVE} \
             AND (updated_at, id) < (?2, ?3) AND {below} \
             ORDER BY updated_at DESC, id DESC LIMIT {PAGE}"
        );
        let place = |row: Vec<Value>| {
            let [id, updated_at, bytes] = [integer(&row[0])?, integer(&row[1])?, integer(&row[2])?];
            Ok(Place { id, updated_at, bytes })
        };
        self.rows(&sql, parameters, PAGE as u32)?.into_iter().map(place).collect()
    }

    /// Reads the items of these rows, in the order of the rows.
    fn items(&self, places: &[Place]) -> Result<Vec<Item>, Error> {
        let mut items = Vec::new();
        for page in pages(places) {
            let ids: Vec<i64> = page.iter().map(|place| place.id).collect();
            items.extend(self.read(&ids)?);
        }
        Ok(items)
    }

    /// Returns the items with these ids that are below a namespace, in the order of the ids.
    pub fn with_ids(&self, below: &Below, ids: &[i64]) -> Result<Vec<Item>, Error> {
        let mut items = Vec::new();
        for ids in ids.chunks(PAGE) {
            let mut parameters = vec![milliseconds(self.now), json(ids)];
            let below = below.condition(&mut parameters);
            let is_one = self.is_in_ids();
            let sql = format!(
                "SELECT id, updated_at, octet_length(value) FROM items WHERE {IS_LIVE} \
                 AND {is_one} AND {below}"
            );
            let mut places = Vec::new();
            for row in self.rows(&sql, parameters, PAGE as u32)? {
                let [id, updated_at, bytes] =
                    [integer(&row[0])?, integer(&row[1])?, integer(&row[2])?];
                places.push(Place { id, updated_at, bytes });
            }
            places.sort_by_key(|place| ids.iter().position(|id| *id == place.id));
            items.extend(self.items(&places)?);
        }
        Ok(items)
    }

    /// Reads the items with these ids, at most [`PAGE`], in the order of the ids.
    fn read(&self, ids: &[i64]) -> Result<Vec<Item>, Error> {
        let is_one = self.is_in_ids();
        let sql = format!("SELECT {COLUMNS} FROM items WHERE {IS_LIVE} AND {is_one}");
        let rows = self.rows(&sql, [milliseconds(self.now), json(ids)], PAGE as u32)?;
        let mut items = rows.into_iter().map(item).collect::<Result<Vec<_>, _>>()?;
        items.sort_by_key(|item| ids.iter().position(|id| *id == item.id));
        Ok(items)
    }

    /// The SQL condition that `id` is in the JSON list of parameter 2.
    fn is_in_ids(&self) -> String {
        let dialect = self.view.map_or(Dialect::Sqlite, Transaction::dialect);
        is_in_integers(dialect, "id", "?2")
    }

    /// Returns the stored namespaces that have an item.
    pub fn namespaces(&self, below: &Below) -> Result<Vec<Vec<String>>, Error> {
        let mut found = Vec::new();
        let mut last = String::new();
        loop {
            let mut parameters = vec![milliseconds(self.now), Value::Text(last.clone())];
            let below = below.condition(&mut parameters);
            let sql = format!(
                "SELECT DISTINCT namespace FROM items WHERE {IS_LIVE} AND namespace > ?2 \
                 AND {below} ORDER BY namespace LIMIT {NAMESPACES}"
            );
            let rows = self.rows(&sql, parameters, NAMESPACES)?;
            let is_end = rows.len() < NAMESPACES as usize;
            for mut row in rows {
                last = into_text(row.swap_remove(0))?;
                found.push(labels(&last).ok_or_else(|| damaged("a namespace that is no list"))?);
            }
            if is_end {
                return Ok(found);
            }
        }
    }

    /// Returns the ids of the items below a namespace, in ascending order.
    pub fn ids(&self, below: &Below) -> Result<Vec<i64>, Error> {
        let mut ids = Vec::new();
        loop {
            let last = ids.last().copied().unwrap_or(i64::MIN);
            let mut parameters = vec![milliseconds(self.now), Value::Integer(last)];
            let below = below.condition(&mut parameters);
            let sql = format!(
                "SELECT id FROM items WHERE {IS_LIVE} AND id > ?2 AND {below} ORDER BY id \
                 LIMIT {IDS}"
            );
            let rows = self.rows(&sql, parameters, IDS)?;
            for row in &rows {
                ids.push(integer(&row[0])?);
            }
            if rows.len() < IDS as usize {
                return Ok(ids);
            }
        }
    }

    /// Returns the number of items below a namespace.
    pub fn count(&self, below: &Below) -> Result<u64, Error> {
        let mut parameters = vec![milliseconds(self.now)];
        let below = below.condition(&mut parameters);
        let sql = format!("SELECT count(*) FROM items WHERE {IS_LIVE} AND {below}");
        let rows = self.rows(&sql, parameters, 1)?;
        Ok(rows.first().map_or(Ok(0), |row| integer(&row[0]))?.unsigned_abs())
    }

    /// Returns the ids of at most `most` items that contain any of the texts, in ascending order.
    /// The ids are greater than `after`.
    pub fn with_texts(
        &self,
        below: &Below,
        texts: &[String],
        after: i64,
        most: u32,
    ) -> Result<Vec<i64>, Error> {
        let mut parameters = vec![milliseconds(self.now), Value::Integer(after)];
        let below = below.condition(&mut parameters);
        let mut conditions = Vec::new();
        for one in texts {
            parameters.extend([text(&in_json(one)), text(one)]);
            let at = parameters.len();
            conditions.push(format!("instr(key, ?{at}) > 0"));
            for column in ["value", "namespace", "paths"] {
                conditions.push(format!("instr({column}, ?{}) > 0", at - 1));
            }
        }
        let conditions = conditions.join(" OR ");
        let sql = format!(
            "SELECT id FROM items WHERE {IS_LIVE} AND id > ?2 AND {below} AND ({conditions}) \
             ORDER BY id LIMIT {most}"
        );
        self.rows(&sql, parameters, most)?.iter().map(|row| integer(&row[0])).collect()
    }
}

/// Divides rows into pages, one for each query.
fn pages(mut places: &[Place]) -> Vec<&[Place]> {
    let mut pages = Vec::new();
    while !places.is_empty() {
        let mut room = PAGE_BYTES;
        let fits = places.iter().take_while(|place| {
            room -= place.bytes;
            room >= 0
        });
        let (page, rest) = places.split_at(fits.count().clamp(1, PAGE));
        pages.push(page);
        places = rest;
    }
    pages
}

/// Converts a row with [`COLUMNS`] to an item.
pub(super) fn item(row: Vec<Value>) -> Result<Item, Error> {
    let mut values = row.into_iter();
    let mut next = || values.next().unwrap_or(Value::Null);
    let id = integer(&next())?;
    let namespace = into_text(next())?;
    let key = into_text(next())?;
    let value = into_text(next())?;
    let paths = optional(next(), into_text)?;
    let no_json = |what| move |_| damaged(what);
    Ok(Item {
        id,
        namespace: labels(&namespace).ok_or_else(|| damaged("a namespace that is no list"))?,
        key,
        bytes: value.len(),
        value: serde_json::from_str(&value).map_err(no_json("a value that is no JSON object"))?,
        paths: paths
            .map(|paths| serde_json::from_str(&paths))
            .transpose()
            .map_err(no_json("paths that are no list"))?,
        created_at: moment(&next())?,
        updated_at: moment(&next())?,
        ttl_seconds: optional(next(), |value| integer(&value))?,
        expires_at: optional(next(), |value| moment(&value))?,
        stamp: integer(&next())?,
    })
}
