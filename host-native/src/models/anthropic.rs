use super::Endpoint;
use super::service::Service;
use crate::{BoxFuture, Model, ModelError, SummaryRequest};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

const VERSION: &str = "2023-06-01";

/// The maximum number of tokens of an answer, enough for 1,000 characters in any script.
const MAX_TOKENS: u32 = 1_000;

/// A model behind the Messages API of Anthropic.
///
/// A request whose future is dropped still runs on a blocking thread of tokio, until its deadline at the
/// latest.
pub struct Anthropic(Arc<Service>);

#[derive(Deserialize)]
struct Answer {
    content: Vec<Part>,
    stop_reason: Option<String>,
}

#[derive(Deserialize)]
struct Part {
    #[serde(default)]
    text: String,
}

impl Anthropic {
    /// A model with the key of its user, such as `claude-haiku-4-5` of `https://api.anthropic.com`.
    pub fn new(endpoint: Endpoint, key: &str, model: impl Into<String>) -> Anthropic {
        let key = ("x-api-key", key.trim().to_owned());
        let headers = vec![key, ("anthropic-version", VERSION.to_owned())];
        Anthropic(Arc::new(Service::new(endpoint, "v1/messages", model.into(), headers)))
    }
}

impl Model for Anthropic {
    fn name(&self) -> &str {
        "anthropic"
    }

    fn summarize<'a>(
        &'a self,
        request: &'a SummaryRequest,
    ) -> BoxFuture<'a, Result<String, ModelError>> {
        let body = json!({
            "model": self.0.model(),
            "max_tokens": MAX_TOKENS,
            "system": request.instructions,
            "messages": [{ "role": "user", "content": request.prompt() }],
        });
        Service::ask(&self.0, body, request.deadline, summary)
    }
}

fn summary(answer: Value) -> Result<String, String> {
    let answer: Answer = serde_json::from_value(answer)
        .map_err(|_| "the answer is none of the Messages API".to_owned())?;
    match answer.stop_reason.as_deref() {
        None | Some("end_turn" | "stop_sequence") => {}
        Some(reason) => return Err(format!("the answer is not complete: `{reason}`")),
    }
    Ok(answer.content.into_iter().map(|part| part.text).collect())
}
