//! What calls have changed, for those who want to hear of it.

use std::sync::Arc;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::broadcast::{Receiver, Sender, channel};

/// So many changes are kept for one who is slow to hear of them.
const KEPT: usize = 256;

/// What a call has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Changed {
    /// The resources of these URIs.
    Resources(Arc<[String]>),
    /// More than could be kept until it was heard: perhaps any resource.
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

/// The changes that calls of one [`Memory`](crate::Memory) make from now on. Those of other
/// processes are not among them.
#[derive(Debug)]
pub struct Changes(Receiver<Arc<[String]>>);

impl Changes {
    /// Waits for the next one; none when there can be no more.
    pub async fn next(&mut self) -> Option<Changed> {
        match self.0.recv().await {
            Ok(uris) => Some(Changed::Resources(uris)),
            Err(RecvError::Lagged(_)) => Some(Changed::Anything),
            Err(RecvError::Closed) => None,
        }
    }
}

/// Tells whoever listens.
pub(crate) struct Teller(Sender<Arc<[String]>>);

impl Teller {
    pub(crate) fn new() -> Teller {
        Teller(channel(KEPT).0)
    }

    pub(crate) fn listen(&self) -> Changes {
        Changes(self.0.subscribe())
    }

    pub(crate) fn tell(&self, changed: &[String]) {
        if !changed.is_empty() {
            // Nobody may be listening.
            let _ = self.0.send(changed.into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn who_is_too_slow_hears_that_anything_may_have_changed() {
        let teller = Teller::new();
        let mut changes = teller.listen();
        teller.tell(&[]);
        teller.tell(&["a".to_owned()]);
        let first = changes.next().await.unwrap();
        assert!(first.concerns("a") && !first.concerns("b"), "{first:?}");
        (0..=KEPT).for_each(|_| teller.tell(&["a".to_owned()]));
        assert_eq!(changes.next().await, Some(Changed::Anything));
        assert!(matches!(changes.next().await, Some(Changed::Resources(_))));
    }
}
