//! Changing items.

use serde_json::{Map, Value as Json};

use super::reader::Reader;
use super::sql::{integer, is_in_integers, is_in_query, json, milliseconds, statement, text};
use crate::storage::database::{Dialect, Transaction, Value};
use crate::time::Timestamp;
use crate::toolsets::items::error::Error;
use crate::toolsets::items::item::stamp;
use crate::toolsets::items::namespace::stored;

/// The maximum number of expired rows that one change removes.
const MAX_EXPIRED: u32 = 1_000;

/// An item to store.
pub(in crate::toolsets::items) struct NewItem<'a> {
    pub namespace: &'a [String],
    pub key: &'a str,
    pub value: &'a Map<String, Json>,
    pub paths: Option<&'a [String]>,
    pub ttl_seconds: Option<i64>,
}

/// Changes of items in a write transaction.
pub(in crate::toolsets::items) struct Writer<'a> {
    transaction: &'a dyn Transaction,
    now: Timestamp,
    has_changed: bool,
    /// The ids of the items that were removed, or from which a text was removed. The search index
    /// has to forget them.
    pub forgotten: Vec<i64>,
}

impl<'a> Writer<'a> {
    pub fn new(transaction: &'a dyn Transaction, now: Timestamp) -> Self {
        Self { transaction, now, has_changed: false, forgotten: Vec::new() }
    }

