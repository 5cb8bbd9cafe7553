//! How long a call's own code has run.

use rustix::time::{ClockId, clock_gettime};
use std::time::{Duration, Instant};

/// The time in which a call's own code ran on the thread that this was made on: while it had a
/// processor, and not while it waited for one, for a lock or a disk, nor while the host worked for
/// it. On a busy machine that is much less than has passed.
///
/// To ask the system what a thread has used costs as much as many a thing that the host does for a
/// call. So the beginning, which is all that most calls take, is told by the machine's clock; it
/// counts as [`ROUGH`] at most, however long the thread had to wait meanwhile.
pub(super) struct GuestTime(Told);

const ROUGH: Duration = Duration::from_millis(50);

enum Told {
    Roughly {
        before: Duration,
        /// When the call's own code began to run again; none while the host works.
        since: Option<Instant>,
    },
    Exactly {
        /// What of the thread's time is not the call's own.
        other: Duration,
        /// What the thread had used when the host began to work.
        stopped: Option<Duration>,
    },
}

/// What this thread has used of a processor so far.
fn used_by_this_thread() -> Duration {
    let used = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(used).unwrap_or_default()
}

impl GuestTime {
    /// Begins now.
    pub(super) fn new() -> Self {
        GuestTime(Told::Roughly { before: Duration::ZERO, since: Some(Instant::now()) })
    }

    /// The host begins to work.
    pub(super) fn stop(&mut self) {
        match &mut self.0 {
            Told::Roughly { before, since } => {
                *before += since.take().map_or(Duration::ZERO, |since| since.elapsed());
            }
            Told::Exactly { stopped, .. } => *stopped = Some(used_by_this_thread()),
        }
    }

    /// The call's own code goes on.
    pub(super) fn go_on(&mut self) {
        match &mut self.0 {
            Told::Roughly { since, .. } => *since = Some(Instant::now()),
            Told::Exactly { other, stopped } => {
                if let Some(stopped) = stopped.take() {
                    *other += used_by_this_thread().saturating_sub(stopped);
                }
            }
        }
    }

    /// How much it is, while the call's own code runs.
    pub(super) fn total(&mut self) -> Duration {
        let used = match self.0 {
            Told::Exactly { other, .. } => return used_by_this_thread().saturating_sub(other),
            Told::Roughly { before, since } => {
                before + since.map_or(Duration::ZERO, |since| since.elapsed())
            }
        };
        if used >= ROUGH {
            let other = used_by_this_thread().saturating_sub(ROUGH);
            self.0 = Told::Exactly { other, stopped: None };
        }
        used.min(ROUGH)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work(time: Duration) {
        let before = used_by_this_thread();
        while used_by_this_thread() - before < time {}
    }

    /// What a call is charged that runs so long twice, while the host works as long in between and
    /// waits before.
    fn charged(each: Duration) -> Duration {
        let mut time = GuestTime::new();
        work(each);
        time.total();
        time.stop();
        std::thread::sleep(4 * each);
        work(each);
        time.go_on();
        work(each);
        time.total()
    }

    #[test]
    fn running_counts_and_neither_waiting_nor_the_hosts_work_does() {
        for each in [10, 80] {
            let each = Duration::from_millis(each);
            let (started, total) = (Instant::now(), charged(each));
            assert!(total >= each.min(ROUGH) + each, "{total:?}");
            assert!(total + 5 * each <= started.elapsed(), "{total:?}");
        }
    }

    #[test]
    fn a_thread_that_waits_for_a_processor_is_charged_little() {
        let mut time = GuestTime::new();
        std::thread::sleep(4 * ROUGH);
        assert!(time.total() < 2 * ROUGH);
        std::thread::sleep(4 * ROUGH);
        assert!(time.total() < 2 * ROUGH);
    }
}
