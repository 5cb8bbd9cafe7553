use super::Endpoint;
use super::service::{Service, Use};
use crate::{BoxFuture, Embedder, ModelError};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Instant;

/// The maximum size of an answer in bytes, enough for 32 vectors of 4,096 numbers.
const MAX_ANSWER: u64 = 8 << 20;

/// An embedder behind an endpoint that is compatible with OpenAI's, such as a local one.
///
/// A request whose future is dropped still runs on a blocking thread of tokio, until its deadline at the
/// latest.
pub struct OpenAiEmbedder(Arc<Service>);

#[derive(Deserialize)]
struct Answer {
    data: Vec<Embedding>,
}

#[derive(Deserialize)]
struct Embedding {
    index: Option<usize>,
    embedding: Vec<f32>,
}

impl OpenAiEmbedder {
    /// A model of an endpoint such as `http://localhost:11434/v1`. Many local servers need no key.
    pub fn new(endpoint: Endpoint, key: Option<&str>, model: impl Into<String>) -> OpenAiEmbedder {
        let key = key.map(|key| ("authorization", format!("Bearer {}", key.trim())));
        let headers = key.into_iter().collect();
        let service = Service::new(endpoint, "embeddings", model.into(), headers);
        OpenAiEmbedder(Arc::new(service.to(Use { verb: "embedded", max_answer: MAX_ANSWER })))
    }
}

impl Embedder for OpenAiEmbedder {
    fn name(&self) -> &str {
        self.0.model()
    }

    fn embed<'a>(
        &'a self,
        texts: &'a [String],
        deadline: Instant,
    ) -> BoxFuture<'a, Result<Vec<Vec<f32>>, ModelError>> {
        let body = json!({ "model": self.0.model(), "input": texts, "encoding_format": "float" });
        Service::ask(&self.0, body, deadline, vectors)
    }
}

/// The vectors in the order of the texts. Servers may send them in another order.
fn vectors(answer: Value) -> Result<Vec<Vec<f32>>, String> {
    let answer: Answer = serde_json::from_value(answer)
        .map_err(|_| "the answer is none of the API of embeddings".to_owned())?;
    let mut data: Vec<(usize, Vec<f32>)> =
        answer.data.into_iter().enumerate().map(indexed).collect();
    data.sort_by_key(|(index, _)| *index);
    if data.iter().enumerate().any(|(at, (index, _))| at != *index) {
        return Err("the answer does not have one vector for each text".to_owned());
    }
    Ok(data.into_iter().map(|(_, vector)| vector).collect())
}

fn indexed((at, of): (usize, Embedding)) -> (usize, Vec<f32>) {
    (of.index.unwrap_or(at), of.embedding)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_are_in_the_order_of_the_texts() {
        let of = |data: Value| vectors(json!({ "object": "list", "data": data }));
        let two =
            json!([{"index": 1, "embedding": [3, 4.5]}, {"index": 0, "embedding": [-1, 2e0]}]);
        assert_eq!(of(two), Ok(vec![vec![-1.0, 2.0], vec![3.0, 4.5]]));
        let unnumbered = json!([{"embedding": [1]}, {"embedding": [2]}]);
        assert_eq!(of(unnumbered), Ok(vec![vec![1.0], vec![2.0]]));
        for bad in [
            json!([{"index": 0, "embedding": [1]}, {"index": 0, "embedding": [2]}]),
            json!([{"index": 1, "embedding": [1]}]),
            json!([{"index": 0, "embedding": [null]}]),
            json!([{"index": 0, "embedding": "AACAPw=="}]),
            json!({}),
        ] {
            assert!(of(bad.clone()).is_err(), "{bad}");
        }
    }
}
