//! The rest of an embedder that gave no vector for a query.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long searches do not ask it.
pub(crate) const REST: Duration = Duration::from_secs(30);

/// The end of the last rest.
#[derive(Debug, Default)]
pub(crate) struct Rest(Mutex<Option<Instant>>);

impl Rest {
    pub(crate) fn lasts(&self, now: Instant) -> bool {
        self.end().is_some_and(|end| now < end)
    }

    /// Begins a rest, and returns whether there was none.
    pub(crate) fn begin(&self, now: Instant) -> bool {
        let mut end = self.end();
        let is_new = end.is_none_or(|end| end <= now);
        if is_new {
            *end = Some(now + REST);
        }
        is_new
    }

    fn end(&self) -> MutexGuard<'_, Option<Instant>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rest_lasts_30_s_and_a_later_failure_begins_another() {
        let (rest, start) = (Rest::default(), Instant::now());
        let after = |seconds| start + Duration::from_secs(seconds);
        assert!(!rest.lasts(start));
        assert!(rest.begin(start));
        assert!(rest.lasts(after(29)));
        assert!(!rest.begin(after(29)), "a search that asked before it is no new one");
        assert!(!rest.lasts(after(30)));
        assert!(rest.begin(after(30)));
        assert!(rest.lasts(after(59)));
    }
}
