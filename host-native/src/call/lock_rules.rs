//! The rules for the locks of a call. It may hold the lock of one place at a time, with at most one
//! writer and one transaction.

use crate::storage::{Error, ErrorCode, LockKey};

/// The locks that a call holds. A place is identified by the key of its lock.
#[derive(Debug, Default)]
pub(crate) struct LockRules {
    /// The place that the call's writer locks. `None` while the call has no writer.
    place: Option<LockKey>,
    /// The number of the call's writer among its resources. `None` while the call has no writer.
    pub(crate) writer: Option<u32>,
    transaction: Option<Transacts>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Transacts {
    /// A transaction that only reads, or that writes to a derived database.
    WithoutLock,
    UnderLock,
}

impl LockRules {
    /// Checks that the call may lock a place for a writer.
    pub(crate) fn check_lock(&self) -> Result<(), Error> {
        if self.writer.is_some() {
            return Err(nested("the call holds a writer already: a call takes one at a time"));
        }
        if self.transaction == Some(Transacts::UnderLock) {
            return Err(nested(
                "the call has a transaction that writes: take the writer before it",
            ));
        }
        Ok(())
    }

    /// Checks that the call may change a registry. The lock of a registry is taken before the lock of a
    /// place.
    pub(crate) fn check_create(&self) -> Result<(), Error> {
        if self.writer.is_some() || self.transaction == Some(Transacts::UnderLock) {
            return Err(nested("the call holds the lock of a place: create a place before it"));
        }
        Ok(())
    }

    /// Checks that the call may begin a transaction, which locks this place if one is given.
    pub(crate) fn check_begin(&self, place: Option<&LockKey>) -> Result<(), Error> {
        if self.transaction.is_some() {
            return Err(nested("the call has a transaction already: a call takes one at a time"));
        }
        match (&self.place, place) {
            (Some(locked), Some(place)) if locked != place => {
                Err(nested("the call holds the lock of another place: a call holds one at a time"))
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn locked(&mut self, place: LockKey, writer: u32) {
        self.place = Some(place);
        self.writer = Some(writer);
    }

    /// The number of the call's writer among its resources, if that writer locks this place.
    pub(crate) fn writer_of(&self, place: &LockKey) -> Option<u32> {
        self.writer.filter(|_| self.place.as_ref() == Some(place))
    }

    pub(crate) fn unlocked(&mut self) {
        self.writer = None;
        self.place = None;
    }

    /// Notes a transaction. `takes_lock` says whether it holds the lock of its place.
    pub(crate) fn begun(&mut self, takes_lock: bool) {
        self.transaction =
            Some(if takes_lock { Transacts::UnderLock } else { Transacts::WithoutLock });
    }

    pub(crate) fn ended(&mut self) {
        self.transaction = None;
    }
}

fn nested(message: &str) -> Error {
    Error::new(ErrorCode::Nested, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(directory: &str) -> LockKey {
        LockKey::Directory(directory.into())
    }

    fn is_nested(checked: Result<(), Error>) -> bool {
        checked.is_err_and(|error| error.code == ErrorCode::Nested)
    }

    #[test]
    fn a_call_locks_one_place_at_a_time() {
        let [a, b] = ["a", "b"].map(key);
        let [a, b] = [&a, &b];
        let mut rules = LockRules::default();
        rules.locked(a.clone(), 1);
        assert!(is_nested(rules.check_lock()) && is_nested(rules.check_begin(Some(b))));
        assert!(rules.check_begin(None).is_ok());
        rules.unlocked();
        assert!(rules.check_lock().is_ok() && rules.check_begin(Some(b)).is_ok());
        rules.begun(true);
        assert!(is_nested(rules.check_lock()) && is_nested(rules.check_begin(Some(a))));
        rules.ended();
        assert!(rules.check_lock().is_ok() && rules.check_begin(Some(a)).is_ok());
    }

    #[test]
    fn a_transaction_goes_on_under_a_writer_and_a_writer_comes_first() {
        let a = &key("a");
        let mut rules = LockRules::default();
        rules.locked(a.clone(), 1);
        assert!(is_nested(rules.check_lock()));
        assert!(rules.check_begin(Some(a)).is_ok());
        rules.begun(true);
        rules.unlocked();
        assert!(is_nested(rules.check_lock()) && is_nested(rules.check_begin(None)));
        rules.ended();
        assert!(rules.check_lock().is_ok());
    }

    #[test]
    fn a_call_creates_a_place_before_it_locks_one() {
        let a = &key("a");
        let mut rules = LockRules::default();
        rules.begun(false);
        assert!(rules.check_create().is_ok());
        rules.ended();
        rules.locked(a.clone(), 1);
        assert!(is_nested(rules.check_create()));
        rules.unlocked();
        assert!(rules.check_create().is_ok());
        rules.begun(true);
        assert!(is_nested(rules.check_create()));
    }

    #[test]
    fn a_transaction_without_a_lock_does_not_hinder_a_writer() {
        let a = &key("a");
        let mut rules = LockRules::default();
        rules.begun(false);
        assert!(rules.check_lock().is_ok());
        assert!(is_nested(rules.check_begin(None)) && is_nested(rules.check_begin(Some(a))));
    }
}
