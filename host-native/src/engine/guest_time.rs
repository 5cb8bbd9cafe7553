//! How long a call's own code has run.

use rustix::time::{ClockId, clock_gettime};
use std::future::poll_fn;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The time in which a call's own code ran: while it had a processor, and not while it waited for
/// one, for a lock, a disk, or its turn on the thread. On a busy machine that is much less than has
/// passed.
#[derive(Clone, Default)]
pub(super) struct GuestTime(Arc<Mutex<Running>>);

#[derive(Default)]
struct Running {
    spent: Duration,
    /// What the thread that polls had used when it began to.
    since: Option<Duration>,
}

/// What this thread has used of a processor so far.
fn used_by_this_thread() -> Duration {
    let used = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(used).unwrap_or_default()
}

impl GuestTime {
    /// Runs a future to its end and counts the time in which it runs.
    pub(super) async fn measure<F: Future>(&self, future: F) -> F::Output {
        let mut future = pin!(future);
        poll_fn(|context| {
            self.with(|running| running.since = Some(used_by_this_thread()));
            let polled = future.as_mut().poll(context);
            self.with(|running| {
                running.spent = running.total();
                running.since = None;
            });
            polled
        })
        .await
    }

    /// Asked by the thread that runs the call, or by any other between two polls.
    pub(super) fn total(&self) -> Duration {
        self.with(|running| running.total())
    }

    fn with<T>(&self, look: impl FnOnce(&mut Running) -> T) -> T {
        look(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Running {
    fn total(&self) -> Duration {
        let running = |since| used_by_this_thread().saturating_sub(since);
        self.spent + self.since.map_or(Duration::ZERO, running)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[tokio::test]
    async fn waiting_does_not_count_and_running_does() {
        let time = GuestTime::default();
        let started = Instant::now();
        time.measure(async {
            tokio::time::sleep(Duration::from_millis(200)).await;
            let before = used_by_this_thread();
            while used_by_this_thread() - before < Duration::from_millis(20) {}
        })
        .await;
        assert!(time.total() >= Duration::from_millis(20));
        assert!(time.total() + Duration::from_millis(200) <= started.elapsed());
    }
}
