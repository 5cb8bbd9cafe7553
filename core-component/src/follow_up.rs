//! Follow-ups: work that a call leaves to the host, to be done after the answer.

use serde::Deserialize;
use serde_json::{Value, json};

/// Work that waits in storage until it is answered. `wit/toolbox` has the same record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FollowUp {
    /// The name of the toolset, `/`, and a number.
    pub id: String,
    /// `summary`: a model is asked for a summary. `embedding`: the embedder is asked for vectors.
    pub kind: &'static str,
    /// JSON, whose form depends on the kind.
    pub payload: String,
}

impl FollowUp {
    /// The follow-up of an owner whose texts wait for vectors. The payload has no texts: a host gets
    /// them when it claims the follow-up.
    pub(crate) fn for_vectors(owner: i64, model: &str) -> Self {
        Self::with_payload(owner, &json!({ "models": [model] }))
    }

    /// The follow-up of an owner whose texts wait for vectors, with this payload.
    pub(crate) fn with_payload(owner: i64, payload: &Value) -> Self {
        Self { id: format!("memory/{owner}"), kind: "embedding", payload: payload.to_string() }
    }
}

/// A vector that would make an answer better. `wit/toolbox` has the same record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WantedVector {
    /// The embedder.
    pub model: String,
    /// The text to embed.
    pub text: String,
    /// How long the host should wait for the vector at most, in milliseconds.
    pub deadline_ms: u32,
}

/// The most follow-ups that are listed at once.
pub(crate) const MAX_PENDING: usize = 100;

/// The answer to a follow-up of the kind `summary`.
#[derive(Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub(crate) enum SummaryAnswer {
    /// A model's summary.
    Summary { model: String, summary: String },
    /// No model gave a summary.
    Failed {
        #[allow(dead_code, reason = "for the log of the host")]
        error: String,
    },
}

/// The answer to a follow-up of the kind `embedding`.
#[derive(Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub(crate) enum EmbeddingAnswer {
    /// The vectors of the texts, in order. `None` stands for a value that is no 32-bit number, which is
    /// refused later.
    Vectors { batch: String, model: String, vectors: Vec<Vec<Option<f32>>> },
    /// The embedder gave no vectors.
    Failed {
        batch: String,
        #[allow(dead_code, reason = "for the log of the host")]
        error: String,
    },
}
