//! Requests in JSON over HTTP, with one retry.

use super::Endpoint;
use crate::{BoxFuture, ModelError, outbound};
use serde_json::Value;
use std::sync::{Arc, Once};
use std::thread;
use std::time::{Duration, Instant};
use tokio::task::spawn_blocking;
use ureq::http::{HeaderMap, StatusCode};
use ureq::{Agent, Error};

/// The maximum size of a request in bytes, and of an answer, unless its [`Use`] sets another limit.
const MAX_BODY: u64 = 1 << 20;

/// The pause before the retry if the service names none.
const PAUSE: Duration = Duration::from_millis(500);

/// An HTTP service with a model.
pub(super) struct Service {
    agent: Agent,
    endpoint: Endpoint,
    path: &'static str,
    model: String,
    /// The headers with the key. No message contains them.
    headers: Vec<(&'static str, String)>,
    of: Use,
    announced: Once,
}

/// The use of a service.
pub(super) struct Use {
    /// What the service does with memories, for the log, such as `summarised`.
    pub(super) verb: &'static str,
    /// The maximum size of an answer in bytes.
    pub(super) max_answer: u64,
}

/// Why an attempt failed.
struct Failed {
    message: String,
    /// The pause before a retry. `None` if a retry cannot help.
    retry_after: Option<Duration>,
}

impl Service {
    pub(super) fn new(
        endpoint: Endpoint,
        path: &'static str,
        model: String,
        headers: Vec<(&'static str, String)>,
    ) -> Service {
        let agent = outbound::agent();
        let of = Use { verb: "summarised", max_answer: MAX_BODY };
        Service { agent, endpoint, path, model, headers, of, announced: Once::new() }
    }

    /// The same service for another use than summaries.
    pub(super) fn to(self, of: Use) -> Service {
        Service { of, ..self }
    }

    pub(super) fn model(&self) -> &str {
        &self.model
    }

    /// Posts a body on a thread that may block, and reads the answer.
    pub(super) fn ask<T: Send + 'static>(
        service: &Arc<Service>,
        body: Value,
        deadline: Instant,
        read: fn(Value) -> Result<T, String>,
    ) -> BoxFuture<'static, Result<T, ModelError>> {
        let service = Arc::clone(service);
        Box::pin(async move {
            let asked = spawn_blocking(move || read(service.post(&body, deadline)?));
            Ok(asked.await??)
        })
    }

    /// Posts a body, and returns the JSON of the answer. Blocks until the deadline at most.
    ///
    /// Tries a second time if there is no connection, or if the service is overloaded or broken.
    fn post(&self, body: &Value, deadline: Instant) -> Result<Value, String> {
        let body = body.to_string();
        if body.len() as u64 > MAX_BODY {
            return Err(format!("the request would have more than {MAX_BODY} bytes"));
        }
        let endpoint = &self.endpoint;
        let model = &self.model;
        let verb = self.of.verb;
        self.announced.call_once(|| {
            tracing::info!("memories are sent to `{endpoint}`, to be {verb} by `{model}`");
        });
        let first = match self.attempt(&body, deadline) {
            Ok(answer) => return Ok(answer),
            Err(failed) => failed,
        };
        let pause = first.retry_after.filter(|pause| *pause < remaining(deadline));
        let Some(pause) = pause else { return Err(first.message) };
        tracing::debug!(error = first.message, ?pause, "a model is asked again");
        thread::sleep(pause);
        self.attempt(&body, deadline).map_err(|failed| failed.message)
    }

    fn attempt(&self, body: &str, deadline: Instant) -> Result<Value, Failed> {
        let mut request = self.agent.post(self.endpoint.join(self.path));
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        let request = request.header("content-type", "application/json").config();
        let request = request.timeout_global(Some(remaining(deadline))).build();
        let mut answer = request.send(body).map_err(|error| self.unanswered(&error))?;
        let status = answer.status();
        if !status.is_success() {
            return Err(self.refused(status, answer.headers()));
        }
        let text = answer.body_mut().with_config().limit(self.of.max_answer).read_to_vec();
        let text = text.map_err(|error| self.unanswered(&error))?;
        serde_json::from_slice(&text).map_err(|_| self.failed("answered something that is no JSON"))
    }

    fn failed(&self, what: &str) -> Failed {
        Failed { message: format!("`{}` {what}", self.endpoint), retry_after: None }
    }

    fn unanswered(&self, error: &Error) -> Failed {
        let is_lost = matches!(error, Error::Io(_) | Error::HostNotFound | Error::ConnectionFailed);
        let failed = match error {
            Error::BodyExceedsLimit(_) => {
                self.failed(&format!("answered more than {} bytes", self.of.max_answer))
            }
            Error::Timeout(_) => self.failed("did not answer in time"),
            error => self.failed(&format!("gave no answer: {error}")),
        };
        Failed { retry_after: is_lost.then_some(PAUSE), ..failed }
    }

    /// The error for an answer with this status. The answer's body is left out: it may repeat a part of
    /// the key.
    fn refused(&self, status: StatusCode, headers: &HeaderMap) -> Failed {
        let failed = if status.is_redirection() {
            self.failed(&format!("answered {status}: no redirect is followed"))
        } else {
            self.failed(&format!("answered {status}"))
        };
        let is_passing = status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS;
        Failed { retry_after: is_passing.then(|| retry_after(headers)), ..failed }
    }
}

fn remaining(deadline: Instant) -> Duration {
    // At least 1 ms: a timeout of zero would mean no timeout.
    deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(1))
}

/// The pause that a service asks for in seconds.
fn retry_after(headers: &HeaderMap) -> Duration {
    let seconds = headers.get("retry-after").and_then(|value| value.to_str().ok()?.parse().ok());
    seconds.map_or(PAUSE, Duration::from_secs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_request_that_is_too_large_is_not_sent() {
        let endpoint = Endpoint::parse("http://127.0.0.1:1").expect("of this machine");
        let service = Service::new(endpoint, "v1/messages", "model".to_owned(), Vec::new());
        let body = json!({ "messages": "x".repeat(MAX_BODY as usize) });
        let sent = service.post(&body, Instant::now());
        assert_eq!(sent, Err("the request would have more than 1048576 bytes".to_owned()));
    }

    #[test]
    fn a_service_names_its_pause_in_seconds() {
        let mut headers = HeaderMap::new();
        assert_eq!(retry_after(&headers), PAUSE);
        for (value, pause) in [
            ("0", Duration::ZERO),
            ("20", Duration::from_secs(20)),
            ("Wed, 21 Oct 2026 07:28:00 GMT", PAUSE),
            ("-1", PAUSE),
        ] {
            headers.insert("retry-after", value.parse().expect("a value"));
            assert_eq!(retry_after(&headers), pause, "{value}");
        }
    }
}
