#![expect(deprecated, reason = "older clients still sample")]

use crate::{BoxFuture, Model, ModelError, SummaryRequest};
use rmcp::model::{
    ClientCapabilities, CreateMessageRequestParams, SamplingMessage, SamplingMessageContentBlock,
};
use rmcp::service::{Peer, RoleServer};
use std::sync::Arc;

/// The maximum number of tokens of a summary, enough for 1,000 characters in any script.
const MAX_TOKENS: u32 = 1_000;

/// The model of a client, which the server asks by MCP's sampling. The client's protocol version has a
/// handshake: stateless versions have no sampling.
pub(super) struct Sampling(Peer<RoleServer>);

impl Sampling {
    /// The model of a client. `None` if the client does not let a server ask its model.
    pub(super) fn from_client(
        client: &Peer<RoleServer>,
        capabilities: Option<&ClientCapabilities>,
    ) -> Option<Arc<dyn Model>> {
        capabilities?.sampling.as_ref()?;
        Some(Arc::new(Sampling(client.clone())))
    }
}

impl Model for Sampling {
    fn name(&self) -> &str {
        "sampling"
    }

    fn summarize<'a>(
        &'a self,
        request: &'a SummaryRequest,
    ) -> BoxFuture<'a, Result<String, ModelError>> {
        Box::pin(async move {
            let message = SamplingMessage::user_text(request.prompt());
            let params = CreateMessageRequestParams::new(vec![message], MAX_TOKENS)
                .with_system_prompt(&request.instructions);
            let answer = self.0.create_message(params).await?;
            let texts =
                answer.message.content.into_vec().into_iter().filter_map(|part| match part {
                    SamplingMessageContentBlock::Text(text) => Some(text.text),
                    _ => None,
                });
            Ok(texts.collect())
        })
    }
}
