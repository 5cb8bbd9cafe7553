use crate::{Arrival, Memory};
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, Extensions, GetExtensions, GetMeta,
    ProtocolVersion, RequestId, ServerJsonRpcMessage,
};
use rmcp::service::RoleServer;
use rmcp::transport::Transport;
use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// A transport that lets calls arrive in the order of their requests, and ends only when all are
/// answered.
///
/// `rmcp` runs each request in a task of its own, in no order. A call's number, time and place
/// among the writers are therefore taken here, while messages are still in line, and travel in the
/// request's extensions.
///
/// At the end of input, `end` is cancelled at once, so that whatever waits for the client gives up;
/// the input's end is passed on when no request is left. Earlier, `rmcp` would stop carrying what a
/// handler sends, and wait for that handler.
pub(super) struct Intake<T> {
    transport: T,
    memory: Memory,
    end: CancellationToken,
    unanswered: Arc<watch::Sender<HashSet<RequestId>>>,
    begun: bool,
}

/// Taken by the call's handler. Where no handler runs, it is dropped with the request.
#[derive(Clone)]
struct Arrived(Arc<Mutex<Option<Arrival>>>);

/// The arrival of the call that a request makes, once.
pub(super) fn arrival(request: &Extensions) -> Option<Arrival> {
    let arrived = request.get::<Arrived>()?;
    arrived.0.lock().ok()?.take()
}

impl<T> Intake<T> {
    pub(super) fn new(transport: T, memory: Memory, end: CancellationToken) -> Self {
        Intake { transport, memory, end, unanswered: Arc::default(), begun: false }
    }

    /// Notes what a message begins or ends. False where `rmcp` cannot take it: before a session has
    /// begun, it would end the server over a notification, such as one that cancels a
    /// `server/discover`.
    fn admits(&mut self, message: &mut ClientJsonRpcMessage) -> bool {
        match message {
            ClientJsonRpcMessage::Request(message) => {
                let id = message.id.clone();
                self.unanswered.send_if_modified(|ids| ids.insert(id));
                self.begun |= begins_session(&message.request);
                if let ClientRequest::CallToolRequest(call) = &mut message.request {
                    let arrival = self.memory.arrive(&call.params.name);
                    let arrived = Arrived(Arc::new(Mutex::new(Some(arrival))));
                    call.extensions_mut().insert(arrived);
                }
                true
            }
            ClientJsonRpcMessage::Notification(message) => {
                if let ClientNotification::CancelledNotification(cancelled) = &message.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    // A request that is cancelled gets no answer.
                    self.unanswered.send_if_modified(|ids| ids.remove(id));
                }
                self.begun
            }
            _ => self.begun,
        }
    }
}

fn begins_session(request: &ClientRequest) -> bool {
    let missing = || (request.get_meta()).missing_required_keys(&ProtocolVersion::V_2026_07_28);
    match request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => false,
        _ => missing().is_empty(),
    }
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for Intake<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), T::Error>> + Send + 'static {
        let answered = match &message {
            ServerJsonRpcMessage::Response(response) => Some(response.id.clone()),
            ServerJsonRpcMessage::Error(error) => error.id.clone(),
            _ => None,
        };
        let sent = self.transport.send(message);
        let unanswered = self.unanswered.clone();
        let end = self.end.clone();
        async move {
            let sent = sent.await;
            if sent.is_err() {
                // Nobody reads the answers: there is no use in taking requests.
                end.cancel();
            }
            if let Some(id) = answered {
                unanswered.send_if_modified(|ids| ids.remove(&id));
            }
            sent
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            let received = tokio::select! {
                biased;
                () = self.end.cancelled() => None,
                received = self.transport.receive() => received,
            };
            let Some(mut message) = received else {
                self.end.cancel();
                let mut unanswered = self.unanswered.subscribe();
                // The sender is ours, so that waiting cannot fail.
                let _ = unanswered.wait_for(HashSet::is_empty).await;
                let _ = self.transport.close().await;
                return None;
            };
            if self.admits(&mut message) {
                return Some(message);
            }
            tracing::debug!("ignored a message that came before the session began");
        }
    }

    async fn close(&mut self) -> Result<(), T::Error> {
        self.transport.close().await
    }
}
