//! A queue that serves turns in the order in which they were taken.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Poll, Waker};

/// The turns that are served and those that wait, in the order in which they were taken.
#[derive(Clone, Debug)]
pub(crate) struct Queue(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    /// How many turns are served at once.
    served: usize,
    joined: u64,
    turns: BTreeMap<u64, Option<Waker>>,
}

impl Queue {
    /// A queue that serves `served` turns at once.
    pub(crate) fn new(served: usize) -> Self {
        Queue(Arc::new(Mutex::new(State { served, joined: 0, turns: BTreeMap::new() })))
    }

    /// Takes a turn at the end of the queue.
    pub(crate) fn join(&self) -> Turn {
        let number = self.with(|state| {
            state.joined += 1;
            state.turns.insert(state.joined, None);
            state.joined
        });
        Turn { queue: Queue(Arc::clone(&self.0)), number }
    }

    fn is_empty(&self) -> bool {
        self.with(|state| state.turns.is_empty())
    }

    fn with<T>(&self, work: impl FnOnce(&mut State) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A turn in a [`Queue`], until it is dropped.
#[derive(Debug)]
pub(crate) struct Turn {
    queue: Queue,
    number: u64,
}

impl Turn {
    /// Waits until this turn is served.
    pub(crate) async fn served(&self) {
        poll_fn(|context| {
            self.queue.with(|state| {
                let before = state.turns.range(..self.number);
                if before.take(state.served).count() < state.served {
                    return Poll::Ready(());
                }
                state.turns.insert(self.number, Some(context.waker().clone()));
                Poll::Pending
            })
        })
        .await;
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let next = self.queue.with(|state| {
            state.turns.remove(&self.number);
            state.turns.values_mut().nth(state.served - 1)?.take()
        });
        if let Some(waker) = next {
            waker.wake();
        }
    }
}

/// Queues by key. A key has a queue as long as a turn in it exists.
#[derive(Debug)]
pub(crate) struct Queues<K>(Mutex<BTreeMap<K, Queue>>);

impl<K: Ord> Queues<K> {
    /// Takes a turn at the end of the queue of a key. The queue serves one turn at a time.
    pub(crate) fn join(&self, key: K) -> Turn {
        let mut queues = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        queues.retain(|_, queue| !queue.is_empty());
        queues.entry(key).or_insert_with(|| Queue::new(1)).join()
    }
}

impl<K> Default for Queues<K> {
    fn default() -> Self {
        Queues(Mutex::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;
    use std::task::Context;

    fn is_served(turn: &Turn) -> bool {
        let mut context = Context::from_waker(Waker::noop());
        pin!(turn.served()).poll(&mut context).is_ready()
    }

    #[test]
    fn a_turn_waits_for_those_before_it() {
        let queue = Queue::new(1);
        let first = queue.join();
        let second = queue.join();
        let third = queue.join();
        assert!(is_served(&first) && !is_served(&second) && !is_served(&third));
        drop(second);
        assert!(!is_served(&third));
        drop(first);
        assert!(is_served(&third));
    }

    #[test]
    fn a_queue_that_serves_two_at_once_lets_the_third_wait() {
        let queue = Queue::new(2);
        let first = queue.join();
        let second = queue.join();
        let third = queue.join();
        assert!(is_served(&first) && is_served(&second) && !is_served(&third));
        drop(second);
        assert!(is_served(&third));
    }

    #[tokio::test]
    async fn a_waiting_turn_wakes_when_the_one_before_it_is_dropped() {
        let queue = Queue::new(1);
        let first = queue.join();
        let second = queue.join();
        let waits = tokio::spawn(async move { second.served().await });
        tokio::task::yield_now().await;
        assert!(!waits.is_finished());
        drop(first);
        waits.await.unwrap();
    }
}
