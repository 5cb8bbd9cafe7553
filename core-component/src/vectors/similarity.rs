//! Comparing stored vectors with the vector of a query.

use std::collections::{BTreeMap, BTreeSet};

use super::database;
use super::tables::{DATABASE, is_current};
use super::task::Comparison;
use crate::budget::{Budget, OF_VECTOR};
use crate::digest::number_of;
use crate::ranking::Vector;
use crate::sql::statement;
use crate::storage::database::{Mode, Transaction, Value};
use crate::storage::{Error, Place, Storage};

/// How many bytes of vectors are read at once.
const PAGE_BYTES: usize = 1 << 20;

/// The most texts of a collection that are candidates because of their vectors. If it is not known
/// whether a text can be a hit, it counts separately, up to `MAX_UNKNOWN`.
const MAX_NEAREST: usize = 50;
const MAX_UNKNOWN: usize = 1_000;

/// How similar an entry is to a query by its vector.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Similarity {
    /// The cosine of the angle between both vectors.
    pub cosine: f64,
    /// Whether the entry's vector is one of the nearest: then the entry can be a hit without a word of
    /// the query.
    pub is_nearest: bool,
}

/// How similar the texts of a collection are to a query.
#[derive(Default)]
pub(crate) struct Similarities {
    of_texts: BTreeMap<i64, f64>,
    nearest: BTreeSet<i64>,
    /// The version of each document, and the numbers of its entries' texts.
    documents: BTreeMap<i64, (i64, Vec<i64>)>,
}

/// Which vectors were compared.
enum Compared {
    All,
    Part(usize),
}

impl Similarities {
    /// Compares the vectors of a collection with the vector of the query, until the budget is used up.
    /// `admits` says whether a document can be a hit; `None` if that is not known.
    pub(super) fn read(
        storage: &dyn Storage,
        place: &Place,
        name: &str,
        comparison: &Comparison,
        budget: &Budget,
        admits: impl Fn(i64) -> Option<bool>,
    ) -> Result<Self, Error> {
        let Comparison { model, vector, .. } = comparison;
        let none = Self::default();
        let connection = DATABASE.open(storage, place, false)?;
        let view = connection.begin(Mode::Read)?;
        if !is_current(&*view)? {
            return Ok(none);
        }
        let Some(collection) = database::find(&*view, name, model)? else { return Ok(none) };
        let Some(dimension) = collection.dimension else { return Ok(none) };
        let Some(vector) = vector else {
            comparison.want();
            return Ok(none);
        };
        if vector.dimension() as i64 != dimension {
            comparison.warn(format!(
                "vectors of `{model}` were not compared: they have {dimension} numbers, and that of \
                 the query {}",
                vector.dimension()
            ));
            return Ok(none);
        }
        let mut admitted = Vec::new();
        let mut similarities = none;
        let compared =
            compare(&*view, collection.key, vector, budget, |document, text, cosine| {
                similarities.of_texts.insert(text, cosine);
                let is_admitted = admits(document);
                if cosine > 0.0 && is_admitted != Some(false) {
                    admitted.push((cosine, text, is_admitted.is_some()));
                }
            })?;
        if let Compared::Part(compared) = compared {
            comparison.warn(format!("only {compared} vectors of a collection were compared"));
        }
        similarities.nearest = nearest(admitted);
        similarities.documents = database::documents(&*view, collection.key)?;
        Ok(similarities)
    }

    pub fn of_text(&self, text: &str) -> Option<Similarity> {
        // Most collections have no vectors. Then the text need not be hashed to get its number.
        if self.of_texts.is_empty() { None } else { self.of(number_of(database::cut(text))) }
    }

    pub fn of_entry(&self, document: i64, version: i64, at: usize) -> Option<Similarity> {
        self.texts(document, version).get(at).and_then(|text| self.of(*text))
    }

    pub fn has_nearest(&self, document: i64, version: i64) -> bool {
        self.texts(document, version).iter().any(|text| self.nearest.contains(text))
    }

    /// Whether the stored vectors are those of another version of the document.
    pub fn is_outdated(&self, document: i64, version: i64) -> bool {
        self.documents.get(&document).is_some_and(|(of, _)| *of != version)
    }

    /// The numbers of a document's texts. Empty if the vectors are of another version.
    fn texts(&self, document: i64, version: i64) -> &[i64] {
        match self.documents.get(&document) {
            Some((of, texts)) if *of == version => texts,
            _ => &[],
        }
    }

    fn of(&self, text: i64) -> Option<Similarity> {
        let cosine = *self.of_texts.get(&text)?;
        Some(Similarity { cosine, is_nearest: self.nearest.contains(&text) })
    }
}

/// The numbers of the nearest texts. Each of `texts` has its cosine, its number, and whether it is
/// known that it can be a hit.
fn nearest(mut texts: Vec<(f64, i64, bool)>) -> BTreeSet<i64> {
    texts.sort_by(|one, other| {
        other.0.total_cmp(&one.0).then_with(|| (other.2, one.1).cmp(&(one.2, other.1)))
    });
    let mut nearest = BTreeSet::new();
    let mut known = 0;
    let mut unknown = 0;
    for (_, text, is_known) in texts {
        let (count, most) =
            if is_known { (&mut known, MAX_NEAREST) } else { (&mut unknown, MAX_UNKNOWN) };
        if *count < most && nearest.insert(text) {
            *count += 1;
        }
    }
    nearest
}

/// Calls `found` with the document, the text and the cosine of each vector.
fn compare(
    view: &dyn Transaction,
    collection: i64,
    vector: &Vector,
    budget: &Budget,
    mut found: impl FnMut(i64, i64, f64),
) -> Result<Compared, Error> {
    let sql = "SELECT vector, document, text, numbers FROM vectors \
               WHERE collection = ?1 AND vector < ?2 AND numbers IS NOT NULL \
               ORDER BY vector DESC LIMIT ?3";
    let bytes = 4 * vector.dimension();
    let page = (PAGE_BYTES / bytes).max(1);
    let mut before = i64::MAX;
    let mut compared = 0;
    loop {
        let parameters = [collection, before, page as i64].map(Value::Integer);
        let rows = view.query(&statement(sql, parameters), page as u32)?.rows;
        if !budget.take_for_vectors(rows.len() as u64 * (bytes as u64 + OF_VECTOR)) {
            return Ok(Compared::Part(compared));
        }
        for row in &rows {
            let [
                Value::Integer(key),
                Value::Integer(document),
                Value::Integer(text),
                Value::Blob(numbers),
            ] = &row[..]
            else {
                return Err(DATABASE.damaged());
            };
            before = *key;
            compared += 1;
            if let Some(cosine) = vector.cosine(numbers) {
                found(*document, *text, cosine);
            }
        }
        if rows.len() < page {
            return Ok(Compared::All);
        }
    }
}
