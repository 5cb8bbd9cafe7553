//! The deadline of a hook.

use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

/// The moment at which a hook gives up.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deadline(Instant);

impl Deadline {
    pub(super) fn after(time: Duration) -> Self {
        Deadline(Instant::now() + time)
    }

    /// The time until the deadline.
    pub(super) fn left(self) -> Duration {
        self.0.saturating_duration_since(Instant::now())
    }

    /// A deadline that leaves half of the time for something else.
    pub(super) fn half(self) -> Self {
        Deadline::after(self.left() / 2)
    }

    /// Runs work that may never end, on a thread. `None` if it does not end in time: then it goes on
    /// until the program ends.
    pub(super) fn in_time<T: Send + 'static>(
        self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let (sender, receiver) = channel();
        let worker = thread::Builder::new().spawn(move || {
            // The receiver is gone after the deadline.
            let _ = sender.send(work());
        });
        worker.ok()?;
        receiver.recv_timeout(self.left()).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_never_ends_is_given_up() {
        let (kept, never) = channel::<()>();
        let late = Deadline::after(Duration::ZERO);
        assert!(late.in_time(move || never.recv()).is_none());
        drop(kept);
        assert_eq!(Deadline::after(Duration::from_secs(600)).half().in_time(|| 1), Some(1));
    }
}
