//! The arrival of a call: it gets its number, time, seed and turn among the writers.

use crate::capability::toolbox::Zone;
use crate::queue::{Queue, Queues, Turn};
use crate::zone::CallZone;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The source of the times of calls.
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
/// If the call may write, later writers of the same client wait until this call asks for its lock or is
/// dropped.
pub struct Arrival {
    pub(crate) now: Timestamp,
    pub(crate) zone: Arc<Zone>,
    pub(crate) seed: u64,
    /// The turn of a call that may write, among the writers of its client that have not asked for a
    /// lock yet.
    ///
    /// Without it, two calls of one client could lock a tree in the wrong order, since calls read at
    /// different speeds before they ask for the lock. Writers of other clients do not wait for it: a
    /// call may read for seconds.
    pub(crate) writer_turn: Option<Turn>,
    /// The turn of the call among the calls that run or wait to run. It is freed when the call has
    /// ended.
    pub(crate) call_turn: Turn,
}

impl fmt::Debug for Arrival {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Arrival")
            .field("now", &self.now)
            .field("seed", &self.seed)
            .field("writes", &self.writer_turn.is_some())
            .finish()
    }
}

/// The time, zone and seed of a call, so that the call can be run again with the same ones.
pub(crate) struct SameCall {
    now: Timestamp,
    zone: Arc<Zone>,
    seed: u64,
}

impl Arrival {
    /// The values with which the call can be run [again](Arrivals::again). `None` for a call that may
    /// write.
    pub(crate) fn repeatable(&self) -> Option<SameCall> {
        let same = || SameCall { now: self.now, zone: self.zone.clone(), seed: self.seed };
        self.writer_turn.is_none().then(same)
    }
}

/// Receives calls.
pub(crate) struct Arrivals {
    clock: Clock,
    random: Random,
    zone: CallZone,
    arrived: Mutex<u64>,
    /// The writers that have not asked for a lock yet, by client.
    writers: Queues<String>,
    calls: Queue,
}

impl Arrivals {
    /// Without a `zone`, calls have the machine's zone. At most `at_once` calls run at once. They start
    /// in the order of arrival, so that no call waits for a later one.
    pub(crate) fn new(
        clock: Clock,
        random: Random,
        zone: Option<TimeZone>,
        at_once: usize,
    ) -> Arrivals {
        Arrivals {
            clock,
            random,
            zone: CallZone::new(zone),
            arrived: Mutex::new(0),
            writers: Queues::default(),
            calls: Queue::new(at_once),
        }
    }

    /// The arrival of a read-only call that is run again, with the time, zone and seed of its first run.
    pub(crate) fn again(&self, first: &SameCall) -> Arrival {
        let call_turn = self.calls.join();
        let SameCall { now, zone, seed } = first;
        Arrival { now: *now, zone: zone.clone(), seed: *seed, writer_turn: None, call_turn }
    }

    /// Receives a call. `writer` is the client of a call that may write, and `None` for a call that
    /// only reads.
    pub(crate) fn receive(&self, writer: Option<String>) -> Arrival {
        // Under one lock, so that number, time and turn have the same order.
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
        let writer_turn = writer.map(|client| self.writers.join(client));
        let call_turn = self.calls.join();
        drop(arrived);

        let seed = match self.random {
            Random::System => getrandom::u64().expect("the operating system has random numbers"),
            Random::Fixed(first) => first.wrapping_add(number),
        };
        Arrival { now, zone: self.zone.now(), seed, writer_turn, call_turn }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;
    use std::task::{Context, Waker};

    fn may_ask_for_its_lock(arrival: &Arrival) -> bool {
        let turn = arrival.writer_turn.as_ref().expect("a writer");
        pin!(turn.served()).poll(&mut Context::from_waker(Waker::noop())).is_ready()
    }

    #[test]
    fn a_fixed_clock_and_seed_advance_with_each_call() {
        let clock = Clock::Fixed {
            start: "2025-01-20T10:00:00Z".parse().unwrap(),
            step: Duration::from_millis(1500),
        };
        let zone = Some(TimeZone::fixed(jiff::tz::offset(5)));
        let arrivals = Arrivals::new(clock, Random::Fixed(7), zone, 1);
        arrivals.receive(None);
        let second = arrivals.receive(Some("ada".to_owned()));
        assert_eq!(second.now.to_string(), "2025-01-20T10:00:01.5Z");
        assert_eq!(second.zone.offset_minutes, 300);
        assert_eq!(second.seed, 8);
        assert!(second.writer_turn.is_some());
    }

    #[test]
    fn each_call_gets_another_seed_from_the_machine() {
        let arrivals = Arrivals::new(Clock::System, Random::System, None, 1);
        assert_ne!(arrivals.receive(None).seed, arrivals.receive(None).seed);
    }

    #[test]
    fn a_writer_waits_for_the_earlier_writers_of_its_own_client_alone() {
        let arrivals = Arrivals::new(Clock::System, Random::System, None, 4);
        let [first, other, second] =
            ["ada", "bob", "ada"].map(|client| arrivals.receive(Some(client.to_owned())));
        assert!(may_ask_for_its_lock(&first));
        assert!(may_ask_for_its_lock(&other));
        assert!(!may_ask_for_its_lock(&second));
        drop(first);
        assert!(may_ask_for_its_lock(&second));
    }
}
