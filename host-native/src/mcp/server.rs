use super::answer::{answer, listed};
use super::intake;
use super::refusal::{Era, refusal, unknown_method};
use super::roots::{ClientRoots, KnownRoots};
use crate::{Audience, Memory, Tool};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, CustomRequest,
    CustomResult, Implementation, InitializeRequestParams, InitializeResult, JsonObject,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    MetaObject, PaginatedRequestParams, ServerCapabilities, ServerConfig, SubscriptionFilter,
};
use rmcp::service::{NotificationContext, RequestContext, RoleServer, SubscriptionContext};
use rmcp::{ErrorData, ServerHandler, model};
use serde_json::json;
use tokio_util::sync::CancellationToken;

type Request = RequestContext<RoleServer>;

/// What one client talks to.
pub(super) struct Server {
    memory: Memory,
    tools: Vec<model::Tool>,
    known_roots: KnownRoots,
    /// Cancelled when the client sends nothing more.
    end: CancellationToken,
}

impl Server {
    pub(super) fn new(memory: Memory, end: CancellationToken) -> Self {
        let tools = for_models(&memory).map(listed).collect();
        Server { memory, tools, known_roots: KnownRoots::default(), end }
    }

    /// Whether a name is that of a tool for models, alone or after its toolset's. The component
    /// knows which of the latter are mounted.
    fn offers(&self, name: &str) -> bool {
        let named = self.memory.tools().iter().filter(|tool| {
            let toolset = name.strip_suffix(&*tool.name);
            toolset.is_some_and(|toolset| toolset.is_empty() || toolset.ends_with('_'))
        });
        // Of `x` and `y_x` the longer one is meant by `z_y_x`.
        let meant = named.max_by_key(|tool| tool.name.len());
        meant.is_some_and(|tool| tool.audience == Audience::Model)
    }
}

fn for_models(memory: &Memory) -> impl Iterator<Item = &Tool> {
    let tools = memory.tools().iter();
    tools.filter(|tool| tool.audience == Audience::Model)
}

/// The server's name in results: the stateless era has no handshake that says it once.
fn name_in_result(request: &Request) -> Option<MetaObject> {
    (Era::of(request) == Era::Stateless).then(|| {
        let name = ("io.modelcontextprotocol/serverInfo".to_owned(), json!(identity()));
        MetaObject(JsonObject::from_iter([name]))
    })
}

fn identity() -> Implementation {
    Implementation::new("agent-memory", env!("CARGO_PKG_VERSION")).with_title("Agent memory")
}

fn instructions(tools: &[model::Tool]) -> String {
    let names = tools.iter().map(|tool| format!("`{}`", tool.name));
    format!(
        "Memory that outlives this conversation, in files that people can read. Read what earlier \
         sessions left before you begin, and write down what later ones will need while you work. \
         Nothing is remembered by itself. Tools, in the order of use: {}. A result with `isError` \
         says what to do instead; unless it failed midway, it has changed nothing.",
        names.collect::<Vec<_>>().join(", ")
    )
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(identity())
            .with_instructions(instructions(&self.tools))
    }

    async fn initialize(
        &self,
        params: InitializeRequestParams,
        request: Request,
    ) -> Result<InitializeResult, ErrorData> {
        // `rmcp` notes the client before it asks; a session without one began statelessly.
        if request.peer.peer_info().is_none() {
            return Err(unknown_method("initialize"));
        }
        request.peer.set_peer_info(params.clone());
        self.negotiate_initialize(&params)
    }

    async fn list_tools(
        &self,
        page: Option<PaginatedRequestParams>,
        request: Request,
    ) -> Result<ListToolsResult, ErrorData> {
        if let Some(cursor) = page.and_then(|page| page.cursor) {
            return Err(ErrorData::invalid_params(
                format!("`{cursor}` is no cursor of this server: its list is one page"),
                None,
            ));
        }
        let mut result = ListToolsResult::with_all_items(self.tools.clone());
        result.meta = name_in_result(&request);
        Ok(result)
    }

    fn get_tool(&self, name: &str) -> Option<model::Tool> {
        self.tools.iter().find(|tool| tool.name == name).cloned()
    }

    async fn call_tool(
        &self,
        call: CallToolRequestParams,
        request: Request,
    ) -> Result<CallToolResponse, ErrorData> {
        if !self.offers(&call.name) {
            return Err(ErrorData::invalid_params(
                format!("there is no tool `{}`: `tools/list` names them all", call.name),
                None,
            ));
        }
        let arrival =
            intake::arrival(&request.extensions).unwrap_or_else(|| self.memory.arrive(&call.name));
        let arguments = serde_json::Value::Object(call.arguments.unwrap_or_default()).to_string();
        let roots = ClientRoots::of(&request, &self.known_roots, &self.end);
        let outcome = tokio::select! {
            outcome = self.memory.call_as(arrival, &call.name, &arguments, roots) => outcome,
            () = request.ct.cancelled() => {
                tracing::debug!(tool = %call.name, "cancelled");
                return Err(ErrorData::internal_error("the call was cancelled", None));
            }
        };
        let mut result = answer(outcome)?;
        tracing::debug!(tool = %call.name, error = result.is_error, "answered");
        result.meta = name_in_result(&request);
        Ok(result.into())
    }

    /// The tools never change while the server runs, and there is nothing else yet: a subscription
    /// is open, and quiet.
    fn accepted_subscription_filter(&self, _: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(SubscriptionFilter::new())
    }

    async fn listen(&self, subscription: SubscriptionContext) -> Result<(), ErrorData> {
        tokio::select! {
            () = subscription.cancelled() => {}
            () = self.end.cancelled() => {}
        }
        Ok(())
    }

    async fn on_roots_list_changed(&self, _: NotificationContext<RoleServer>) {
        self.known_roots.forget();
    }

    async fn on_custom_request(
        &self,
        custom: CustomRequest,
        request: Request,
    ) -> Result<CustomResult, ErrorData> {
        Err(refusal(&custom.method, Era::of(&request)))
    }

    // Capabilities that are not declared have no methods. `rmcp` would answer with empty lists.

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Request,
    ) -> Result<ListResourcesResult, ErrorData> {
        Err(unknown_method("resources/list"))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Request,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Err(unknown_method("resources/templates/list"))
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Request,
    ) -> Result<ListPromptsResult, ErrorData> {
        Err(unknown_method("prompts/list"))
    }

    async fn complete(
        &self,
        _: CompleteRequestParams,
        _: Request,
    ) -> Result<CompleteResult, ErrorData> {
        Err(unknown_method("completion/complete"))
    }
}
