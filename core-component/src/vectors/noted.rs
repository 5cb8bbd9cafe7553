//! The texts of a collection that wait for vectors. A pass over the documents of the collection notes
//! them.

use std::collections::{BTreeMap, BTreeSet};

use super::batch::{self, Document, MAX_TEXTS};
use super::database;
use super::tables::{DATABASE, VERSION, is_current};
use super::task::Waiting;
use crate::derived::is_damaged;
use crate::digest::number_of;
use crate::sql::statement;
use crate::storage::database::{Mode, Transaction, Value};
use crate::storage::{Error, ErrorCode, Place, Storage};

/// After this many texts or documents, a pass reads no further document.
const ENOUGH: usize = 4 * MAX_TEXTS;

/// The texts of a collection that wait for vectors, as far as a pass over the documents has read them.
pub(crate) struct Noted<'a> {
    waiting: &'a Waiting,
    stored: BTreeMap<i64, Stored>,
    /// The fewest failures of any text that the embedder refused. Of the documents with refused texts,
    /// only those with this number of failures are read again.
    least_failures: i64,
    seen: BTreeSet<i64>,
    documents: Vec<Document>,
    /// How many documents [`has_to_read`](Self::has_to_read) has asked for.
    to_read: usize,
    /// The number of texts in `documents`.
    texts: usize,
}

/// The version of a document that the database has, and whether its texts wait for vectors.
struct Stored {
    version: i64,
    waits: Waits,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Waits {
    No,
    /// Only texts that the embedder refused wait. The number is the fewest failures of such a text.
    ForFailed(i64),
    Yes,
}

impl<'a> Noted<'a> {
    /// Reads which documents have texts that wait. `None` if no batch may be claimed now, or if the
    /// database cannot be read: then `waiting` has the error.
    pub(super) fn open(
        storage: &dyn Storage,
        place: &Place,
        name: &str,
        waiting: &'a Waiting,
    ) -> Option<Self> {
        let stored = match read(storage, place, name, waiting) {
            Ok(Found::Leased) => return None,
            Ok(Found::Documents(documents)) => documents,
            // There is no database yet, so all texts wait. Claiming a batch creates the database.
            Err(error) if error.code == ErrorCode::NotFound => BTreeMap::new(),
            Err(error) if is_damaged(&error) => {
                if waiting.lease.is_some() {
                    // If this fails, claiming the batch fails, too.
                    let _ = DATABASE.make_anew(storage, place, VERSION);
                }
                BTreeMap::new()
            }
            Err(error) => {
                waiting.error.replace(Some(error));
                return None;
            }
        };
        let failures = stored.values().filter_map(|stored| match stored.waits {
            Waits::ForFailed(failures) => Some(failures),
            _ => None,
        });
        let least_failures = failures.min().unwrap_or_default();
        let seen = BTreeSet::new();
        let documents = Vec::new();
        Some(Self { waiting, stored, least_failures, seen, documents, to_read: 0, texts: 0 })
    }

    pub(super) fn see(&mut self, document: i64) {
        self.seen.insert(document);
    }

    pub(super) fn has_to_read(&mut self, document: i64, version: i64) -> bool {
        self.see(document);
        let is_wanted =
            self.waits(document, version) && self.is_collecting() && self.to_read < ENOUGH;
        self.to_read += usize::from(is_wanted);
        is_wanted
    }

    pub(super) fn note<'t>(
        &mut self,
        document: i64,
        version: i64,
        texts: impl Iterator<Item = &'t str>,
    ) {
        self.see(document);
        if self.waits(document, version) && self.is_collecting() && self.texts < ENOUGH {
            let text = |text: &str| (number_of(text), text.to_owned());
            let texts: Vec<_> = texts.map(|of| text(database::cut(of))).collect();
            self.texts += texts.len();
            self.documents.push(Document { key: document, version, texts });
        }
    }

    /// Whether the pass collects texts of this version of a document. If so, notes that the document's
    /// owner has texts that wait.
    fn waits(&self, document: i64, version: i64) -> bool {
        let waits = match self.stored.get(&document) {
            Some(stored) if stored.version == version => stored.waits,
            _ => Waits::Yes,
        };
        let waits = match waits {
            Waits::No => false,
            Waits::ForFailed(failures) => {
                self.waiting.has_failed.set(true);
                self.waiting.takes_failed && failures == self.least_failures
            }
            Waits::Yes => true,
        };
        if waits {
            self.waiting.wait();
        }
        waits
    }

    /// Whether the pass is to claim a batch and has not claimed one yet.
    fn is_collecting(&self) -> bool {
        let Waiting { lease, batch, .. } = self.waiting;
        lease.is_some() && batch.borrow().is_none()
    }

    /// Claims a batch of the noted texts, if the pass is to claim one and has not done so yet. If
    /// `is_whole`, this also removes documents that were not seen.
    pub(super) fn end(self, storage: &dyn Storage, place: &Place, name: &str, is_whole: bool) {
        let Self { waiting, stored, seen, documents, .. } = self;
        let gone: BTreeSet<i64> = if is_whole {
            stored.into_keys().filter(|key| !seen.contains(key)).collect()
        } else {
            BTreeSet::new()
        };
        if documents.is_empty() && gone.is_empty() {
            return;
        }
        waiting.wait();
        let Some(seconds) = waiting.lease else { return };
        if waiting.batch.borrow().is_some() {
            return;
        }
        waiting.has_noted.set(!documents.is_empty());
        let of = batch::Of { storage, place, name, model: &waiting.model, now: waiting.now };
        match batch::claim(&of, &documents, &gone, seconds) {
            Ok(claimed) => drop(waiting.batch.replace(claimed)),
            Err(error) => drop(waiting.error.replace(Some(error))),
        }
    }
}

enum Found {
    /// Another host has a batch, or the embedder has a pause after an error.
    Leased,
    Documents(BTreeMap<i64, Stored>),
}

fn read(
    storage: &dyn Storage,
    place: &Place,
    name: &str,
    waiting: &Waiting,
) -> Result<Found, Error> {
    let connection = DATABASE.open(storage, place, false)?;
    let view = connection.begin(Mode::Read)?;
    let none = Found::Documents(BTreeMap::new());
    if !is_current(&*view)? {
        return Ok(none);
    }
    let Some(collection) = database::find(&*view, name, &waiting.model)? else { return Ok(none) };
    if collection.is_leased(waiting.now) {
        return Ok(Found::Leased);
    }
    let waits = waits(&*view, collection.key)?;
    let documents = database::documents(&*view, collection.key)?.into_iter();
    let documents = documents.map(|(key, (version, _))| {
        let waits = waits.get(&key).copied().unwrap_or(Waits::No);
        (key, Stored { version, waits })
    });
    Ok(Found::Documents(documents.collect()))
}

/// The documents with texts that wait.
fn waits(view: &dyn Transaction, collection: i64) -> Result<BTreeMap<i64, Waits>, Error> {
    let sql = "SELECT document, min(failures) FROM vectors \
               WHERE collection = ?1 AND numbers IS NULL GROUP BY document";
    let rows = view.query(&statement(sql, [Value::Integer(collection)]), u32::MAX)?.rows;
    let document = |row: Vec<Value>| match &row[..] {
        [Value::Integer(document), Value::Integer(0)] => Ok((*document, Waits::Yes)),
        [Value::Integer(document), Value::Integer(failures)] => {
            Ok((*document, Waits::ForFailed(*failures)))
        }
        _ => Err(DATABASE.damaged()),
    };
    rows.into_iter().map(document).collect()
}
