use super::Endpoint;
use super::service::Service;
use crate::{BoxFuture, Model, ModelError, SummaryRequest};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// A model behind an endpoint that is compatible with OpenAI's, such as a local one.
///
/// A request whose future is dropped still runs on a blocking thread of tokio, until its deadline at the
/// latest.
pub struct OpenAi(Arc<Service>);

#[derive(Deserialize)]
struct Answer {
    choices: Vec<Choice>,
}

#[derive(Deserialize)]
struct Choice {
    message: Message,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Message {
    /// The text of the answer. `None` if the model refuses.
    content: Option<String>,
}

impl OpenAi {
    /// A model of an endpoint such as `http://localhost:11434/v1`. Many local servers need no key.
    pub fn new(endpoint: Endpoint, key: Option<&str>, model: impl Into<String>) -> OpenAi {
        let key = key.map(|key| ("authorization", format!("Bearer {}", key.trim())));
        let headers = key.into_iter().collect();
        OpenAi(Arc::new(Service::new(endpoint, "chat/completions", model.into(), headers)))
    }
}

impl Model for OpenAi {
    fn name(&self) -> &str {
        "openai"
    }

    fn summarize<'a>(
        &'a self,
        request: &'a SummaryRequest,
    ) -> BoxFuture<'a, Result<String, ModelError>> {
        // The request sets no token limit: newer models of OpenAI refuse `max_tokens`, and other servers
        // do not know the parameter that replaced it.
        let body = json!({
            "model": self.0.model(),
            "messages": [
                { "role": "system", "content": request.instructions },
                { "role": "user", "content": request.prompt() },
            ],
        });
        Service::ask(&self.0, body, request.deadline, summary)
    }
}

fn summary(answer: Value) -> Result<String, String> {
    let answer: Answer = serde_json::from_value(answer)
        .map_err(|_| "the answer is none of the API of chats".to_owned())?;
    let choice = answer.choices.into_iter().next().ok_or("the answer has no choice")?;
    match choice.finish_reason.as_deref() {
        None | Some("stop") => Ok(choice.message.content.unwrap_or_default()),
        Some(reason) => Err(format!("the answer is not complete: `{reason}`")),
    }
}
