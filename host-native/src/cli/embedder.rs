use super::Error;
use super::models::Service;
use crate::Builder;
use crate::models::OpenAiEmbedder;
use clap::Args;
use std::ffi::OsString;
use std::sync::Arc;

const URL: &str = "--embedder";
const MODEL: &str = "--embedder-model";
const KEY: &str = "AGENT_MEMORY_EMBEDDER_KEY";

// The embedder over HTTP. No doc comment here: clap would show it as the help of each command.
#[derive(Debug, Args)]
pub(super) struct EmbedderOptions {
    /// URL of an API for vectors that is compatible with OpenAI's, such as `http://localhost:11434/v1`
    ///
    /// Its `/embeddings` gets the texts of memories and the queries of searches, with the key
    /// `AGENT_MEMORY_EMBEDDER_KEY` if that is set. `http://` is for this machine only. [env:
    /// AGENT_MEMORY_EMBEDDER]
    #[arg(long, value_name = "URL", help_heading = "Models")]
    embedder: Option<OsString>,

    /// Model of that API
    ///
    /// Its vectors are stored under this name. Those of another name are ignored. [env:
    /// AGENT_MEMORY_EMBEDDER_MODEL]
    #[arg(long, value_name = "MODEL", help_heading = "Models")]
    embedder_model: Option<OsString>,
}

impl EmbedderOptions {
    /// Adds the embedder, if there is a URL.
    pub(super) fn add(&self, builder: Builder) -> Result<Builder, Error> {
        let url = (URL, self.embedder.as_ref());
        let model = (MODEL, self.embedder_model.as_ref());
        let Some(Service { endpoint, key, model }) = Service::new(url, model, KEY)? else {
            return Ok(builder);
        };
        let embedder = OpenAiEmbedder::new(endpoint, key.as_deref(), model);
        Ok(builder.embedder(Arc::new(embedder)))
    }
}
