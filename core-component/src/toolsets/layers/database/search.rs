//! Search by words and dates. SQL finds candidate rows, and `Query::accepts` decides about each of
//! them.

use std::borrow::Cow;

use super::reader::Reader;
use super::row::Row;
use super::sql::{integer, text};
use crate::storage::database::Value;
use crate::time::Timestamp;
use crate::toolsets::layers::error::Error;
use crate::toolsets::layers::memory::{Compost, Episode};
use crate::words::has_all;

/// The least number of rows that one SQL query reads if the search has words or dates: SQL also
/// finds rows that do not match.
const PAGE: u32 = 200;

/// In a layer of at most this many rows, a ranked search compares the lengths of texts and the date
/// of each row with those in the index. So it notices most changes by another program at once.
pub(super) const LOOKED_AT: i64 = 1_000;

/// If at most this many rows are between the dates of a query, the search is limited to their range
/// of ids.
const IN_RANGE: i64 = 10_000;

/// A layer with an index.
pub(in crate::toolsets::layers) struct Layer {
    /// The number of the layer among the tables of this toolset in the index.
    pub number: u8,
    pub table: &'static str,
    /// The columns, in the order in which [`Row`] reads them.
    pub columns: &'static str,
    /// SQL for the text that is searched. Null if the row cannot be read.
    text: &'static str,
    /// SQL for the stamp of a row: a number that most changes of the row change.
    pub stamp: &'static str,
    /// The column with the moment at which a row was made.
    pub moment: &'static str,
    /// Whether the column `moment` has an SQL index.
    pub has_index_of_moments: bool,
    /// Whether the rows are shown only if archived entries are asked for.
    pub is_archived: bool,
}

const EPISODES: Layer = Layer {
    number: 0,
    table: "episodic_memories",
    columns: "m.id, m.memory, m.tags, m.created_at",
    text: "(CASE WHEN typeof(m.memory) = 'text' AND typeof(m.tags) <> 'blob' \
           THEN m.memory || '\n' || coalesce(m.tags, '') END)",
    stamp: "(CAST(octet_length(m.memory) AS BIGINT) * 65536 \
            + octet_length(coalesce(m.tags, '')) * 256 + coalesce(unixepoch(m.created_at), 0))",
    moment: "m.created_at",
    has_index_of_moments: true,
    is_archived: false,
};

const COMPOST: Layer = Layer {
    number: 1,
    table: "memory_compost",
    columns: "m.id, m.summary, m.original_count, m.archived_at",
    text: "(CASE WHEN typeof(m.summary) = 'text' THEN m.summary END)",
    stamp: "(CAST(octet_length(m.summary) AS BIGINT) * 256 + coalesce(unixepoch(m.archived_at), 0))",
    moment: "m.archived_at",
    has_index_of_moments: false,
    is_archived: true,
};

const DAY: i64 = 24 * 60 * 60 * 1000;

/// The words and dates that a search asks for.
pub(in crate::toolsets::layers) struct Query {
    /// The words that have to occur, each as a word or the beginning of one. `None`: all rows
    /// match. Empty: no row matches.
    pub words: Option<Vec<String>>,
    /// The first moment, inclusive.
    pub from: Option<Timestamp>,
    /// The last moment, inclusive.
    pub to: Option<Timestamp>,
    pub limit: u32,
}

/// A search that finds nothing is repeated without its dates, to name the days of other matches. It
/// then returns at most this many rows.
const MAX_WITHOUT_DATES: u32 = 1_000;

impl Query {
    /// Whether the query has a first or a last moment.
    pub fn has_dates(&self) -> bool {
        self.from.is_some() || self.to.is_some()
    }

    /// The same query without its dates.
    pub fn without_dates(&self) -> Self {
        Self { words: self.words.clone(), from: None, to: None, limit: MAX_WITHOUT_DATES }
    }
}

/// A row of a layer that is searched.
pub(in crate::toolsets::layers) trait Searched: Sized {
    const LAYER: &'static Layer;
    fn from_row(row: Row) -> Result<Self, Error>;
    /// The text in which words are looked for.
    fn text(&self) -> Cow<'_, str>;
    fn moment(&self) -> Option<Timestamp>;
}

impl Searched for Episode {
    const LAYER: &'static Layer = &EPISODES;

    fn from_row(row: Row) -> Result<Self, Error> {
        row.episode()
    }

    fn text(&self) -> Cow<'_, str> {
        format!("{}\n{}", self.memory, self.tags.join("\n")).into()
    }

    fn moment(&self) -> Option<Timestamp> {
        self.created_at
    }
}

impl Searched for Compost {
    const LAYER: &'static Layer = &COMPOST;

    fn from_row(row: Row) -> Result<Self, Error> {
        row.compost()
    }

    fn text(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.summary)
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
        let has_words = || self.words.as_ref().is_none_or(|wanted| has_all(&row.text(), wanted));
        let is_within = match row.moment() {
            Some(moment) => within(moment),
            None => self.from.is_none() && self.to.is_none(),
        };
        is_within && has_words()
    }

    /// The bounds of the column as text. They are a day or more beyond the moments: other programs
    /// may have written the column in another form, with an offset.
    fn column_bounds(&self) -> (Option<String>, Option<String>) {
        let day = |moment: Option<Timestamp>, days: i64| {
            let moment = Timestamp::from_milliseconds(moment?.milliseconds() + days * DAY)?;
            Some(moment.utc_date().to_string())
        };
        (day(self.from, -1), day(self.to, 2))
    }
}

