//! First come, first served.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Poll, Waker};

/// Those that are served or wait for it, in the order in which they came.
#[derive(Clone, Debug)]
pub(crate) struct Queue(Arc<Mutex<Line>>);

#[derive(Debug)]
struct Line {
    /// How many are served at once.
    served: usize,
    joined: u64,
    places: BTreeMap<u64, Option<Waker>>,
}

impl Queue {
    /// A queue that serves so many at once.
    pub(crate) fn new(served: usize) -> Self {
        Queue(Arc::new(Mutex::new(Line { served, joined: 0, places: BTreeMap::new() })))
    }

    /// Takes the last place.
    pub(crate) fn join(&self) -> Place {
        let number = self.with(|line| {
            line.joined += 1;
            line.places.insert(line.joined, None);
            line.joined
        });
        Place { queue: Queue(Arc::clone(&self.0)), number }
    }

    fn with<T>(&self, work: impl FnOnce(&mut Line) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A place in a [`Queue`], until it is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    queue: Queue,
    number: u64,
}

impl Place {
    /// Waits until it is served: until few enough are before it.
    pub(crate) async fn is_served(&self) {
        poll_fn(|context| {
            self.queue.with(|line| {
                let before = line.places.range(..self.number);
                if before.take(line.served).count() < line.served {
                    return Poll::Ready(());
                }
                line.places.insert(self.number, Some(context.waker().clone()));
                Poll::Pending
            })
        })
        .await;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let next = self.queue.with(|line| {
            line.places.remove(&self.number);
            line.places.values_mut().nth(line.served - 1)?.take()
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

    fn is_served(place: &Place) -> bool {
        let mut context = Context::from_waker(Waker::noop());
        pin!(place.is_served()).poll(&mut context).is_ready()
    }

    #[test]
    fn a_writer_waits_for_those_before_it() {
        let queue = Queue::new(1);
        let (first, second, third) = (queue.join(), queue.join(), queue.join());
        assert!(is_served(&first) && !is_served(&second) && !is_served(&third));
        drop(second);
        assert!(!is_served(&third));
        drop(first);
        assert!(is_served(&third));
    }

    #[test]
    fn as_many_as_are_served_at_once_wait_for_nobody() {
        let queue = Queue::new(2);
        let (first, second, third) = (queue.join(), queue.join(), queue.join());
        assert!(is_served(&first) && is_served(&second) && !is_served(&third));
        drop(second);
        assert!(is_served(&third));
    }

    #[tokio::test]
    async fn a_waiting_writer_wakes_when_the_one_before_it_leaves() {
        let queue = Queue::new(1);
        let (first, second) = (queue.join(), queue.join());
        let waits = tokio::spawn(async move { second.is_served().await });
        tokio::task::yield_now().await;
        assert!(!waits.is_finished());
        drop(first);
        waits.await.unwrap();
    }
}
