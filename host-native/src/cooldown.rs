//! The cool-down of an embedder: after it gave no vector for a query, searches do not ask it for a
//! while.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// For how long searches do not ask the embedder after it gave no vector.
pub(crate) const COOLDOWN: Duration = Duration::from_secs(30);

/// The end of the last cool-down.
#[derive(Debug, Default)]
pub(crate) struct Cooldown(Mutex<Option<Instant>>);

impl Cooldown {
    pub(crate) fn lasts(&self, now: Instant) -> bool {
        self.end().is_some_and(|end| now < end)
    }

    /// Begins a cool-down, unless one has not ended yet. Returns whether it began.
    pub(crate) fn begin(&self, now: Instant) -> bool {
        let mut end = self.end();
        let is_new = end.is_none_or(|end| end <= now);
        if is_new {
            *end = Some(now + COOLDOWN);
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
    fn a_cooldown_lasts_30_s_and_a_later_failure_begins_another() {
        let cooldown = Cooldown::default();
        let start = Instant::now();
        let after = |seconds| start + Duration::from_secs(seconds);
        assert!(!cooldown.lasts(start));
        assert!(cooldown.begin(start));
        assert!(cooldown.lasts(after(29)));
        assert!(!cooldown.begin(after(29)), "a search that asked before it is no new one");
        assert!(!cooldown.lasts(after(30)));
        assert!(cooldown.begin(after(30)));
        assert!(cooldown.lasts(after(59)));
    }
}
