//! Models over HTTP: those that write summaries, behind the Messages API of Anthropic and endpoints
//! that are compatible with OpenAI's, and those that give vectors, behind the latter.
//!
//! Memories go to the [`Endpoint`] that was given and to no other host: a redirect is not followed,
//! and no proxy is used. The first request logs the destination. No error contains a key.

mod anthropic;
mod embeddings;
mod endpoint;
mod openai;
mod service;

pub use anthropic::Anthropic;
pub use embeddings::OpenAiEmbedder;
pub use endpoint::{Endpoint, InvalidEndpoint};
pub use openai::OpenAi;
