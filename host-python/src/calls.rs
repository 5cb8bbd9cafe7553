//! Requests to a memory, and waiting for their answers without Python's lock.

use crate::errors;
use crate::messages::{Message, Messages};
use agent_memory_host::{
    AgentMemory, CallError, Caller, Completion, EmbeddedText, Outcome, Reach, Reference,
};
use pyo3::prelude::*;
use serde_json::Value;
use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::task::AbortHandle;
use tokio::time::timeout;
use tracing::Dispatch;

/// How often a waiting call looks for a signal, such as Ctrl-C.
const SIGNALS: Duration = Duration::from_millis(50);

/// The future outcome of a request.
type Asked = Pin<Box<dyn Future<Output = Result<Outcome, CallError>> + Send>>;

/// The only agents and the only stores that a caller may use. `None`: all of them.
pub(crate) type Reached = (Option<Vec<String>>, Option<Vec<String>>);

/// Makes a request from its kind and its texts. The calls get their order here, not when the returned
/// future is polled.
pub(crate) fn ask(
    memory: AgentMemory,
    kind: &str,
    texts: Vec<String>,
    (agents, stores): Reached,
) -> PyResult<Asked> {
    let caller =
        Caller { reach: Reach { agents, stores, ..Reach::default() }, ..Caller::default() };
    let mut texts = texts.into_iter();
    let mut next = || texts.next().unwrap_or_default();
    Ok(match kind {
        "call" => {
            let tool = next();
            let arguments = next();
            let arrival = memory.arrive(&tool);
            Box::pin(async move { memory.call_as(arrival, &tool, &arguments, caller).await })
        }
        "call-with-vector" => {
            let tool = next();
            let arguments = next();
            let text = next();
            let vector = next();
            let vector = serde_json::from_str(&vector).unwrap_or_default();
            let caller = Caller { vector: Some(EmbeddedText { text, vector }), ..caller };
            let arrival = memory.arrive(&tool);
            Box::pin(async move { memory.call_as(arrival, &tool, &arguments, caller).await })
        }
        "read" => {
            let uri = next();
            Box::pin(async move { memory.read_resource(&uri, caller).await })
        }
        "prompt" => {
            let name = next();
            let arguments = next();
            Box::pin(async move { memory.get_prompt(&name, &arguments, caller).await })
        }
        "complete" => {
            let reference = match next().as_str() {
                "prompt" => Reference::Prompt(next()),
                _ => Reference::ResourceTemplate(next()),
            };
            let argument = next();
            let value = next();
            let others = texts_of(&next());
            let completion = Completion { reference, argument, value, others };
            Box::pin(async move { memory.complete(completion, caller).await })
        }
        "pending" => Box::pin(async move { memory.pending(caller).await }),
        "claim" => {
            let id = next();
            let seconds = next().parse().unwrap_or(0);
            Box::pin(async move { memory.claim(&id, Duration::from_secs(seconds)).await })
        }
        "answer" => {
            let id = next();
            let payload = next();
            Box::pin(async move { memory.answer(&id, &payload, caller).await })
        }
        _ => return Err(errors::coded("invalid-request", "no such request")),
    })
}

/// The members of a JSON object that are texts.
fn texts_of(json: &str) -> BTreeMap<String, String> {
    let object: BTreeMap<String, Value> = serde_json::from_str(json).unwrap_or_default();
    let text = |(name, value): (String, Value)| Some((name, value.as_str()?.to_owned()));
    object.into_iter().filter_map(text).collect()
}

/// Waits for a future without Python's lock. A signal whose handler raises, such as Ctrl-C, ends the
/// wait and drops the future. `log` receives the log events.
pub(crate) fn wait<T: Send>(
    py: Python<'_>,
    runtime: &Handle,
    log: &Dispatch,
    future: impl Future<Output = T> + Send,
) -> PyResult<T> {
    let mut future = Box::pin(future);
    loop {
        let wait = || runtime.block_on(async { timeout(SIGNALS, future.as_mut()).await });
        match py.detach(|| tracing::dispatcher::with_default(log, wait)) {
            Ok(answer) => return Ok(answer),
            Err(_) => py.check_signals()?,
        }
    }
}

/// A request in progress, whose answer becomes a message.
#[pyclass(frozen)]
pub(crate) struct Running(AbortHandle);

#[pymethods]
impl Running {
    /// Cancels the request. A message with its answer may still come.
    fn cancel(&self) {
        self.0.abort();
    }
}

impl Running {
    /// Begins a request. Its answer becomes a message with this number.
    pub(crate) fn begin(
        runtime: &Handle,
        asked: Asked,
        in_progress: impl Send + 'static,
        messages: Arc<Messages>,
        number: u64,
    ) -> Running {
        let task = runtime.spawn(async move {
            let _in_progress = in_progress;
            messages.leave(Message::Answer(number, asked.await));
        });
        Running(task.abort_handle())
    }
}
