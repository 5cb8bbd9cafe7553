//! Vectors of texts: for the follow-ups of a call, and for the query of a search.

use crate::agent_memory::AgentMemory;
use crate::cooldown::COOLDOWN;
use crate::model::{EmbeddedText, Embedder};
use crate::outcome::{FollowUp, WantedVector};
use serde::Deserialize;
use serde_json::{Value, json};
use std::slice;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The payload of a follow-up of the kind `embedding` that was claimed.
#[derive(Deserialize)]
struct Batch {
    models: Vec<String>,
    texts: Vec<String>,
    batch: String,
}

impl AgentMemory {
    /// Asks the embedder for the vector that a search wants. `None` if the search wants another
    /// embedder, if the embedder does not answer in time, or during a cool-down. A failure begins a
    /// cool-down.
    pub(crate) async fn vector(&self, wanted: &WantedVector) -> Option<EmbeddedText> {
        let embedder = self.embedder().filter(|embedder| embedder.name() == wanted.model)?;
        if self.cooldown().lasts(Instant::now()) {
            return None;
        }
        let vectors = embedded(embedder, slice::from_ref(&wanted.text), wanted.deadline).await;
        let one = vectors.and_then(|vectors| {
            <[Vec<f32>; 1]>::try_from(vectors).map_err(|vectors| {
                format!("`{}` gave {} vectors for a query", wanted.model, vectors.len())
            })
        });
        match one {
            Ok([vector]) => Some(EmbeddedText { text: wanted.text.clone(), vector }),
            Err(error) => {
                if self.cooldown().begin(Instant::now()) {
                    tracing::warn!(error, "searches go on without vectors for {COOLDOWN:?}");
                }
                None
            }
        }
    }

    /// The answer to a claimed follow-up of the kind `embedding`.
    pub(crate) async fn embedding(&self, claimed: &FollowUp) -> Result<Value, String> {
        let Batch { models, texts, batch } = serde_json::from_str(&claimed.payload)
            .map_err(|error| format!("its request cannot be read: {error}"))?;
        let embedder =
            self.embedder().filter(|embedder| models.iter().any(|of| of == embedder.name()));
        let answer = match embedder {
            Some(embedder) => embedded(embedder, &texts, self.model_timeout()).await,
            None => Err("its embedder cannot be asked".to_owned()),
        };
        Ok(match answer {
            Ok(vectors) => json!({ "batch": batch, "model": models.first(), "vectors": vectors }),
            Err(error) => {
                tracing::warn!(id = claimed.id, error, "vectors are left for later");
                json!({ "batch": batch, "error": error })
            }
        })
    }
}

/// Asks an embedder for the vectors of texts. An error if it does not answer within the given time.
async fn embedded(
    embedder: &Arc<dyn Embedder>,
    texts: &[String],
    within: Duration,
) -> Result<Vec<Vec<f32>>, String> {
    let asked = embedder.embed(texts, Instant::now() + within);
    match tokio::time::timeout(within, asked).await {
        Ok(answer) => answer.map_err(|error| format!("`{}`: {error}", embedder.name())),
        Err(_) => Err(format!("`{}` did not answer in time", embedder.name())),
    }
}
