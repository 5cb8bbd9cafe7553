//! Locking a mutex, also after a test has panicked with it.

use std::sync::{Mutex, MutexGuard, PoisonError};

pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
