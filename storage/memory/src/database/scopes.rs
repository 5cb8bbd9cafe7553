//! Transactions in different scopes (parts of a place). They are open at the same time, each in a copy
//! of the database.

use std::collections::BTreeMap;

use rusqlite::Connection;

use crate::copy::{Begun, RowKey, greatest_id, reserve_ids};

/// The counts of transactions in scopes, the ids that they reserved, and the scopes of rows.
#[derive(Debug, Default)]
pub(super) struct Scopes {
    /// How many write transactions are open.
    open: usize,
    /// How many write transactions have committed.
    committed: u64,
    /// The last id that is reserved for an open transaction.
    last_id: i64,
    /// The scope that last wrote each row.
    owners: BTreeMap<RowKey, String>,
}

impl Scopes {
    /// Notes that a write transaction has ended.
    pub fn note_end(&mut self) {
        self.open -= 1;
    }

    pub fn forget_owners(&mut self) {
        self.owners.clear();
    }

    /// Begins a write transaction in a copy of the database.
    pub fn begin(&mut self, copy: &Connection) -> rusqlite::Result<Begun> {
        let begun = Begun::new(copy, self.committed)?;
        self.last_id =
            if self.open == 0 { greatest_id(copy)? } else { reserve_ids(copy, self.last_id)? };
        self.open += 1;
        Ok(begun)
    }

    /// Merges the changes that a transaction in a scope has made in its copy into the database.
    ///
    /// # Panics
    ///
    /// If another scope has written the same rows, at the same time or before.
    pub fn bring_in(
        &mut self,
        copy: &mut Option<Connection>,
        database: &mut Option<Connection>,
        begun: &Begun,
        scope: Option<&str>,
    ) -> rusqlite::Result<()> {
        let written = copy.as_ref().expect("a copy");
        for (at, is_there) in begun.changes(written)? {
            let owner = self.owners.remove(&at);
            if let Some((owner, scope)) = owner.zip(scope) {
                let (table, key) = &at;
                assert!(
                    owner == scope,
                    "two scopes changed one row: {key} of `{table}`, in `{owner}` and in `{scope}`"
                );
            }
            if let Some(scope) = scope.filter(|_| is_there) {
                self.owners.insert(at, scope.to_owned());
            }
        }
        if self.committed == begun.number {
            *database = copy.take();
        } else {
            begun.merge(written, database.as_ref().expect("it was opened"))?;
        }
        self.committed += 1;
        Ok(())
    }
}