    pub fn reader(&self) -> Reader<'a> {
        Reader::new(Some(self.transaction), self.now)
    }

    /// Whether there is anything to commit.
    pub fn has_changed(&self) -> bool {
        self.has_changed
    }

    fn execute(&mut self, sql: &str, parameters: impl Into<Vec<Value>>) -> Result<u64, Error> {
        let effects = self.transaction.execute(&[statement(sql, parameters)])?;
        let changes = effects.iter().map(|effect| effect.changes).sum();
        self.has_changed |= changes > 0;
        Ok(changes)
    }

    /// Removes the rows that fulfil an SQL condition. Returns their number.
    fn remove(&mut self, are: &str, parameters: impl Into<Vec<Value>>) -> Result<usize, Error> {
        let sql = format!("DELETE FROM items WHERE {are} RETURNING id");
        let rows = self.transaction.query(&statement(&sql, parameters), u32::MAX)?.rows;
        self.has_changed |= !rows.is_empty();
        for row in &rows {
            self.forgotten.push(integer(&row[0])?);
        }
        Ok(rows.len())
    }

    /// Removes at most [`MAX_EXPIRED`] expired rows. It looks in all namespaces, because a
    /// namespace may never be written to again. Expired rows that are left are in no answer. Call
    /// this last in a transaction.
    ///
    /// On PostgreSQL, skips rows that another transaction has locked, so it never waits. A put in
    /// another scope may meet a row that is being removed. It waits for this commit, and then
    /// inserts its item as a new one.
    pub fn remove_expired(&mut self) -> Result<(), Error> {
        let dialect = self.transaction.dialect();
        let skips = match dialect {
            Dialect::Postgres => "FOR UPDATE SKIP LOCKED",
            Dialect::Sqlite => "",
        };
        let asked = format!(
            "SELECT id FROM items WHERE expires_at <= ?1 ORDER BY expires_at \
             LIMIT {MAX_EXPIRED} {skips}"
        );
        let are_asked = is_in_query(dialect, "id", &asked);
        self.remove(&format!("expires_at <= ?1 AND {are_asked}"), [milliseconds(self.now)])
            .map(drop)
    }

    /// Removes all rows that have expired.
    pub fn remove_all_expired(&mut self) -> Result<(), Error> {
        self.remove("expires_at <= ?1", [milliseconds(self.now)]).map(drop)
    }

    /// Stores an item, and replaces the item with the same key. Returns when it expires, and
    /// whether it is new.
    pub fn put(&mut self, item: &NewItem<'_>) -> Result<(Option<Timestamp>, bool), Error> {
        let NewItem { namespace, key, value, paths, ttl_seconds } = item;
        let namespace = stored(namespace);
        let value = serde_json::to_string(value).expect("a value is JSON");
        let paths = paths.map(|paths| serde_json::to_string(paths).expect("paths are JSON"));
        let expires_at = ttl_seconds.and_then(|seconds| self.later(seconds));
        let integer_or_null = |value: Option<i64>| value.map_or(Value::Null, Value::Integer);
        // Removes an expired item first: the stored one is new, with its own id and creation time.
        self.remove_expired_at(&namespace, key)?;
        let parameters = [
            text(&namespace),
            text(key),
            text(&value),
            paths.as_deref().map_or(Value::Null, text),
            milliseconds(self.now),
            integer_or_null(*ttl_seconds),
            integer_or_null(expires_at.map(|moment| moment.milliseconds())),
            Value::Integer(stamp(&value, paths.as_deref(), self.now)),
        ];
        let update = "UPDATE items SET value = ?3, paths = ?4, updated_at = ?5, ttl_seconds = ?6, \
                      expires_at = ?7, stamp = ?8 WHERE namespace = ?1 AND key = ?2";
        // A server whose clock is ahead may be removing the row as expired. Then the update waits
        // for it.
        let is_new = self.execute(update, parameters.clone())? == 0;
        if is_new {
            let insert = "INSERT INTO items (namespace, key, value, paths, created_at, updated_at, \
                          ttl_seconds, expires_at, stamp) \
                          VALUES (?1, ?2, ?3, ?4, ?5, ?5, ?6, ?7, ?8)";
            self.execute(insert, parameters)?;
        }
        Ok((expires_at, is_new))
    }

    /// The time `seconds` after the call. `None`, which means never, if it is after the year 9999.
    fn later(&self, seconds: i64) -> Option<Timestamp> {
        let milliseconds = seconds.checked_mul(1_000)?.checked_add(self.now.milliseconds())?;
        Timestamp::from_milliseconds(milliseconds)
    }

    /// Deletes the item with a key. Returns whether it existed. An expired row is deleted, too, but
    /// does not count.
    pub fn delete(&mut self, namespace: &[String], key: &str) -> Result<bool, Error> {
        let namespace = stored(namespace);
        self.remove_expired_at(&namespace, key)?;
        let at_key = [text(&namespace), text(key)];
        Ok(self.remove("namespace = ?1 AND key = ?2", at_key)? > 0)
    }

    /// Removes the row with a key if it has expired.
    fn remove_expired_at(&mut self, namespace: &str, key: &str) -> Result<(), Error> {
        let at_key = [text(namespace), text(key), milliseconds(self.now)];
        self.remove("namespace = ?1 AND key = ?2 AND expires_at <= ?3", at_key).map(drop)
    }

    /// Starts the time to live of these items anew, if they have one.
    pub fn refresh(&mut self, ids: &[i64]) -> Result<(), Error> {
        let is_one = is_in_integers(self.transaction.dialect(), "id", "?2");
        let sql = format!(
            "UPDATE items SET expires_at = ?1 + 1000 * ttl_seconds WHERE {is_one} AND expires_at > ?1"
        );
        self.execute(&sql, [milliseconds(self.now), json(ids)])?;
        Ok(())
    }

    /// Replaces the value and the paths of an item. Its times stay as they are.
    pub fn rewrite(
        &mut self,
        id: i64,
        value: &Map<String, Json>,
        paths: Option<&[String]>,
        updated_at: Timestamp,
    ) -> Result<(), Error> {
        let value = serde_json::to_string(value).expect("a value is JSON");
        let paths = paths.map(|paths| serde_json::to_string(paths).expect("paths are JSON"));
        let sql = "UPDATE items SET value = ?2, paths = ?3, stamp = ?4 WHERE id = ?1";
        let parameters = [
            Value::Integer(id),
            text(&value),
            paths.as_deref().map_or(Value::Null, text),
            Value::Integer(stamp(&value, paths.as_deref(), updated_at)),
        ];
        self.execute(sql, parameters)?;
        self.forgotten.push(id);
        Ok(())
    }
}
