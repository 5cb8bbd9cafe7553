use super::batches::{Batches, Read};
use rmcp::ErrorData;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, JsonRpcError, RequestId, ServerJsonRpcMessage,
    ServerResult,
};
use rmcp::service::RoleServer;
use rmcp::transport::Transport;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::Mutex;
use tokio::task::JoinSet;

/// The longest message that is read, in bytes. Tools need far less.
const LONGEST: usize = 16 * 1024 * 1024;

/// Messages as lines of JSON, as in MCP's stdio transport, and batches of them.
///
/// Unlike the transport of `rmcp`, it answers malformed requests under their own id, so that their
/// client does not wait for ever.
pub(super) struct Lines<R, W> {
    reader: BufReader<R>,
    /// The line that is being read. It is kept here because a read may be cancelled half way.
    line: Vec<u8>,
    writer: Arc<Mutex<W>>,
    /// The answers to malformed lines. Each is sent by a task of its own: if the read is cancelled, the
    /// answer is still written to its end.
    replies: JoinSet<io::Result<()>>,
    batches: Batches,
    /// The messages of a batch that the server has not received yet.
    unread: VecDeque<ClientJsonRpcMessage>,
}

impl<R: AsyncRead + Unpin, W> Lines<R, W> {
    pub(super) fn new(reader: R, writer: W) -> Self {
        Lines {
            reader: BufReader::new(reader),
            line: Vec::new(),
            writer: Arc::new(Mutex::new(writer)),
            replies: JoinSet::new(),
            batches: Batches::default(),
            unread: VecDeque::new(),
        }
    }

    /// Reads up to the end of a line or of the input. Returns `false` at the end of the input. Keeps at
    /// most `LONGEST + 1` bytes of a line.
    async fn read_line(&mut self) -> io::Result<bool> {
        loop {
            let read = self.reader.fill_buf().await?;
            if read.is_empty() {
                return Ok(!self.line.is_empty());
            }
            let newline = read.iter().position(|&byte| byte == b'\n');
            let length = newline.map_or(read.len(), |at| at + 1);
            let room = (LONGEST + 1).saturating_sub(self.line.len());
            self.line.extend_from_slice(&read[..length.min(room)]);
            self.reader.consume(length);
            if newline.is_some() {
                return Ok(true);
            }
        }
    }
}

impl<R, W: AsyncWrite + Send + Unpin + 'static> Lines<R, W> {
    /// Takes the messages of a batch. Sends its answers if the server has no request of the batch to
    /// answer.
    fn take_batch(&mut self, messages: Vec<Value>) {
        if let Err(refused) = self.batches.check(messages.len()) {
            return self.reply(ServerJsonRpcMessage::Error(*error(refused, None)));
        }
        let read = messages.into_iter().map(|value| message(value.to_string().as_bytes()));
        let (messages, answers) = self.batches.begin(read.collect());
        self.unread.extend(messages);
        if let Some(answers) = answers {
            self.reply(answers);
        }
    }

    /// Passes a message on to the server. If the message cancels a request of a batch, removes that
    /// request from its batch.
    fn received(&mut self, message: ClientJsonRpcMessage) -> ClientJsonRpcMessage {
        if let ClientJsonRpcMessage::Notification(notification) = &message
            && let ClientNotification::CancelledNotification(cancelled) = &notification.notification
            && let Some(id) = &cancelled.params.request_id
            && let Some(answers) = self.batches.cancel(id)
        {
            self.reply(answers);
        }
        message
    }

    /// Sends an answer that does not come from the server.
    fn reply(&mut self, answer: impl Serialize) {
        self.replies.spawn(write(self.writer.clone(), serde_json::to_vec(&answer)));
    }
}

async fn write<W: AsyncWrite + Unpin>(
    writer: Arc<Mutex<W>>,
    message: serde_json::Result<Vec<u8>>,
) -> io::Result<()> {
    let mut line = message?;
    line.push(b'\n');
    let mut writer = writer.lock().await;
    writer.write_all(&line).await?;
    writer.flush().await
}

