//! An item, in the form of the database and in the form of an answer.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::fields::text_of;
use super::reach::Reach;
use crate::index::number_of;
use crate::time::Timestamp;

/// The maximum number of bytes of the results of a batch. Other answers are limited to fewer bytes.
pub(super) const MAX_RESULTS: usize = 8 << 20;

/// An item of the database.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Item {
    pub id: i64,
    /// The stored namespace. It begins with the agent's label even if the caller does not see that
    /// label.
    pub namespace: Vec<String>,
    pub key: String,
    pub value: Map<String, Value>,
    /// The length of the value as JSON, in bytes.
    pub bytes: usize,
    /// The paths of the fields that a search reads. `None` if a search reads all fields.
    pub paths: Option<Vec<String>>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub ttl_seconds: Option<i64>,
    pub expires_at: Option<Timestamp>,
    /// See [`stamp`].
    pub stamp: i64,
}

impl Item {
    /// Returns the text of the item that a search reads.
    pub fn text(&self) -> String {
        text_of(&self.value, self.paths.as_deref())
    }

    /// Whether a search finds the item. False if the item has an empty list of paths.
    pub fn is_indexed(&self) -> bool {
        self.paths.as_ref().is_none_or(|paths| !paths.is_empty())
    }

    pub fn shown(self, reach: &Reach<'_>) -> Shown {
        let Self { namespace, key, value, created_at, updated_at, expires_at, .. } = self;
        let namespace = reach.seen(namespace);
        Shown { namespace, key, value, created_at, updated_at, expires_at, score: None }
    }
}

/// Whether the items are longer than any answer may be. Then no further items need to be read.
pub(super) fn fill_answer<'i>(items: impl Iterator<Item = &'i Item>) -> bool {
    items.map(|item| item.bytes).sum::<usize>() > MAX_RESULTS
}

/// Returns a hash of the parts of an item that a search uses. It is below 2⁴⁰, so that the sum of
/// all stamps fits in an integer of SQLite.
pub(super) fn stamp(value: &str, paths: Option<&str>, updated_at: Timestamp) -> i64 {
    let paths = paths.unwrap_or_default();
    number_of(&format!("{updated_at} {paths} {value}")) & ((1 << 40) - 1)
}

// An item in an answer.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Shown {
    pub namespace: Vec<String>,
    pub key: String,
    pub value: Map<String, Value>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    // Set for a search with a query. A higher score is better.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
}
