//! The program's functions that are asked for summaries and vectors.

use crate::messages::{Messages, Question, Reply};
use agent_memory_host::{BoxFuture, Embedder, Model, ModelError, SummaryRequest};
use std::sync::Arc;
use std::time::Instant;

/// The name of the summarising function in the list of models, as in the Node host.
const SUMMARIZER: &str = "function";

/// A function of Python that summarises memories.
pub(crate) struct Summarizer(pub(crate) Arc<Messages>);

/// A function of Python that gives vectors.
pub(crate) struct Vectors {
    /// The name under which the vectors are stored.
    pub(crate) model: String,
    pub(crate) messages: Arc<Messages>,
}

impl Model for Summarizer {
    fn name(&self) -> &str {
        SUMMARIZER
    }

    /// When the time is over, the function runs on, but its answer is dropped.
    fn summarize<'a>(
        &'a self,
        request: &'a SummaryRequest,
    ) -> BoxFuture<'a, Result<String, ModelError>> {
        Box::pin(async move {
            match self.0.ask(Question::Summary(request.clone())).await? {
                Reply::Text(text) => Ok(text),
                Reply::Vectors(_) => Err("it answered with something that is no string".into()),
            }
        })
    }
}

impl Embedder for Vectors {
    fn name(&self) -> &str {
        &self.model
    }

    /// When the time is over, the function runs on, but its answer is dropped.
    fn embed<'a>(
        &'a self,
        texts: &'a [String],
        deadline: Instant,
    ) -> BoxFuture<'a, Result<Vec<Vec<f32>>, ModelError>> {
        Box::pin(async move {
            match self.messages.ask(Question::Vectors(texts.to_vec(), deadline)).await? {
                Reply::Vectors(vectors) => Ok(vectors),
                Reply::Text(_) => Err("it answered with something that is no vectors".into()),
            }
        })
    }
}