/// The messages of a line that is a batch. `None` if the line is not a JSON array, or is longer than
/// [`LONGEST`].
fn batch(line: &[u8]) -> Option<Vec<Value>> {
    let line = trimmed(line);
    let may_be = line.len() <= LONGEST && line.starts_with(b"[");
    may_be.then(|| serde_json::from_slice(line).ok()).flatten()
}

/// A line without its byte order mark, and without white space around it.
fn trimmed(line: &[u8]) -> &[u8] {
    line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line).trim_ascii()
}

/// Reads one message. For a malformed message, the error is the answer to it, or `None` for a
/// notification, which gets no answer.
fn message(line: &[u8]) -> Read {
    if line.len() > LONGEST {
        let message = format!("the message is longer than {LONGEST} bytes: send less at once");
        return Err(Some(error(ErrorData::invalid_request(message, None), None)));
    }
    let line = trimmed(line);
    if line.is_empty() {
        return Err(None);
    }
    serde_json::from_slice(line).map_err(|unreadable| {
        let Ok(value) = serde_json::from_slice::<Value>(line) else {
            // The id may still be readable, for example if only the params have half an emoji or too
            // large a number.
            let envelope = serde_json::from_slice::<Envelope>(line).unwrap_or_default();
            let message = format!("the message cannot be read as JSON: {unreadable}");
            return Some(match &envelope.id {
                Some(id) => error(ErrorData::invalid_params(message, None), Some(id)),
                None => error(ErrorData::parse_error(message, None), None),
            });
        };
        let id = value.get("id");
        let Some(method) = value.get("method").and_then(Value::as_str) else {
            let message = "the message is not a JSON-RPC request, notification or response";
            let error_data = ErrorData::invalid_request(message, None);
            return Some(error(error_data, id));
        };
        // A notification is never answered.
        let id = id?;
        Some(match value.get("params") {
            Some(params) if !params.is_object() => {
                let message = format!("the params of `{method}` are not an object");
                error(ErrorData::invalid_params(message, None), Some(id))
            }
            _ => {
                let message = format!("the request for `{method}` cannot be read: {unreadable}");
                error(ErrorData::invalid_request(message, None), Some(id))
            }
        })
    })
}

/// The parts of a message that can be read even if its params cannot.
#[derive(Default, Deserialize)]
struct Envelope {
    id: Option<Value>,
}

fn error(error: ErrorData, id: Option<&Value>) -> Box<JsonRpcError> {
    let id = id.and_then(|id| serde_json::from_value::<RequestId>(id.clone()).ok());
    Box::new(JsonRpcError::new(id, error))
}

