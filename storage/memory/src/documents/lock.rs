//! The locks of places and of their scopes, and which scope has written a document.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use agent_memory_storage::{Area, Change, Error, ErrorCode, Place};

use crate::mutex::locked;

/// The lock of a place or of one of its scopes. It is held until it is released or this is dropped.
#[derive(Debug)]
pub struct Lock {
    pub(super) locks: Arc<Locks>,
    pub(super) wanted: Wanted,
    pub(super) is_held: Mutex<bool>,
}

/// A place, or a scope of it.
pub(super) type Wanted = (Place, Option<String>);

/// How long a call waits for a lock before it fails with `busy`.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The locks that are held.
#[derive(Debug, Default)]
pub(super) struct Locks {
    held: Mutex<Vec<Wanted>>,
    released: Condvar,
    /// The scope that last wrote each document. Only storage that is like a server notes them, so that
    /// tests find a document that two scopes change.
    owners: Mutex<BTreeMap<(Place, Area, String), String>>,
}

impl Locks {
    pub(super) fn take(&self, wanted: &Wanted) -> Result<(), Error> {
        let excludes = |(of, scope): &Wanted| {
            *of == wanted.0 && (scope.is_none() || wanted.1.is_none() || *scope == wanted.1)
        };
        let locks = locked(&self.held);
        let waited =
            self.released.wait_timeout_while(locks, TIMEOUT, |locks| locks.iter().any(excludes));
        let (mut locks, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
        if timeout.timed_out() {
            return Err(Error::new(ErrorCode::Busy, "other writers kept the lock: try again"));
        }
        locks.push(wanted.clone());
        Ok(())
    }

    /// Notes which scope has written a document.
    ///
    /// # Panics
    ///
    /// If another scope has written it.
    fn note_owner(&self, (place, scope): &Wanted, area: Area, path: &str, is_there: bool) {
        let at = (place.clone(), area, path.to_owned());
        let mut owners = locked(&self.owners);
        if let Some((owner, scope)) = owners.remove(&at).zip(scope.as_ref()) {
            assert!(owner == *scope, "two scopes changed `{path}`: `{owner}` and `{scope}`");
        }
        if let Some(scope) = scope.as_ref().filter(|_| is_there) {
            owners.insert(at, scope.clone());
        }
    }
}

impl Lock {
    pub(crate) fn scope(&self) -> Option<&str> {
        self.wanted.1.as_deref()
    }

    /// Takes the lock if a commit has released it.
    pub(super) fn ensure(&self) -> Result<(), Error> {
        let mut is_held = locked(&self.is_held);
        if !*is_held {
            self.locks.take(&self.wanted)?;
            *is_held = true;
        }
        Ok(())
    }

    /// Notes that these changes were made under the lock.
    pub(super) fn note(&self, changes: &[Change]) {
        for change in changes {
            let is_there = !change.is_delete();
            self.locks.note_owner(&self.wanted, change.area(), change.path(), is_there);
            if let Change::Rename { from, .. } = change {
                self.locks.note_owner(&self.wanted, change.area(), from, false);
            }
        }
    }

    /// Lets others have the lock.
    pub(crate) fn release(&self) {
        if std::mem::take(&mut *locked(&self.is_held)) {
            let mut locks = locked(&self.locks.held);
            let at = locks.iter().position(|held| *held == self.wanted);
            locks.swap_remove(at.expect("held until now"));
            self.locks.released.notify_all();
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        self.release();
    }
}
