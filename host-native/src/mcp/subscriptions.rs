use crate::{AgentMemory, Changes};
use rmcp::model::ResourceUpdatedNotificationParam;
use rmcp::service::{Peer, RoleServer};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use tokio_util::sync::CancellationToken;

/// How many resources one client may subscribe to.
pub(super) const MAX_SUBSCRIPTIONS: usize = 1_000;

/// The subscriptions of a client that began with `initialize`. It subscribes to each resource by a
/// request, and gets all notifications over one connection. A stateless client lists all resources in
/// one request.
#[derive(Clone, Default)]
pub(super) struct Subscriptions(Arc<Mutex<Subscribed>>);

#[derive(Default)]
struct Subscribed {
    uris: BTreeSet<String>,
    /// Whether the task that notifies the client has started.
    started: bool,
}

impl Subscriptions {
    /// Adds a resource. Returns `false` if the client has [`MAX_SUBSCRIPTIONS`] already.
    pub(super) fn add(
        &self,
        uri: String,
        memory: &AgentMemory,
        client: Peer<RoleServer>,
        end: &CancellationToken,
    ) -> bool {
        let begins = self.with(|subscribed| {
            if subscribed.uris.len() == MAX_SUBSCRIPTIONS && !subscribed.uris.contains(&uri) {
                return None;
            }
            subscribed.uris.insert(uri);
            Some(!std::mem::replace(&mut subscribed.started, true))
        });
        if begins == Some(true) {
            let all = self.clone();
            let changes = memory.changes();
            let end = end.clone();
            tokio::spawn(async move { end.run_until_cancelled(all.notify(changes, client)).await });
        }
        begins.is_some()
    }

    /// Ends a subscription, if there is one.
    pub(super) fn remove(&self, uri: &str) {
        self.with(|subscribed| subscribed.uris.remove(uri));
    }

    async fn notify(self, mut changes: Changes, client: Peer<RoleServer>) {
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