/// A range of ids: from `first` on, below `before`.
#[derive(Clone, Copy)]
struct Ids {
    first: i64,
    before: i64,
}

impl Reader<'_> {
    /// The episodes that match, at most `query.limit`, the last added first.
    pub fn search_episodes(&self, query: &Query) -> Result<Vec<Episode>, Error> {
        self.search(query)
    }

    /// The summaries in the compost that match, at most `query.limit`, the last added first.
    pub fn search_compost(&self, query: &Query) -> Result<Vec<Compost>, Error> {
        self.search(query)
    }

    fn search<T: Searched>(&self, query: &Query) -> Result<Vec<T>, Error> {
        let mut found = Vec::new();
        let Some(ids) = self.ids_between_dates(T::LAYER, query)? else { return Ok(found) };
        if query.words.as_ref().is_none_or(|words| !words.is_empty()) {
            self.look(query, ids, &mut found)?;
        }
        Ok(found)
    }

    /// The range of the ids of the rows between the dates, of all agents. `None` if there is no
    /// such row. The range has all ids if the query has no dates, if the layer has no index of
    /// moments, or if too many rows are between the dates.
    fn ids_between_dates(&self, layer: &Layer, query: &Query) -> Result<Option<Ids>, Error> {
        let all = Ids { first: i64::MIN, before: i64::MAX };
        let mut parameters = vec![Value::Integer(IN_RANGE + 1)];
        let condition = dates_of(layer, query, &mut parameters);
        if condition.is_empty() || !layer.has_index_of_moments {
            return Ok(Some(all));
        }
        let table = layer.table;
        let sql = format!(
            "SELECT min(id), max(id), count(*) FROM \
             (SELECT id FROM {table} AS m WHERE {} LIMIT ?1) AS found",
            condition.join(" AND ")
        );
        let rows = self.rows(table, &sql, parameters, 1)?;
        match rows.first().map(Vec::as_slice) {
            Some([Value::Integer(first), Value::Integer(last), Value::Integer(count)]) => {
                let ids = Ids { first: *first, before: last.saturating_add(1) };
                Ok(Some(if *count > IN_RANGE { all } else { ids }))
            }
            _ => Ok(None),
        }
    }

    /// Adds the rows that match to `found`, page by page, until there are `query.limit`.
    fn look<T: Searched>(
        &self,
        query: &Query,
        mut ids: Ids,
        found: &mut Vec<T>,
    ) -> Result<(), Error> {
        let limit = query.limit as usize;
        let is_sifted = query.has_dates() || query.words.is_some();
        let page = if is_sifted { query.limit.max(PAGE) } else { query.limit };
        loop {
            let (sql, parameters) = statement_of(T::LAYER, self.agent, query, ids, page);
            let rows = self.rows(T::LAYER.table, &sql, parameters, page)?;
            let is_last = rows.len() < page as usize;
            for row in rows {
                ids.before = integer(&row[0])?;
                let Some(row) = self.entry(T::LAYER.table, row, T::from_row)? else { continue };
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

/// The statement that reads a page of rows in a range of ids.
fn statement_of(
    layer: &Layer,
    agent: &str,
    query: &Query,
    ids: Ids,
    page: u32,
) -> (String, Vec<Value>) {
    let Layer { table, columns, .. } = layer;
    let [first, before, page] = [ids.first, ids.before, page.into()].map(Value::Integer);
    let mut parameters = vec![text(agent), first, before, page];
    let mut conditions = dates_of(layer, query, &mut parameters);
    conditions.extend(words_of(layer, query, &mut parameters));
    conditions.push("m.agent_id = ?1 AND m.id >= ?2 AND m.id < ?3".to_owned());
    let condition = conditions.join(" AND ");
    let sql =
        format!("SELECT {columns} FROM {table} AS m WHERE {condition} ORDER BY m.id DESC LIMIT ?4");
    (sql, parameters)
}

/// SQL conditions that each word occurs. SQL's `lower` changes only ASCII letters. So the
/// conditions also let through each row with another character, and each row that cannot be read:
/// `Query::accepts` decides about these rows. The values of the conditions are added to
/// `parameters`.
fn words_of(layer: &Layer, query: &Query, parameters: &mut Vec<Value>) -> Vec<String> {
    let text = layer.text;
    let is_other = format!("coalesce(octet_length({text}) <> length({text}), true)");
    let words = query.words.iter().flatten();
    let conditions = words.map(|word| {
        if word.is_ascii() {
            parameters.push(Value::Text(word.clone()));
            format!("(instr(lower({text}), ?{}) > 0 OR {is_other})", parameters.len())
        } else {
            format!("({is_other})")
        }
    });
    conditions.collect()
}

/// SQL conditions for the dates of a query. The conditions also let through rows of a day or more
/// before and after the dates: `Query::accepts` decides about these rows. The values of the
/// conditions are added to `parameters`.
fn dates_of(layer: &Layer, query: &Query, parameters: &mut Vec<Value>) -> Vec<String> {
    let moment = layer.moment;
    let (least, most) = query.column_bounds();
    let mut conditions = Vec::new();
    for (sign, bound) in [(">=", least), ("<", most)] {
        if let Some(bound) = bound {
            parameters.push(Value::Text(bound));
            conditions.push(format!("{moment} {sign} ?{}", parameters.len()));
        }
    }
    conditions
}
