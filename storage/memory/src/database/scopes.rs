//! Transactions in different scopes, which are open at once, each in a copy of the database.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use super::{Shared, SqlDatabase};
use crate::copy::{Begun, RowKey, copy_of, greatest_id, reserve_ids};
use crate::mutex::locked;

/// What is known of the transactions in scopes.
#[derive(Debug, Default)]
pub(super) struct Scopes {
    /// How many write transactions are open.
    open: usize,
    /// How many have committed.
    committed: u64,
    /// The last id that one of the open ones may give to a row.
    last_id: i64,
    /// The scopes that have written rows last.
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
}

impl SqlDatabase {
    /// A database of its own with the same contents, for a transaction of the call.
    pub(super) fn copy(&self) -> rusqlite::Result<Self> {
        let copy = copy_of(locked(&self.shared.connection).as_ref().expect("it was opened"))?;
        let shared = Shared { connection: Mutex::new(Some(copy)), ..Shared::default() };
        Ok(Self { shared: Arc::new(shared), in_transaction: self.in_transaction.clone() })
    }

    /// A copy for a write transaction in a scope, and what it begins with.
    pub(super) fn copy_to_write(&self) -> rusqlite::Result<(Self, Begun)> {
        let mut scopes = locked(&self.shared.scopes);
        let copy = self.copy()?;
        let guard = locked(&copy.shared.connection);
        let connection = guard.as_ref().expect("a copy");
        let begun = Begun::new(connection, scopes.committed)?;
        scopes.last_id = if scopes.open == 0 {
            greatest_id(connection)?
        } else {
            reserve_ids(connection, scopes.last_id)?
        };
        scopes.open += 1;
        drop(guard);
        Ok((copy, begun))
    }

    /// Brings in what a transaction in a scope has written to its copy.
    ///
    /// # Panics
    ///
    /// If another scope has written the same rows, at once or before.
    pub(super) fn bring_in(
        &self,
        copy: &Self,
        begun: &Begun,
        scope: Option<&str>,
    ) -> rusqlite::Result<()> {
        let mut scopes = locked(&self.shared.scopes);
        let mut written = locked(&copy.shared.connection);
        let connection = written.as_ref().expect("a copy");
        for (at, is_there) in begun.changes(connection)? {
            let owner = scopes.owners.remove(&at);
            if let Some((owner, scope)) = owner.zip(scope) {
                let (table, key) = &at;
                assert!(
                    owner == scope,
                    "two scopes changed one row: {key} of `{table}`, in `{owner}` and in `{scope}`"
                );
            }
            if let Some(scope) = scope.filter(|_| is_there) {
                scopes.owners.insert(at, scope.to_owned());
            }
        }
        let mut shared = locked(&self.shared.connection);
        if scopes.committed == begun.number {
            *shared = written.take();
        } else {
            begun.merge(connection, shared.as_ref().expect("it was opened"))?;
        }
        scopes.committed += 1;
        Ok(())
    }
}
