use rmcp::ErrorData;
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, JsonRpcError, ProtocolVersion, RequestId,
    ServerJsonRpcMessage,
};

/// The only protocol version with batches: later versions have none.
const VERSION: ProtocolVersion = ProtocolVersion::V_2025_03_26;

/// The maximum number of messages in a batch.
pub(super) const MAX_MESSAGES: usize = 1_000;

/// A message of a batch. If it cannot be read, the error is the answer to it, or `None` if it is a
/// notification, which gets no answer.
pub(super) type Read = Result<ClientJsonRpcMessage, Option<Box<JsonRpcError>>>;

/// The batches of a client. The answers to the requests of a batch are sent together, as one array in the
/// order of the requests, when the last answer has come.
#[derive(Default)]
pub(super) struct Batches {
    are_agreed: bool,
    open: Vec<Vec<Part>>,
}

/// A request of a batch.
enum Part {
    Waiting(RequestId),
    Answered(Box<ServerJsonRpcMessage>),
}

impl Batches {
    /// Learns the protocol version that the server and the client have agreed on.
    pub(super) fn agree(&mut self, version: &ProtocolVersion) {
        self.are_agreed = *version == VERSION;
    }

    /// Checks that a batch with this number of messages is accepted.
    ///
    /// # Errors
    ///
    /// The answer to the whole batch.
    pub(super) fn check(&self, messages: usize) -> Result<(), ErrorData> {
        let message = if !self.are_agreed {
            format!(
                "a batch is taken only in protocol version {VERSION}: send each message in a line \
                 of its own"
            )
        } else if messages == 0 {
            "the batch is empty".to_owned()
        } else if messages > MAX_MESSAGES {
            format!("a batch has at most {MAX_MESSAGES} messages: send several")
        } else {
            return Ok(());
        };
        Err(ErrorData::invalid_request(message, None))
    }

    /// Takes the messages of a batch, and returns the messages for the server. The second value has the
    /// answers to the batch, if the server has no request of the batch to answer.
    pub(super) fn begin(
        &mut self,
        messages: Vec<Read>,
    ) -> (Vec<ClientJsonRpcMessage>, Option<Vec<ServerJsonRpcMessage>>) {
        let mut parts = Vec::new();
        let mut for_server = Vec::new();
        for message in messages {
            match message.and_then(|message| self.admit(message, &parts)) {
                Ok(message) => {
                    if let ClientJsonRpcMessage::Request(request) = &message {
                        parts.push(Part::Waiting(request.id.clone()));
                    }
                    for_server.push(message);
                }
                Err(Some(error)) => {
                    let answer = ServerJsonRpcMessage::Error(*error);
                    parts.push(Part::Answered(Box::new(answer)));
                }
                Err(None) => {}
            }
        }
        self.open.push(parts);
        (for_server, self.close(self.open.len() - 1))
    }

    /// Refuses `initialize`, and a request whose id belongs to a request that is not answered yet:
    /// `rmcp` sends one answer for each id.
    fn admit(&self, message: ClientJsonRpcMessage, parts: &[Part]) -> Read {
        let ClientJsonRpcMessage::Request(request) = &message else { return Ok(message) };
        let id = &request.id;
        if matches!(request.request, ClientRequest::InitializeRequest(_)) {
            let message = "`initialize` cannot be part of a batch: send it in a line of its own";
            let error = ErrorData::invalid_request(message, None);
            return Err(Some(Box::new(JsonRpcError::new(Some(id.clone()), error))));
        }
        if parts.iter().any(|part| part.waits_for(id)) {
            return Err(Some(repeated(id)));
        }
        self.check_alone(&message).map_err(Some)?;
        Ok(message)
    }

    /// Checks that no batch waits for the answer to a request with the id of this request: the batch
    /// would get the answer to this request.
    ///
    /// # Errors
    ///
    /// The answer to the request.
    pub(super) fn check_alone(
        &self,
        message: &ClientJsonRpcMessage,
    ) -> Result<(), Box<JsonRpcError>> {
        let ClientJsonRpcMessage::Request(request) = message else { return Ok(()) };
        let is_repeated = self.open.iter().flatten().any(|part| part.waits_for(&request.id));
        if is_repeated { Err(repeated(&request.id)) } else { Ok(()) }
    }

    /// Puts an answer into its batch. Gives the answer back if it belongs to no batch. Returns the
    /// answers of the batch if it is now complete.
    pub(super) fn answer(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> Result<Option<Vec<ServerJsonRpcMessage>>, Box<ServerJsonRpcMessage>> {
        let id = match &message {
            ServerJsonRpcMessage::Response(response) => Some(&response.id),
            ServerJsonRpcMessage::Error(error) => error.id.as_ref(),
            _ => None,
        };
        let Some((batch, part)) = id.and_then(|id| self.find(id)) else {
            return Err(Box::new(message));
        };
        self.open[batch][part] = Part::Answered(Box::new(message));
        Ok(self.close(batch))
    }

    /// Removes a cancelled request from its batch, since it gets no answer. Returns the answers of the
    /// batch if it is now complete.
    pub(super) fn cancel(&mut self, id: &RequestId) -> Option<Vec<ServerJsonRpcMessage>> {
        let (batch, part) = self.find(id)?;
        self.open[batch].remove(part);
        self.close(batch)
    }

    fn find(&self, id: &RequestId) -> Option<(usize, usize)> {
        let batches = self.open.iter().enumerate();
        let mut found = batches.filter_map(|(batch, parts)| {
            Some((batch, parts.iter().position(|part| part.waits_for(id))?))
        });
        found.next()
    }

    /// Closes a batch if no request of it waits for an answer, and returns its answers, if any.
    fn close(&mut self, batch: usize) -> Option<Vec<ServerJsonRpcMessage>> {
        if self.open[batch].iter().any(|part| matches!(part, Part::Waiting(_))) {
            return None;
        }
        let answers = self.open.remove(batch).into_iter().filter_map(|part| match part {
            Part::Answered(answer) => Some(*answer),
            Part::Waiting(_) => None,
        });
        let answers: Vec<_> = answers.collect();
        (!answers.is_empty()).then_some(answers)
    }
}

/// The error for a request with the id of another request that is not answered yet.
fn repeated(id: &RequestId) -> Box<JsonRpcError> {
    let message =
        format!("the id `{id}` belongs to a request that is not answered yet: use another one");
    let error = ErrorData::invalid_request(message, None);
    Box::new(JsonRpcError::new(Some(id.clone()), error))
}

impl Part {
    fn waits_for(&self, id: &RequestId) -> bool {
        matches!(self, Part::Waiting(waiting) if waiting == id)
    }
}
