//! How long a call's own code has run.

use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// The time in which a call's own code ran on the thread that this was made on: while it had a
/// processor, and not while it waited for one, for a lock or a disk, nor while the host worked for
/// it. On a busy machine that is much less than has passed.
pub(super) struct GuestTime {
    /// What the thread had used before, and what it has used for the host's work since.
    other: Duration,
}

/// What this thread has used of a processor so far.
fn used_by_this_thread() -> Duration {
    let used = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(used).unwrap_or_default()
}

impl GuestTime {
    /// Begins now.
    pub(super) fn new() -> Self {
        GuestTime { other: used_by_this_thread() }
    }

    pub(super) fn total(&self) -> Duration {
        used_by_this_thread().saturating_sub(self.other)
    }

    /// Takes time off that began when the total was `before`.
    pub(super) fn leave_out_since(&mut self, before: Duration) {
        self.other += self.total().saturating_sub(before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    fn work() {
        let before = used_by_this_thread();
        while used_by_this_thread() - before < Duration::from_millis(20) {}
    }

    #[test]
    fn running_counts_and_neither_waiting_nor_the_hosts_work_does() {
        let started = Instant::now();
        let mut time = GuestTime::new();
        std::thread::sleep(Duration::from_millis(200));
        work();
        let before = time.total();
        work();
        time.leave_out_since(before);
        assert!(time.total() >= Duration::from_millis(20));
        assert!(time.total() + Duration::from_millis(220) <= started.elapsed());
    }
}
