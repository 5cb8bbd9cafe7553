//! Search by words and dates: the index finds candidates, the row itself decides.

use super::indexing::{COMPOST, EPISODES, Layer};
use super::reader::Reader;
use super::row::Row;
use super::sql::{integer, text};
use crate::layers::error::Error;
use crate::layers::memory::{Compost, Episode};
use crate::storage::database::Value;
use crate::time::Timestamp;
use crate::words::{has_all, query as words_query, words};

/// How many rows are read at once where not all of them match.
const PAGE: u32 = 200;

/// An agent's rows in a layer are looked at one by one up to this number. So a change that another
/// program made to a row shows at once; among more rows it is found by its new words no sooner than
/// the index knows them.
const LOOKED_AT: i64 = 1_000;

const DAY: i64 = 24 * 60 * 60 * 1000;

/// The words and dates that a search asks for.
pub(in crate::layers) struct Query {
    /// Each has to be there, as a word or the beginning of one; none where all rows are meant.
    pub words: Option<Vec<String>>,
    /// Inclusive.
    pub from: Option<Timestamp>,
    /// Inclusive.
    pub to: Option<Timestamp>,
    pub limit: u32,
}

/// A row of a layer that is searched.
trait Searched: Sized {
    const LAYER: &'static Layer;
    fn of(row: Row) -> Result<Self, Error>;
    fn id(&self) -> i64;
    fn words(&self) -> Vec<String>;
    fn moment(&self) -> Option<Timestamp>;
}

impl Searched for Episode {
    const LAYER: &'static Layer = &EPISODES;

    fn of(row: Row) -> Result<Self, Error> {
        row.episode()
    }

    fn id(&self) -> i64 {
        self.id
    }

    fn words(&self) -> Vec<String> {
        let mut all = words(&self.memory);
        all.extend(self.tags.iter().flat_map(|tag| words(tag)));
        all
    }

    fn moment(&self) -> Option<Timestamp> {
        self.created_at
    }
}

impl Searched for Compost {
    const LAYER: &'static Layer = &COMPOST;

    fn of(row: Row) -> Result<Self, Error> {
        row.compost()
    }

    fn id(&self) -> i64 {
        self.id
    }

    fn words(&self) -> Vec<String> {
        words(&self.summary)
    }

    fn moment(&self) -> Option<Timestamp> {
        self.archived_at
    }
}

impl Query {
    fn accepts(&self, row: &impl Searched) -> bool {
        let within = |moment: Timestamp| {
            self.from.is_none_or(|from| moment >= from) && self.to.is_none_or(|to| moment <= to)
        };
        let has_words = || self.words.as_ref().is_none_or(|wanted| has_all(&row.words(), wanted));
        let is_within = match row.moment() {
            Some(moment) => within(moment),
            None => self.from.is_none() && self.to.is_none(),
        };
        is_within && has_words()
    }

    /// Bounds of the column as text, a day and more beyond the moments: other programs may have
    /// written it in another form, with an offset.
    fn column_bounds(&self) -> (Option<String>, Option<String>) {
        let day = |moment: Option<Timestamp>, days: i64| {
            let moment = Timestamp::from_milliseconds(moment?.milliseconds() + days * DAY)?;
            Some(moment.date_at(0).to_string())
        };
        (day(self.from, -1), day(self.to, 2))
    }
}

/// Which rows of a layer are looked at.
enum Among<'q> {
    /// All whose id is greater.
    Beyond(i64),
    /// Those that the index finds, of ids up to this one.
    Indexed(i64, &'q [String]),
}

