//! First come, first served among the writers of one process, for each lock.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Poll, Waker};

/// The writers that hold or wait for a lock, in the order in which they asked.
#[derive(Clone, Debug, Default)]
pub(super) struct Queue(Arc<Mutex<Line>>);

#[derive(Debug, Default)]
struct Line {
    joined: u64,
    writers: BTreeMap<u64, (PathBuf, Option<Waker>)>,
}

impl Queue {
    /// Takes the last place for a lock.
    pub fn join(&self, lock: &Path) -> Place {
        let number = self.with(|line| {
            line.joined += 1;
            line.writers.insert(line.joined, (lock.to_owned(), None));
            line.joined
        });
        Place { queue: self.clone(), number }
    }

    fn with<T>(&self, work: impl FnOnce(&mut Line) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A place in the queue of one lock, until it is dropped.
#[derive(Debug)]
pub(super) struct Place {
    queue: Queue,
    number: u64,
}

impl Place {
    /// Waits until it is the first.
    pub async fn is_first(&self) {
        poll_fn(|context| {
            self.queue.with(|line| {
                let (before, rest) = (line.writers.range(..self.number), &line.writers);
                let lock = &rest[&self.number].0;
                if !before.into_iter().any(|(_, (other, _))| other == lock) {
                    return Poll::Ready(());
                }
                let place = line.writers.get_mut(&self.number).expect("held by `self`");
                place.1 = Some(context.waker().clone());
                Poll::Pending
            })
        })
        .await;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let next = self.queue.with(|line| {
            let (lock, _) = line.writers.remove(&self.number)?;
            let next = line.writers.values_mut().find(|(other, _)| *other == lock)?;
            next.1.take()
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

    fn is_first(place: &Place) -> bool {
        let mut context = Context::from_waker(Waker::noop());
        pin!(place.is_first()).poll(&mut context).is_ready()
    }

    #[test]
    fn a_writer_waits_for_those_before_it_at_the_same_lock_alone() {
        let queue = Queue::default();
        let (a, b) = (Path::new("/a"), Path::new("/b"));
        let (first, second, third) = (queue.join(a), queue.join(a), queue.join(a));
        assert!(is_first(&first) && !is_first(&second) && !is_first(&third));
        assert!(is_first(&queue.join(b)));
        drop(second);
        assert!(!is_first(&third));
        drop(first);
        assert!(is_first(&third));
    }

    #[tokio::test]
    async fn a_waiting_writer_wakes_when_the_one_before_it_leaves() {
        let queue = Queue::default();
        let lock = Path::new("/a");
        let (first, second) = (queue.join(lock), queue.join(lock));
        let waits = tokio::spawn(async move { second.is_first().await });
        tokio::task::yield_now().await;
        assert!(!waits.is_finished());
        drop(first);
        waits.await.unwrap();
    }
}
