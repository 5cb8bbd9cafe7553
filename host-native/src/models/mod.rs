//! Models over HTTP. Summaries come from the Messages API of Anthropic or an endpoint that is compatible
//! with OpenAI's, vectors from an endpoint that is compatible with OpenAI's.
//!
//! Memories are sent only to the host of the given [`Endpoint`]: redirects are not followed, and no proxy
//! is used. The first request logs the destination. No error contains a key.

mod anthropic;
mod embeddings;
mod endpoint;
mod openai;
mod service;

pub use anthropic::Anthropic;
pub use embeddings::OpenAiEmbedder;
pub use endpoint::{Endpoint, InvalidEndpoint};
pub use openai::OpenAi;
