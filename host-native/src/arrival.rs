//! What a call gets when it arrives: its number, its time, its seed, and its place among writers.

use crate::queue::{Place, Queue};
use jiff::{Timestamp, tz::TimeZone};
use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Where the calls' time comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Clock {
    /// The machine's clock, read when a call arrives.
    #[default]
    System,
    /// Call `k`, counted from 0 in the order of arrival, sees `start + k * step`. For tests.
    Fixed {
        /// What the first call sees.
        start: Timestamp,
        /// What each further call adds.
        step: Duration,
    },
}

/// Where the calls' seeds come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Random {
    /// The operating system's random numbers.
    #[default]
    System,
    /// Call `k`, counted from 0 in the order of arrival, gets the seed `n + k`. For tests.
    Fixed(u64),
}

/// A call that has arrived and not yet begun.
///
/// A writer that arrives later waits for it to begin and ask for its lock, or to be dropped.
pub struct Arrival {
    pub(crate) now: Timestamp,
    pub(crate) utc_offset_minutes: i32,
    pub(crate) seed: u64,
    /// A writer's place among those that have arrived and have not yet asked for a lock. It is
    /// given up when this is dropped.
    ///
    /// A call reads before it asks, and calls read at different speeds; without this, two calls of
    /// one client could change a tree in the opposite order of their arrival.
    pub(crate) writer_place: Option<Place>,
    /// Its place among the calls that are under way, until it has ended.
    pub(crate) call_place: Place,
}

impl fmt::Debug for Arrival {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Arrival")
            .field("now", &self.now)
            .field("utc_offset_minutes", &self.utc_offset_minutes)
            .field("seed", &self.seed)
            .field("writes", &self.writer_place.is_some())
            .finish()
    }
}

/// Receives calls.
pub(crate) struct Arrivals {
    clock: Clock,
    random: Random,
    /// Instead of the machine's own zone.
    utc_offset_minutes: Option<i32>,
    arrived: Mutex<u64>,
    writers: Queue,
    calls: Queue,
}

impl Arrivals {
    /// At most `at_once` calls are under way; the earliest are, so that none waits for a later one.
    pub(crate) fn new(
        clock: Clock,
        random: Random,
        utc_offset_minutes: Option<i32>,
        at_once: usize,
    ) -> Arrivals {
        Arrivals {
            clock,
            random,
            utc_offset_minutes,
            arrived: Mutex::new(0),
            writers: Queue::new(1),
            calls: Queue::new(at_once),
        }
    }

    pub(crate) fn receive(&self, writes: bool) -> Arrival {
        // The number, the clock and the place are taken as one, so that all agree on who was first.
        let mut arrived = self.arrived.lock().unwrap_or_else(PoisonError::into_inner);
        let number = *arrived;
        *arrived += 1;
        let now = match self.clock {
            Clock::System => Timestamp::now(),
            Clock::Fixed { start, step } => {
                let elapsed = step.saturating_mul(u32::try_from(number).unwrap_or(u32::MAX));
                start.saturating_add(elapsed).unwrap_or(Timestamp::MAX)
            }
        };
        let writer_place = writes.then(|| self.writers.join());
        let call_place = self.calls.join();
        drop(arrived);

        let utc_offset_minutes = self
            .utc_offset_minutes
            .unwrap_or_else(|| TimeZone::system().to_offset(now).seconds() / 60);
        let seed = match self.random {
            Random::System => getrandom::u64().expect("the operating system has random numbers"),
            Random::Fixed(first) => first.wrapping_add(number),
        };
        Arrival { now, utc_offset_minutes, seed, writer_place, call_place }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pinned_calls_count_from_the_first() {
        let clock = Clock::Fixed {
            start: "2025-01-20T10:00:00Z".parse().unwrap(),
            step: Duration::from_millis(1500),
        };
        let arrivals = Arrivals::new(clock, Random::Fixed(7), Some(330), 1);
        arrivals.receive(false);
        let second = arrivals.receive(true);
        assert_eq!(second.now.to_string(), "2025-01-20T10:00:01.5Z");
        assert_eq!(second.utc_offset_minutes, 330);
        assert_eq!(second.seed, 8);
        assert!(second.writer_place.is_some());
    }

    #[test]
    fn the_machine_gives_every_call_another_seed() {
        let arrivals = Arrivals::new(Clock::System, Random::System, None, 1);
        assert_ne!(arrivals.receive(false).seed, arrivals.receive(false).seed);
    }
}
