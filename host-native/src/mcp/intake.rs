use super::error::not_initialized;
use crate::{AgentMemory, Arrival};
use rmcp::ErrorData;
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

/// A transport that numbers calls in the order of their requests, and that ends when all requests are
/// answered.
///
/// `rmcp` runs each request in a task of its own, in any order. So a call gets its number, its time
/// and its place among the writers here, and carries them in the request's extensions.
///
/// When the input ends, `end` is cancelled at once, and handlers stop waiting for the client. `rmcp`
/// learns of the end of the input only when all requests are answered, since it sends no answer after
/// that.
pub(super) struct Intake<T> {
    transport: T,
    memory: AgentMemory,
    end: CancellationToken,
    unanswered: Arc<watch::Sender<HashSet<RequestId>>>,
    /// The ids of requests whose answers have not come yet. A client may use an id again as soon as it
    /// reads the answer, which may be before `send` ends.
    running: HashSet<RequestId>,
    begun: bool,
}

/// The arrival of a call, until the handler of its request takes it. If no handler takes it, it is
/// dropped with the request.
#[derive(Clone)]
struct Arrived(Arc<Mutex<Option<Arrival>>>);

/// Takes the arrival of the call from the extensions of its request.
pub(super) fn arrival(request: &Extensions) -> Option<Arrival> {
    let arrived = request.get::<Arrived>()?;
    arrived.0.lock().ok()?.take()
}

impl<T> Intake<T> {
    pub(super) fn new(transport: T, memory: AgentMemory, end: CancellationToken) -> Self {
        Intake {
            transport,
            memory,
            end,
            unanswered: Arc::default(),
            running: HashSet::new(),
            begun: false,
        }
    }

    /// Notes the requests that a message begins or ends.
    fn admit(&mut self, message: &mut ClientJsonRpcMessage) -> Admission {
        match message {
            ClientJsonRpcMessage::Request(message) => {
                let id = message.id.clone();
                if !self.running.insert(id.clone()) {
                    return Admission::Repeated;
                }
                self.unanswered.send_if_modified(|ids| ids.insert(id));
                if !self.begun && !is_opening(&message.request) {
                    return Admission::Refused(not_initialized(message.request.method()));
                }
                self.begun |= begins_session(&message.request);
                if let ClientRequest::CallToolRequest(call) = &mut message.request {
                    let arrival = self.memory.arrive(&call.params.name);
                    let arrived = Arrived(Arc::new(Mutex::new(Some(arrival))));
                    call.extensions_mut().insert(arrived);
                }
                Admission::Admitted
            }
            ClientJsonRpcMessage::Notification(message) => {
                if let ClientNotification::CancelledNotification(cancelled) = &message.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    // A request that is cancelled gets no answer.
                    self.running.remove(id);
                    self.unanswered.send_if_modified(|ids| ids.remove(id));
                }
                self.admit_in_session()
            }
            _ => self.admit_in_session(),
        }
    }

    /// Ignores a notification before a session has begun: `rmcp` would end the server.
    fn admit_in_session(&self) -> Admission {
        if self.begun { Admission::Admitted } else { Admission::Ignored }
    }
}

/// The treatment of a message.
enum Admission {
    /// `rmcp` gets the message.
    Admitted,
    /// The message is dropped without an answer.
    Ignored,
    /// The client gets this error.
    Refused(ErrorData),
    /// The message is a request with the id of another request that is not answered yet. The client
    /// gets an error.
    Repeated,
}

/// Whether `rmcp` itself answers this request correctly before a session has begun.
fn is_opening(request: &ClientRequest) -> bool {
    matches!(request, ClientRequest::InitializeRequest(_) | ClientRequest::PingRequest(_))
        || matches!(request.method(), "server/discover" | "subscriptions/listen")
        || METADATA.iter().any(|name| request.get_meta().contains_key(*name))
}

/// The keys in `_meta` of which a stateless request has at least one.
const METADATA: [&str; 3] = [
    "io.modelcontextprotocol/protocolVersion",
    "io.modelcontextprotocol/clientInfo",
    "io.modelcontextprotocol/clientCapabilities",
];

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
        if let Some(id) = &answered {
            self.running.remove(id);
        }
        let sent = self.transport.send(message);
        let unanswered = self.unanswered.clone();
        let end = self.end.clone();
        async move {
            let sent = sent.await;
            if sent.is_err() {
                // The client reads no more answers, so no more requests are accepted.
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
                // Waiting cannot fail, since `self` holds the sender.
                let _ = unanswered.wait_for(HashSet::is_empty).await;
                let _ = self.transport.close().await;
                return None;
            };
            match self.admit(&mut message) {
                Admission::Admitted => return Some(message),
                Admission::Ignored => {
                    tracing::debug!("ignored a message that came before the session began");
                }
                Admission::Repeated => {
                    let ClientJsonRpcMessage::Request(request) = message else { continue };
                    let message = "the `id` is that of a request that is not answered yet, so this \
                                   request was not executed: give each request an id of its own";
                    let error = ErrorData::invalid_request(message, None);
                    let refused = ServerJsonRpcMessage::error(error, Some(request.id));
                    // Not by `self.send`, which would note the first request with this id as answered.
                    tokio::spawn(self.transport.send(refused));
                }
                Admission::Refused(error) => {
                    let ClientJsonRpcMessage::Request(request) = message else { continue };
                    let refused = ServerJsonRpcMessage::error(error, Some(request.id));
                    // Sent by a task of its own: if this read is cancelled, the answer is still written
                    // to its end.
                    tokio::spawn(self.send(refused));
                }
            }
        }
    }

    async fn close(&mut self) -> Result<(), T::Error> {
        self.transport.close().await
    }
}
