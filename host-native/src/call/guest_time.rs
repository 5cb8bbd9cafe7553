//! The run time of the component in a call, without the host's work for the call.

use std::time::{Duration, Instant};

/// The processor time of a call's own code on the current thread. Waiting does not count, nor does
/// the host's work for the call.
///
/// Asking the system for a thread's processor time is slow. So the first [`WALL_CLOCK_LIMIT`], which
/// most calls never exceed, is measured with the machine's clock.
pub(crate) struct GuestTime(Measure);

const WALL_CLOCK_LIMIT: Duration = Duration::from_millis(50);

enum Measure {
    WallClock {
        before: Duration,
        /// The last start of the call's own code. `None` while the host works.
        since: Option<Instant>,
    },
    ThreadClock {
        /// The part of the thread's time that is not the call's own.
        other: Duration,
        /// The thread's time when the host began to work. `None` while the call's own code runs.
        stopped: Option<Duration>,
    },
}

/// The processor time of this thread so far.
#[cfg(not(windows))]
fn thread_time() -> Duration {
    use rustix::time::{ClockId, clock_gettime};
    let used = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(used).unwrap_or_default()
}

/// The processor time of this thread so far, in steps of the system's timer (15.6 ms).
#[cfg(windows)]
fn thread_time() -> Duration {
    use windows_sys::Win32::Foundation::FILETIME;
    use windows_sys::Win32::System::Threading::{GetCurrentThread, GetThreadTimes};
    let [mut created, mut ended, mut kernel, mut user] = [FILETIME::default(); 4];
    // SAFETY: the handle is this thread's, and the function only writes to the given memory.
    let is_known = unsafe {
        GetThreadTimes(GetCurrentThread(), &mut created, &mut ended, &mut kernel, &mut user)
    };
    if is_known == 0 {
        return Duration::ZERO;
    }
    let units =
        |time: FILETIME| u64::from(time.dwHighDateTime) << 32 | u64::from(time.dwLowDateTime);
    Duration::from_nanos((units(kernel) + units(user)) * 100)
}

impl GuestTime {
    /// A time that starts now.
    pub(crate) fn new() -> Self {
        GuestTime(Measure::WallClock { before: Duration::ZERO, since: Some(Instant::now()) })
    }

    /// Stops the time: the host begins to work.
    pub(crate) fn stop(&mut self) {
        match &mut self.0 {
            Measure::WallClock { before, since } => {
                *before += since.take().map_or(Duration::ZERO, |since| since.elapsed());
            }
            Measure::ThreadClock { stopped, .. } => *stopped = Some(thread_time()),
        }
    }

    /// Starts the time again: the call's own code continues.
    pub(crate) fn go_on(&mut self) {
        match &mut self.0 {
            Measure::WallClock { since, .. } => *since = Some(Instant::now()),
            Measure::ThreadClock { other, stopped } => {
                if let Some(stopped) = stopped.take() {
                    *other += thread_time().saturating_sub(stopped);
                }
            }
        }
    }

    /// The time so far, while the call's own code runs.
    pub(crate) fn total(&mut self) -> Duration {
        let used = match self.0 {
            Measure::ThreadClock { other, .. } => return thread_time().saturating_sub(other),
            Measure::WallClock { before, since } => {
                before + since.map_or(Duration::ZERO, |since| since.elapsed())
            }
        };
        if used >= WALL_CLOCK_LIMIT {
            let other = thread_time().saturating_sub(WALL_CLOCK_LIMIT);
            self.0 = Measure::ThreadClock { other, stopped: None };
        }
        used.min(WALL_CLOCK_LIMIT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work(time: Duration) {
        let before = thread_time();
        while thread_time() - before < time {}
    }

    /// The time of a call that runs twice for `each`, with waiting and host work in between.
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
    fn only_the_calls_own_code_counts() {
        for each in [10, 80] {
            let each = Duration::from_millis(each);
            let started = Instant::now();
            let total = charged(each);
            assert!(total >= each.min(WALL_CLOCK_LIMIT) + each, "{total:?}");
            assert!(total + 5 * each <= started.elapsed(), "{total:?}");
        }
    }

    #[test]
    fn waiting_for_a_processor_hardly_counts() {
        let mut time = GuestTime::new();
        std::thread::sleep(4 * WALL_CLOCK_LIMIT);
        assert!(time.total() < 2 * WALL_CLOCK_LIMIT);
        std::thread::sleep(4 * WALL_CLOCK_LIMIT);
        assert!(time.total() < 2 * WALL_CLOCK_LIMIT);
    }
}
