//! Notifies subscribers of the resources that calls have changed.

use std::sync::Arc;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::broadcast::{Receiver, Sender, channel};

/// How many changes wait for a slow subscriber. Older ones are dropped.
const BACKLOG: usize = 256;

/// A change that a call has made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Changed {
    /// The resources of these URIs.
    Resources(Arc<[String]>),
    /// Perhaps any resource: the subscriber was too slow, and changes were dropped.
    Anything,
}

impl Changed {
    /// Whether the resource of this URI may have changed.
    pub fn concerns(&self, uri: &str) -> bool {
        match self {
            Changed::Resources(uris) => uris.iter().any(|changed| changed == uri),
            Changed::Anything => true,
        }
    }
}

/// The changes that calls of one [`AgentMemory`](crate::AgentMemory) make from now on. Changes by other
/// processes are not reported.
#[derive(Debug)]
pub struct Changes(Receiver<Arc<[String]>>);

impl Changes {
    /// Waits for the next change. `None` if the memory was dropped.
    pub async fn next(&mut self) -> Option<Changed> {
        match self.0.recv().await {
            Ok(uris) => Some(Changed::Resources(uris)),
            Err(RecvError::Lagged(_)) => Some(Changed::Anything),
            Err(RecvError::Closed) => None,
        }
    }
}

/// Sends the changes of calls to all subscribers.
pub(crate) struct Notifier(Sender<Arc<[String]>>);

impl Notifier {
    pub(crate) fn new() -> Notifier {
        Notifier(channel(BACKLOG).0)
    }

    pub(crate) fn subscribe(&self) -> Changes {
        Changes(self.0.subscribe())
    }

    pub(crate) fn notify(&self, changed: &[String]) {
        if !changed.is_empty() {
            // An error means that there are no subscribers.
            let _ = self.0.send(changed.into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_slow_subscriber_learns_that_anything_may_have_changed() {
        let notifier = Notifier::new();
        let mut changes = notifier.subscribe();
        notifier.notify(&[]);
        notifier.notify(&["a".to_owned()]);
        let first = changes.next().await.unwrap();
        assert!(first.concerns("a") && !first.concerns("b"), "{first:?}");
        (0..=BACKLOG).for_each(|_| notifier.notify(&["a".to_owned()]));
        assert_eq!(changes.next().await, Some(Changed::Anything));
        assert!(matches!(changes.next().await, Some(Changed::Resources(_))));
    }
}
