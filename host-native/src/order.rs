//! The order of writers: who came first asks for a lock first.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Poll, Waker};

/// The writers that have arrived and have not yet asked for a lock, by their numbers.
///
/// A call reads before it asks, and calls read at different speeds; without this, two calls of one
/// client could change a tree in the opposite order of their arrival.
#[derive(Clone, Default)]
pub(crate) struct Order(Arc<Mutex<BTreeMap<u64, Option<Waker>>>>);

impl Order {
    /// Takes the last place. Places have to be taken in the order of the numbers.
    pub(crate) fn join(&self, number: u64) -> Turn {
        self.with(|waiting| waiting.insert(number, None));
        Turn { order: self.clone(), number }
    }

    fn with<T>(&self, change: impl FnOnce(&mut BTreeMap<u64, Option<Waker>>) -> T) -> T {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A writer's place. It is given up when this is dropped: once the writer has asked for a lock, or
/// when it ends without.
pub(crate) struct Turn {
    order: Order,
    number: u64,
}

impl Turn {
    /// Waits until every earlier writer has given up its place.
    pub(crate) async fn comes(&self) {
        poll_fn(|context| {
            self.order.with(|waiting| {
                if waiting.first_key_value().map(|(first, _)| *first) == Some(self.number) {
                    return Poll::Ready(());
                }
                waiting.insert(self.number, Some(context.waker().clone()));
                Poll::Pending
            })
        })
        .await;
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let next = self.order.with(|waiting| {
            waiting.remove(&self.number);
            waiting.first_entry().and_then(|mut first| first.get_mut().take())
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

    fn comes(turn: &Turn) -> bool {
        let mut context = Context::from_waker(Waker::noop());
        pin!(turn.comes()).poll(&mut context).is_ready()
    }

    #[test]
    fn a_writer_waits_for_every_earlier_one() {
        let order = Order::default();
        let (first, second, third) = (order.join(0), order.join(1), order.join(2));
        assert!(comes(&first) && !comes(&second) && !comes(&third));
        drop(second);
        assert!(!comes(&third));
        drop(first);
        assert!(comes(&third));
    }

    #[tokio::test]
    async fn a_waiting_writer_wakes_when_the_earlier_one_gives_up() {
        let order = Order::default();
        let (first, second) = (order.join(0), order.join(1));
        let waits = tokio::spawn(async move { second.comes().await });
        tokio::task::yield_now().await;
        assert!(!waits.is_finished());
        drop(first);
        waits.await.unwrap();
    }
}
