//! How long a call's own code has run.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The time in which a call's own code ran: while it had a thread, and not while it waited for a
/// lock, a disk, or its turn on the thread.
#[derive(Clone, Default)]
pub(super) struct GuestTime(Arc<Mutex<Running>>);

#[derive(Default)]
struct Running {
    spent: Duration,
    since: Option<Instant>,
}

impl GuestTime {
    /// Runs a future to its end and counts the time in which it runs.
    pub(super) async fn measure<F: Future>(&self, future: F) -> F::Output {
        let mut future = pin!(future);
        poll_fn(|context| {
            self.with(|running| running.since = Some(Instant::now()));
            let polled = future.as_mut().poll(context);
            self.with(|running| {
                running.spent = running.total();
                running.since = None;
            });
            polled
        })
        .await
    }

    pub(super) fn total(&self) -> Duration {
        self.with(|running| running.total())
    }

    fn with<T>(&self, look: impl FnOnce(&mut Running) -> T) -> T {
        look(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Running {
    fn total(&self) -> Duration {
        self.spent + self.since.map_or(Duration::ZERO, |since| since.elapsed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn waiting_does_not_count_and_running_does() {
        let time = GuestTime::default();
        let started = Instant::now();
        time.measure(async {
            tokio::time::sleep(Duration::from_millis(200)).await;
            let running = Instant::now();
            while running.elapsed() < Duration::from_millis(20) {}
        })
        .await;
        assert!(time.total() >= Duration::from_millis(20));
        assert!(time.total() + Duration::from_millis(200) <= started.elapsed());
    }
}
