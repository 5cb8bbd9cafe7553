//! Rows that cannot be read as memories.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use super::row::Row;
use super::sql::integer;
use crate::listing::first_clauses;
use crate::storage::database::Value;
use crate::toolsets::records::error::Error;
use crate::toolsets::records::memory::Memory;

/// The most rows that a warning names.
const MAX_NAMED: usize = 3;

/// The rows that were left out: for each key, the reason why the row cannot be read. Another
/// program may have stored values that this program never stores, or a text may be damaged.
#[derive(Clone, Default)]
pub(super) struct UnreadableRows(Rc<RefCell<BTreeMap<i64, String>>>);

impl UnreadableRows {
    /// The memory of a row. `None` if the row cannot be read: then the reason is noted.
    pub fn memory(&self, row: Vec<Value>) -> Result<Option<Memory>, Error> {
        let key = integer(&row[0])?;
        Ok(match Row::read(row) {
            Ok(row) => Some(row.memory),
            Err(error) => {
                self.0.borrow_mut().insert(key, error.message().to_owned());
                None
            }
        })
    }

    /// The memories of the rows that can be read. For the other rows, the reason is noted.
    pub fn memories(&self, rows: Vec<Vec<Value>>) -> Result<Vec<Memory>, Error> {
        rows.into_iter().filter_map(|row| self.memory(row).transpose()).collect()
    }

    /// The warning about the rows that were left out, or `None` if there are none.
    pub fn warning(&self) -> Option<String> {
        let rows = self.0.borrow();
        let count = rows.len();
        let (records, are) = match count {
            0 => return None,
            1 => ("1 record".to_owned(), "is"),
            _ => (format!("{count} records"), "are"),
        };
        let named = rows.iter().map(|(key, reason)| format!("row {key} of `memories`: {reason}"));
        let named = first_clauses(named, MAX_NAMED);
        Some(format!("{records} of `memories.db` cannot be read and {are} left out: {named}"))
    }
}