impl Reader<'_> {
    /// The episodes that match, at most `query.limit`, the last added first.
    pub fn search_episodes(&self, query: &Query) -> Result<Vec<Episode>, Error> {
        self.search(query, self.indexed.unwrap_or_default().episodes)
    }

    /// The summaries in the compost that match, at most `query.limit`, the last added first.
    pub fn search_compost(&self, query: &Query) -> Result<Vec<Compost>, Error> {
        self.search(query, self.indexed.unwrap_or_default().compost)
    }

    /// `indexed` is the last row of the agent that is.
    fn search<T: Searched>(&self, query: &Query, indexed: i64) -> Result<Vec<T>, Error> {
        let mut found = Vec::new();
        match &query.words {
            Some(words) if words.is_empty() => {}
            Some(words) if self.has_many(T::LAYER, indexed)? => {
                self.look(query, &Among::Beyond(indexed), &mut found)?;
                if found.len() < query.limit as usize {
                    self.look(query, &Among::Indexed(indexed, words), &mut found)?;
                }
            }
            _ => self.look(query, &Among::Beyond(i64::MIN), &mut found)?,
        }
        Ok(found)
    }

    /// Whether more rows are indexed than are looked at one by one.
    fn has_many(&self, layer: &Layer, indexed: i64) -> Result<bool, Error> {
        let table = layer.table;
        let sql = format!(
            "SELECT count(*) FROM (SELECT 1 FROM {table} WHERE agent_id = ?1 AND id <= ?2 LIMIT ?3)"
        );
        let bound = [text(self.agent), Value::Integer(indexed), Value::Integer(LOOKED_AT + 1)];
        let rows = self.rows(table, &sql, bound, 1)?;
        Ok(rows.first().map_or(Ok(0), |row| integer(&row[0]))? > LOOKED_AT)
    }

    /// Adds the rows that match, page by page, until there are enough.
    fn look<T: Searched>(
        &self,
        query: &Query,
        among: &Among<'_>,
        found: &mut Vec<T>,
    ) -> Result<(), Error> {
        let limit = query.limit as usize;
        let page = if query.words.is_some() { PAGE } else { query.limit };
        let mut before = match among {
            Among::Beyond(_) => i64::MAX,
            Among::Indexed(last, _) => last + 1,
        };
        loop {
            let (sql, parameters) = statement_of(T::LAYER, self.agent, query, among, before, page);
            let rows = self.rows(T::LAYER.table, &sql, parameters, page)?;
            let is_last = rows.len() < page as usize;
            for row in rows {
                let row = T::of(Row::of(row))?;
                before = row.id();
                if query.accepts(&row) {
                    found.push(row);
                }
                if found.len() == limit {
                    return Ok(());
                }
            }
            if is_last {
                return Ok(());
            }
        }
    }
}

/// A page of rows with ids below `before`.
fn statement_of(
    layer: &Layer,
    agent: &str,
    query: &Query,
    among: &Among<'_>,
    before: i64,
    page: u32,
) -> (String, Vec<Value>) {
    let Layer { table, columns, moment, index, .. } = layer;
    let mut parameters = vec![text(agent), Value::Integer(before), Value::Integer(page.into())];
    let mut bind = |value: Value| {
        parameters.push(value);
        format!("?{}", parameters.len())
    };
    let (from, id, mut condition) = match among {
        Among::Beyond(id) => {
            let least = bind(Value::Integer(*id));
            (format!("{table} AS m"), "m.id".to_owned(), format!("m.id > {least}"))
        }
        Among::Indexed(_, words) => {
            let asked = bind(Value::Text(words_query(agent, words)));
            let from = format!("{index} CROSS JOIN {table} AS m ON m.id = {index}.rowid");
            (from, format!("{index}.rowid"), format!("{index} MATCH {asked}"))
        }
    };
    let (least, most) = query.column_bounds();
    for (sign, bound) in [(">=", least), ("<", most)] {
        if let Some(bound) = bound {
            condition += &format!(" AND {moment} {sign} {}", bind(Value::Text(bound)));
        }
    }
    let sql = format!(
        "SELECT {columns} FROM {from} WHERE {condition} AND m.agent_id = ?1 AND {id} < ?2 \
         ORDER BY {id} DESC LIMIT ?3"
    );
    (sql, parameters)
}
