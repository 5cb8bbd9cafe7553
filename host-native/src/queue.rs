//! First come, first served.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Poll, Waker};

/// Those that hold or wait for something, in the order in which they came. What differs in `For` is
/// waited for apart.
#[derive(Clone, Debug)]
pub(crate) struct Queue<For>(Arc<Mutex<Line<For>>>);

#[derive(Debug)]
struct Line<For> {
    /// How many are served at once.
    served: usize,
    joined: u64,
    places: BTreeMap<u64, (For, Option<Waker>)>,
}

impl<For: PartialEq> Queue<For> {
    /// A queue that serves so many at once.
    pub(crate) fn new(served: usize) -> Self {
        Queue(Arc::new(Mutex::new(Line { served, joined: 0, places: BTreeMap::new() })))
    }

    /// Takes the last place.
    pub(crate) fn join(&self, wanted: For) -> Place<For> {
        let number = self.with(|line| {
            line.joined += 1;
            line.places.insert(line.joined, (wanted, None));
            line.joined
        });
        Place { queue: Queue(Arc::clone(&self.0)), number }
    }

    fn with<T>(&self, work: impl FnOnce(&mut Line<For>) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A place in a [`Queue`], until it is dropped.
#[derive(Debug)]
pub(crate) struct Place<For: PartialEq> {
    queue: Queue<For>,
    number: u64,
}

impl<For: PartialEq> Place<For> {
    /// Waits until it is served: until few enough before it want the same.
    pub(crate) async fn is_served(&self) {
        poll_fn(|context| {
            self.queue.with(|line| {
                let wanted = &line.places[&self.number].0;
                let before = line.places.range(..self.number);
                let before = before.filter(|(_, (other, _))| other == wanted);
                if before.take(line.served).count() < line.served {
                    return Poll::Ready(());
                }
                let place = line.places.get_mut(&self.number).expect("held by `self`");
                place.1 = Some(context.waker().clone());
                Poll::Pending
            })
        })
        .await;
    }
}

impl<For: PartialEq> Drop for Place<For> {
    fn drop(&mut self) {
        let next = self.queue.with(|line| {
            let (wanted, _) = line.places.remove(&self.number)?;
            let mut others = line.places.values_mut().filter(|(other, _)| *other == wanted);
            others.nth(line.served - 1)?.1.take()
        });
        if let Some(waker) = next {
            waker.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;
    use std::task::Context;

    fn is_served(place: &Place<char>) -> bool {
        let mut context = Context::from_waker(Waker::noop());
        pin!(place.is_served()).poll(&mut context).is_ready()
    }

    #[test]
    fn a_writer_waits_for_those_before_it_that_want_the_same_alone() {
        let queue = Queue::new(1);
        let (first, second, third) = (queue.join('a'), queue.join('a'), queue.join('a'));
        assert!(is_served(&first) && !is_served(&second) && !is_served(&third));
        assert!(is_served(&queue.join('b')));
        drop(second);
        assert!(!is_served(&third));
        drop(first);
        assert!(is_served(&third));
    }

    #[test]
    fn as_many_as_are_served_at_once_wait_for_nobody() {
        let queue = Queue::new(2);
        let (first, second, third) = (queue.join('a'), queue.join('a'), queue.join('a'));
        assert!(is_served(&first) && is_served(&second) && !is_served(&third));
        drop(second);
        assert!(is_served(&third));
    }

    #[tokio::test]
    async fn a_waiting_writer_wakes_when_the_one_before_it_leaves() {
        let queue = Queue::new(1);
        let (first, second) = (queue.join('a'), queue.join('a'));
        let waits = tokio::spawn(async move { second.is_served().await });
        tokio::task::yield_now().await;
        assert!(!waits.is_finished());
        drop(first);
        waits.await.unwrap();
    }
}
