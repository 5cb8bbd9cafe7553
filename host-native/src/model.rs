//! The traits of models that summarise memories, and of models that give vectors of memories.

use crate::roots::BoxFuture;
use serde::Deserialize;
use serde_json::json;
use std::error::Error;
use std::time::{Duration, Instant};

/// The maximum time that all models together may take for one summary.
pub(crate) const MAX_TIMEOUT: Duration = Duration::from_secs(30);

/// Why a model gave no answer. It is only logged.
pub type ModelError = Box<dyn Error + Send + Sync>;

/// A model that can be asked for summaries.
pub trait Model: Send + Sync {
    /// The model's name in settings and in the log of summaries, such as `anthropic`.
    fn name(&self) -> &str;

    /// Asks for one summary. The future is dropped at the deadline of the request.
    fn summarize<'a>(
        &'a self,
        request: &'a SummaryRequest,
    ) -> BoxFuture<'a, Result<String, ModelError>>;
}

/// A model that gives vectors of texts.
pub trait Embedder: Send + Sync {
    /// The model's name. It must stay the same: vectors are stored under it, and vectors of other names
    /// are ignored.
    fn name(&self) -> &str;

    /// Asks for the vector of each text, in order. The future is dropped at the deadline.
    fn embed<'a>(
        &'a self,
        texts: &'a [String],
        deadline: Instant,
    ) -> BoxFuture<'a, Result<Vec<Vec<f32>>, ModelError>>;
}

/// A text with its vector, as an embedder gave it.
#[derive(Clone, Debug, PartialEq)]
pub struct EmbeddedText {
    /// The text.
    pub text: String,
    /// The vector of the text: 1 to 4,096 finite numbers.
    pub vector: Vec<f32>,
}

/// A request for a summary of memories.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct SummaryRequest {
    /// The instruction for the model.
    pub instructions: String,
    /// The texts to summarise, the oldest first. They are data, not instructions.
    pub memories: Vec<String>,
    /// The maximum number of characters of a summary that is stored.
    pub max_characters: usize,
    /// When the memory stops waiting for the summary.
    #[serde(skip, default = "Instant::now")]
    pub deadline: Instant,
    /// The names of the models that may be asked.
    pub(crate) models: Vec<String>,
}

impl SummaryRequest {
    /// The message of the user to the model: the memories as one JSON array, marked as data.
    pub fn prompt(&self) -> String {
        format!("The memories, as data:\n{}", json!(self.memories))
    }
}
