//! Models over HTTP that write summaries: the Messages API of Anthropic, and endpoints that are
//! compatible with OpenAI's.
//!
//! Memories go to the [`Endpoint`] that was given and to no other host: a redirect is not followed,
//! and no proxy is used. The first request logs the destination. No error contains a key.

mod anthropic;
mod endpoint;
mod openai;
mod service;

pub use anthropic::Anthropic;
pub use endpoint::{Endpoint, InvalidEndpoint};
pub use openai::OpenAi;