impl<R, W> Transport<RoleServer> for Lines<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        if let ServerJsonRpcMessage::Response(response) = &message
            && let ServerResult::InitializeResult(session) = &response.result
        {
            self.batches.agree(&session.protocol_version);
        }
        let text = match self.batches.answer(message) {
            Ok(answers) => answers.map(|answers| serde_json::to_vec(&answers)),
            Err(single) => Some(serde_json::to_vec(&single)),
        };
        let writer = self.writer.clone();
        async move {
            match text {
                Some(text) => write(writer, text).await,
                None => Ok(()),
            }
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            if let Some(message) = self.unread.pop_front() {
                return Some(self.received(message));
            }
            match self.read_line().await {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => {
                    tracing::error!("the input cannot be read: {error}");
                    return None;
                }
            }
            if let Some(messages) = batch(&self.line) {
                self.line.clear();
                self.take_batch(messages);
                continue;
            }
            let read = message(&self.line);
            self.line.clear();
            match read {
                Ok(message) => match self.batches.check_alone(&message) {
                    Ok(()) => return Some(self.received(message)),
                    Err(refused) => self.reply(ServerJsonRpcMessage::Error(*refused)),
                },
                Err(Some(error)) => self.reply(ServerJsonRpcMessage::Error(*error)),
                Err(None) => {}
            }
            while self.replies.try_join_next().is_some() {}
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        while self.replies.join_next().await.is_some() {}
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rmcp::model::ProtocolVersion;
    use serde_json::json;

    /// The code and id of the error that answers a line; none if there is no answer.
    fn answer(line: &str) -> Option<(Value, Value)> {
        let error = message(line.as_bytes()).expect_err("no message")?;
        let mut error = serde_json::to_value(error).expect("JSON");
        Some((error["error"]["code"].take(), error["id"].take()))
    }

    #[test]
    fn a_request_that_cannot_be_read_is_answered_under_its_id() {
        for params in ["7", "[]", "\"x\""] {
            let line = format!(
                r#"{{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {params}}}"#
            );
            assert_eq!(answer(&line), Some((json!(-32602), json!(1))), "{line}");
        }
        let without_version = r#"{"id": "a", "method": "tools/list"}"#;
        assert_eq!(answer(without_version), Some((json!(-32600), json!("a"))));
        let without_method = r#"{"jsonrpc": "2.0", "id": 2}"#;
        assert_eq!(answer(without_method), Some((json!(-32600), json!(2))));
    }

    #[test]
    fn a_request_with_values_that_cannot_be_read_is_answered_under_its_id() {
        let nested = "[".repeat(200) + &"]".repeat(200);
        for value in [r#""half an emoji: \ud83d""#, &nested, "1e999"] {
            for line in [
                format!(
                    r#"{{"id": 1, "method": "tools/call", "params": {{"arguments": {{"a": {value}}}}}}}"#
                ),
                format!(r#"{{"params": {{"arguments": {{"a": {value}}}}}, "id": 1}}"#),
            ] {
                assert_eq!(answer(&line), Some((json!(-32602), json!(1))), "{line}");
            }
        }
    }

    #[tokio::test]
    async fn a_request_with_the_id_of_one_in_a_batch_that_waits_is_refused_alone() {
        let ping = |id: u32| json!({"jsonrpc": "2.0", "id": id, "method": "ping"});
        let input = format!("{}\n{}\n{}\n", json!([ping(1)]), ping(1), ping(2));
        let (output, read) = tokio::io::duplex(4096);
        let mut lines = Lines::new(input.as_bytes(), output);
        lines.batches.agree(&ProtocolVersion::V_2025_03_26);
        let mut received = Vec::new();
        while let Some(ClientJsonRpcMessage::Request(request)) = lines.receive().await {
            received.push(request.id.to_string());
        }
        assert_eq!(received, ["1", "2"]);
        let refused = BufReader::new(read).lines().next_line().await;
        let refused: Value =
            serde_json::from_str(&refused.expect("a line").expect("a line")).expect("JSON");
        assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!(1), &json!(-32600)));
    }

    #[test]
    fn a_line_that_is_not_json_is_answered_without_an_id() {
        for line in [r#"{"id": 1, "params": {"a": "\ud83d""#, r#"{"id": 1, "params": 1e999} x"#] {
            assert_eq!(answer(line), Some((json!(-32700), Value::Null)), "{line}");
        }
        assert_eq!(answer("{\"jsonrpc\""), Some((json!(-32700), Value::Null)));
        assert_eq!(answer("[1, {]"), Some((json!(-32700), Value::Null)));
        assert_eq!(answer("1"), Some((json!(-32600), Value::Null)));
    }

    #[test]
    fn a_notification_and_an_empty_line_are_not_answered() {
        let cancelled = r#"{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": 7}"#;
        assert_eq!(answer(cancelled), None);
        assert_eq!(answer("  \r\n"), None);
    }

    #[tokio::test]
    async fn a_line_is_joined_from_several_reads_and_one_that_is_too_long_is_skipped() {
        let mut input = vec![b' '; LONGEST + 10];
        let list = br#"{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}"#;
        input.push(b'\n');
        input.extend_from_slice(list);
        let (mut client, server) = tokio::io::duplex(1024);
        let mut lines = Lines::new(input.as_slice(), server);
        let received = lines.receive().await.expect("a message");
        assert!(matches!(received, ClientJsonRpcMessage::Request(_)));
        assert!(lines.receive().await.is_none());
        lines.close().await.expect("the answer is written");
        drop(lines);
        let mut answer = String::new();
        let read = tokio::io::AsyncReadExt::read_to_string(&mut client, &mut answer).await;
        read.expect("an answer");
        assert!(answer.contains("-32600"), "{answer}");
    }
}
