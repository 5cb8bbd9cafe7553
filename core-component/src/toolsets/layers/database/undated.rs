//! Rows without a readable date. A search between dates leaves them out and reports their number.

use super::reader::Reader;
use super::search::{Layer, Searched};
use crate::storage::database::Value;
use crate::toolsets::layers::error::Error;
use crate::toolsets::layers::memory::{Compost, Episode};
use crate::words::has_all;

/// The most rows that are read to count those without a date.
const MAX_UNDATED: u32 = 1_000;

impl Reader<'_> {
    /// The number of episodes with these words and without a date.
    pub fn undated_episodes(&self, words: Option<&[String]>) -> Result<usize, Error> {
        self.undated::<Episode>(words)
    }

    /// The number of summaries in the compost with these words and without a date.
    pub fn undated_compost(&self, words: Option<&[String]>) -> Result<usize, Error> {
        self.undated::<Compost>(words)
    }

    fn undated<T: Searched>(&self, words: Option<&[String]>) -> Result<usize, Error> {
        let Layer { table, columns, moment, has_index_of_moments, .. } = T::LAYER;
        // These ranges of moments contain few valid dates, so SQLite reads few rows by the index of
        // moments. `|| ''` keeps SQLite from using the index of agents instead. No bound looks like
        // a number, because SQLite would convert it to one.
        let agent = if *has_index_of_moments { "m.agent_id || ''" } else { "m.agent_id" };
        let sql = format!(
            "SELECT {columns} FROM {table} AS m WHERE {agent} = ?1 AND ({moment} IS NULL \
             OR {moment} < '1970-' OR ({moment} > '1999-~' AND {moment} < '2000-') \
             OR {moment} > '2099-~') LIMIT ?2"
        );
        let parameters = [Value::Text(self.agent.to_owned()), Value::Integer(MAX_UNDATED.into())];
        let mut count = 0;
        for row in self.rows(table, &sql, parameters, MAX_UNDATED)? {
            let Some(row) = self.entry(table, row, T::from_row)? else { continue };
            let has_words = words.is_none_or(|words| has_all(&row.text(), words));
            count += usize::from(row.moment().is_none() && has_words);
        }
        Ok(count)
    }
}
