use crate::{Changes, Memory};
use rmcp::model::ResourceUpdatedNotificationParam;
use rmcp::service::{Peer, RoleServer};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use tokio_util::sync::CancellationToken;

/// The most resources that one client subscribes to.
pub(super) const MAX_SUBSCRIPTIONS: usize = 1_000;

/// What a client that began with `initialize` has subscribed to: each resource by a request of its
/// own, all told over the one connection. In the stateless era a request lists them and is told.
#[derive(Clone, Default)]
pub(super) struct Subscriptions(Arc<Mutex<Subscribed>>);

#[derive(Default)]
struct Subscribed {
    uris: BTreeSet<String>,
    /// Whether there is a task that tells the client.
    told: bool,
}

impl Subscriptions {
    /// Adds a resource; false where there are too many.
    pub(super) fn add(
        &self,
        uri: String,
        memory: &Memory,
        client: Peer<RoleServer>,
        end: &CancellationToken,
    ) -> bool {
        let begins = self.with(|subscribed| {
            if subscribed.uris.len() == MAX_SUBSCRIPTIONS && !subscribed.uris.contains(&uri) {
                return None;
            }
            subscribed.uris.insert(uri);
            Some(!std::mem::replace(&mut subscribed.told, true))
        });
        if begins == Some(true) {
            let (all, changes, end) = (self.clone(), memory.changes(), end.clone());
            tokio::spawn(async move { end.run_until_cancelled(all.tell(changes, client)).await });
        }
        begins.is_some()
    }

    /// Ends a subscription, if there is one.
    pub(super) fn remove(&self, uri: &str) {
        self.with(|subscribed| subscribed.uris.remove(uri));
    }

    async fn tell(self, mut changes: Changes, client: Peer<RoleServer>) {
        while let Some(changed) = changes.next().await {
            let concerned = |uri: &&String| changed.concerns(uri);
            let uris: Vec<_> =
                self.with(|subscribed| subscribed.uris.iter().filter(concerned).cloned().collect());
            for uri in uris {
                let updated = ResourceUpdatedNotificationParam::new(uri);
                if client.notify_resource_updated(updated).await.is_err() {
                    return;
                }
            }
        }
    }

    fn with<T>(&self, work: impl FnOnce(&mut Subscribed) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
