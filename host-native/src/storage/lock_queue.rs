//! Which call of a storage has a lock next: first come, first served.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Poll, Waker};

/// Those that hold or wait for locks, in the order in which they came. Each waits for earlier ones
/// alone, so that they never wait for each other.
#[derive(Clone, Debug, Default)]
pub(super) struct LockQueue(Arc<Mutex<Tickets>>);

#[derive(Debug, Default)]
struct Tickets {
    joined: u64,
    taken: BTreeMap<u64, Wants>,
}

/// Locks are known by their paths.
#[derive(Debug)]
struct Wants {
    /// What it holds or waits for.
    locks: Vec<PathBuf>,
    /// The lock asked for last, and another one that earlier calls get before that.
    asks: (PathBuf, Option<PathBuf>),
    waker: Option<Waker>,
}

impl Wants {
    fn waits_for(&self, earlier: &Self) -> bool {
        let (lock, after) = &self.asks;
        earlier.locks.iter().any(|wanted| wanted == lock || Some(wanted) == after.as_ref())
    }
}

impl Tickets {
    fn is_next(&self, number: u64) -> bool {
        let wants = &self.taken[&number];
        !self.taken.range(..number).any(|(_, earlier)| wants.waits_for(earlier))
    }
}

impl LockQueue {
    /// Takes the last place, for a lock; earlier ones that want it or `after` come first.
    pub fn join(&self, lock: PathBuf, after: Option<PathBuf>) -> Ticket {
        let number = self.with(|tickets| {
            tickets.joined += 1;
            let wants = Wants { locks: vec![lock.clone()], asks: (lock, after), waker: None };
            tickets.taken.insert(tickets.joined, wants);
            tickets.joined
        });
        Ticket { queue: self.clone(), number }
    }

    fn with<T>(&self, work: impl FnOnce(&mut Tickets) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A place in a [`LockQueue`], until it is dropped.
#[derive(Debug)]
pub(super) struct Ticket {
    queue: LockQueue,
    number: u64,
}

impl Ticket {
    /// Wants this lock as well, beside those that it holds.
    pub fn want(&self, lock: PathBuf, after: Option<PathBuf>) {
        self.queue.with(|tickets| {
            let wants = tickets.taken.get_mut(&self.number).expect("held by `self`");
            if !wants.locks.contains(&lock) {
                wants.locks.push(lock.clone());
            }
            wants.asks = (lock, after);
        });
    }

    /// Waits until no earlier one holds or wants what this one waits for.
    pub async fn until_next(&self) {
        poll_fn(|context| {
            self.queue.with(|tickets| {
                if tickets.is_next(self.number) {
                    return Poll::Ready(());
                }
                let wants = tickets.taken.get_mut(&self.number).expect("held by `self`");
                wants.waker = Some(context.waker().clone());
                Poll::Pending
            })
        })
        .await;
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let woken: Vec<Waker> = self.queue.with(|tickets| {
            let Some(gone) = tickets.taken.remove(&self.number) else { return Vec::new() };
            let later = tickets.taken.range(self.number..);
            let waited = later.filter(|(_, wants)| wants.waker.is_some() && wants.waits_for(&gone));
            let next: Vec<u64> =
                waited.map(|(number, _)| *number).filter(|one| tickets.is_next(*one)).collect();
            let wants =
                next.iter().filter_map(|number| tickets.taken.get_mut(number)?.waker.take());
            wants.collect()
        });
        woken.into_iter().for_each(Waker::wake);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;
    use std::task::Context;

    fn join(queue: &LockQueue, lock: &str, after: Option<&str>) -> Ticket {
        queue.join(lock.into(), after.map(PathBuf::from))
    }

    fn is_next(ticket: &Ticket) -> bool {
        let mut context = Context::from_waker(Waker::noop());
        pin!(ticket.until_next()).poll(&mut context).is_ready()
    }

    #[test]
    fn a_writer_waits_for_those_before_it_that_want_the_same_alone() {
        let queue = LockQueue::default();
        let [first, second, third] = [(); 3].map(|()| join(&queue, "a", None));
        assert!(is_next(&first) && !is_next(&second) && !is_next(&third));
        assert!(is_next(&join(&queue, "b", None)));
        drop(second);
        assert!(!is_next(&third));
        drop(first);
        assert!(is_next(&third));
    }

    #[test]
    fn who_comes_after_a_lock_waits_for_earlier_ones_that_want_it_and_holds_up_none_of_it() {
        let queue = LockQueue::default();
        let (tree, database) = (join(&queue, "tree", None), join(&queue, "database", Some("tree")));
        let later = join(&queue, "tree", None);
        assert!(is_next(&tree) && !is_next(&database) && !is_next(&later));
        drop(tree);
        assert!(is_next(&database) && is_next(&later));
    }

    #[test]
    fn who_wants_a_second_lock_keeps_the_place() {
        let queue = LockQueue::default();
        let tree = join(&queue, "tree", None);
        let database = join(&queue, "database", Some("tree"));
        let later = join(&queue, "tree", None);
        tree.want("database".into(), Some("tree".into()));
        assert!(is_next(&tree) && !is_next(&database));
        drop(tree);
        later.want("database".into(), Some("tree".into()));
        assert!(is_next(&database) && !is_next(&later));
        drop(database);
        assert!(is_next(&later));
    }

    #[tokio::test]
    async fn all_that_are_next_wake_when_one_leaves() {
        let queue = LockQueue::default();
        let first = join(&queue, "tree", None);
        let others = [join(&queue, "database", Some("tree")), join(&queue, "tree", None)];
        let waiting = others.map(|ticket| tokio::spawn(async move { ticket.until_next().await }));
        tokio::task::yield_now().await;
        assert!(waiting.iter().all(|waits| !waits.is_finished()));
        drop(first);
        for waits in waiting {
            waits.await.unwrap();
        }
    }
}
