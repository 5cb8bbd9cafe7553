//! The arrival of a call: it gets its number, time, seed and place among the writers.

use crate::queue::{Place, Queue};
use jiff::{Timestamp, tz::TimeZone};
use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The clock of calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Clock {
    /// The machine's clock at the arrival of the call.
    #[default]
    System,
    /// Call `k`, counted from 0 in the order of arrival, gets the time `start + k * step`. For tests.
    Fixed {
        /// The time of the first call.
        start: Timestamp,
        /// The time between two calls.
        step: Duration,
    },
}

/// The source of the calls' random seeds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Random {
    /// The operating system's random numbers.
    #[default]
    System,
    /// Call `k`, counted from 0 in the order of arrival, gets the seed `n + k`. For tests.
    Fixed(u64),
}

/// A call that has arrived and has not begun.
///
/// Writers that arrive later wait until this call asks for its lock or is dropped.
pub struct Arrival {
    pub(crate) now: Timestamp,
    pub(crate) utc_offset_minutes: i32,
    pub(crate) seed: u64,
    /// A writer's place among those that have arrived and have not asked for a lock yet.
    ///
    /// Without it, two calls of one client could lock a tree in the wrong order, since calls read at
    /// different speeds before they ask for the lock.
    pub(crate) writer_place: Option<Place>,
    /// Its place among the calls in progress, until it has ended.
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

/// What a call has in common with its repetition.
pub(crate) struct SameCall {
    now: Timestamp,
    utc_offset_minutes: i32,
    seed: u64,
}

impl Arrival {
    /// None for a call that may write.
    pub(crate) fn repeatable(&self) -> Option<SameCall> {
        let Arrival { now, utc_offset_minutes, seed, .. } = *self;
        self.writer_place.is_none().then_some(SameCall { now, utc_offset_minutes, seed })
    }
}

/// Receives calls.
pub(crate) struct Arrivals {
    clock: Clock,
    random: Random,
    /// None: the machine's zone.
    utc_offset_minutes: Option<i32>,
    arrived: Mutex<u64>,
    writers: Queue,
    calls: Queue,
}

impl Arrivals {
    /// At most `at_once` calls run at once. They start in the order of arrival, so that no call waits
    /// for a later one.
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

    /// The same call once more: it has the time and the seed of the first one, and only reads.
    pub(crate) fn again(&self, first: &SameCall) -> Arrival {
        let SameCall { now, utc_offset_minutes, seed } = *first;
        let call_place = self.calls.join();
        Arrival { now, utc_offset_minutes, seed, writer_place: None, call_place }
    }

    pub(crate) fn receive(&self, writes: bool) -> Arrival {
        // Under one lock, so that number, time and place have the same order.
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
    fn a_fixed_clock_and_seed_advance_with_each_call() {
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
    fn each_call_gets_another_seed_from_the_machine() {
        let arrivals = Arrivals::new(Clock::System, Random::System, None, 1);
        assert_ne!(arrivals.receive(false).seed, arrivals.receive(false).seed);
    }
}
