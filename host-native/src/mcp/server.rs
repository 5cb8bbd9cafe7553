use super::answer::{answer, listed};
use super::error::{unknown_method, unrecognised};
use super::instructions::{identity, instructions};
use super::intake;
#[cfg(feature = "http")]
use super::metrics::Metrics;
use super::prompts;
use super::resources::{self, is_resource};
use super::roots::KnownRoots;
use super::sampling::Sampling;
use super::subscriptions::{MAX_SUBSCRIPTIONS, Subscriptions};
use super::version::Version;
use crate::{AgentMemory, Caller, Reach, Tool};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, CustomRequest,
    CustomResult, GetPromptRequestParams, GetPromptResponse, InitializeRequestParams,
    InitializeResult, JsonObject, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, MetaObject, PaginatedRequestParams, PromptsCapability,
    ReadResourceRequestParams, ReadResourceResponse, ResourcesCapability, ServerCapabilities,
    ServerConfig, SubscribeRequestParams, SubscriptionFilter, UnsubscribeRequestParams,
};
use rmcp::service::{NotificationContext, RequestContext, RoleServer, SubscriptionContext};
use rmcp::{ErrorData, ServerHandler, model};
use serde_json::{Value, json};
use std::sync::Arc;
#[cfg(feature = "http")]
use std::time::Instant;
use tokio_util::sync::CancellationToken;

pub(super) type Request = RequestContext<RoleServer>;

/// The transport of a client's messages.
#[derive(Clone, Debug)]
pub(super) enum Transport {
    /// One connection for all messages of one client.
    Stdio,
    /// HTTP, without a session. In protocol versions before 2026-07-28, the server sends a client only
    /// answers, and no notifications.
    #[cfg(feature = "http")]
    Http(Metrics),
}

/// The MCP handler of one client; over HTTP, of one request.
#[derive(Clone)]
pub(super) struct Server {
    /// The memory whose tools are offered to every client, whatever its tenant. The calls of a client go
    /// to [the memory of its tenant](Server::memory_of).
    pub(super) offered: AgentMemory,
    pub(super) transport: Transport,
    tools: Arc<[model::Tool]>,
    pub(super) known_roots: KnownRoots,
    subscriptions: Subscriptions,
    /// Cancelled when the input has ended.
    pub(super) end: CancellationToken,
}

impl Server {
    pub(super) fn new(memory: AgentMemory, end: CancellationToken, transport: Transport) -> Self {
        let tools = memory.tools_for_models().map(listed).collect();
        let known_roots = KnownRoots::default();
        let subscriptions = Subscriptions::default();
        Server { offered: memory, transport, tools, known_roots, subscriptions, end }
    }

    /// Whether the server can send notifications to a client that began with `initialize`.
    fn can_notify(&self) -> bool {
        matches!(self.transport, Transport::Stdio)
    }

    fn has_resources(&self) -> bool {
        !self.offered.resources().is_empty() || !self.offered.resource_templates().is_empty()
    }

    /// Whether a prompt or a resource template has arguments that can be completed.
    fn has_completion(&self) -> bool {
        !self.offered.prompts().is_empty() || !self.offered.resource_templates().is_empty()
    }

    /// Checks that there are prompts. Without them, `rmcp` would answer with empty lists.
    fn check_prompts(&self, method: &str) -> Result<(), ErrorData> {
        if self.offered.prompts().is_empty() { Err(unknown_method(method)) } else { Ok(()) }
    }

    /// Reads each of these resources with the given reach. `None` for a resource that cannot be read
    /// with this reach.
    async fn read_all(memory: &AgentMemory, uris: &[String], reach: &Reach) -> Vec<Option<String>> {
        let mut contents = Vec::new();
        for uri in uris {
            let caller = Caller { reach: reach.clone(), ..Caller::default() };
            let read = memory.read_resource(uri, caller).await;
            contents.push(read.ok().and_then(|outcome| outcome.answer.ok()));
        }
        contents
    }

    /// Checks a request for a list of resources. It is refused if there are no resources, or if it asks
    /// for a second page: every list is one page.
    fn check_list(
        &self,
        method: &str,
        page: Option<PaginatedRequestParams>,
    ) -> Result<(), ErrorData> {
        if !self.has_resources() {
            return Err(unknown_method(method));
        }
        one_page(page)
    }

    /// Checks that a client of this protocol version can subscribe to the resource.
    fn check_subscription(
        &self,
        method: &str,
        uri: &str,
        request: &Request,
    ) -> Result<(), ErrorData> {
        let version = Version::from_request(request);
        if !self.has_resources() || version == Version::Stateless || !self.can_notify() {
            return Err(unknown_method(method));
        }
        is_resource(&self.offered, uri)
            .then_some(())
            .ok_or_else(|| resources::unknown(uri, version))
    }

    /// Whether a tool for models that the client reaches has this name.
    fn has_tool(&self, name: &str, reach: &Reach) -> bool {
        self.reached_tools(reach).any(|tool| tool.is_called(name))
    }

    fn reached_tools(&self, reach: &Reach) -> impl Iterator<Item = &Tool> {
        let reads_only = reach.read_only;
        let tools = self.offered.tools_for_models();
        tools.filter(move |tool| !reads_only || tool.annotations.read_only_hint)
    }

    /// The message for a name that no tool has. If tools of several toolsets have one name, each tool's
    /// full name ends with it, and the message lists these full names.
    fn no_tool(&self, name: &str, reach: &Reach) -> String {
        let end = format!("_{name}");
        let qualified = self.reached_tools(reach).filter(|tool| tool.name.ends_with(&end));
        let qualified: Vec<_> = qualified.map(|tool| format!("`{}`", tool.name)).collect();
        match &qualified[..] {
            [] => format!("there is no tool `{name}`: `tools/list` names them all"),
            names => format!("there is no tool `{name}`: call {}", names.join(" or ")),
        }
    }
}

fn one_page(page: Option<PaginatedRequestParams>) -> Result<(), ErrorData> {
    // Some clients send an empty cursor for the first page.
    let cursor = page.and_then(|page| page.cursor).filter(|cursor| !cursor.is_empty());
    cursor.map_or(Ok(()), |cursor| {
        let message = format!("unknown cursor `{cursor}`: every list is one page, so leave it out");
        Err(ErrorData::invalid_params(message, None))
    })
}

/// The server's name for the metadata of a result. `None` if the protocol version has a handshake, which
/// gives the name once.
fn name_in_result(request: &Request) -> Option<MetaObject> {
    (Version::from_request(request) == Version::Stateless).then(|| {
        let name = ("io.modelcontextprotocol/serverInfo".to_owned(), json!(identity()));
        MetaObject(JsonObject::from_iter([name]))
    })
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let mut capabilities = ServerCapabilities::builder().enable_tools().build();
        capabilities.resources = self.has_resources().then(|| {
            let mut resources = ResourcesCapability::default();
            resources.subscribe = Some(true);
            resources
        });
        capabilities.prompts =
            (!self.offered.prompts().is_empty()).then(PromptsCapability::default);
        capabilities.completions = self.has_completion().then(JsonObject::default);
        ServerConfig::new(capabilities)
            .with_server_info(identity())
            .with_instructions(instructions(&self.offered))
    }

    async fn initialize(
        &self,
        params: InitializeRequestParams,
        request: Request,
    ) -> Result<InitializeResult, ErrorData> {
        // In a session that began with `initialize`, `rmcp` has already stored the client's
        // information. Without it, the session is stateless and has no method `initialize`.
        if matches!(self.transport, Transport::Stdio) && request.peer.peer_info().is_none() {
            return Err(unknown_method("initialize"));
        }
        request.peer.set_peer_info(params.clone());
        let mut result = self.negotiate_initialize(&params)?;
        if let Some(resources) = &mut result.capabilities.resources {
            resources.subscribe = self.can_notify().then_some(true);
        }
        Ok(result)
    }

    async fn list_tools(
        &self,
        page: Option<PaginatedRequestParams>,
        request: Request,
    ) -> Result<ListToolsResult, ErrorData> {
        one_page(page)?;
        let reach = self.reach(&request);
        let tools = self.tools.iter().filter(|tool| self.has_tool(&tool.name, &reach));
        let mut result = ListToolsResult::with_all_items(tools.cloned().collect());
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
        // Every call gets a number when it arrives, even if it is refused.
        let memory = self.memory_of(&request);
        let arrival = intake::arrival(&request.extensions)
            .unwrap_or_else(|| memory.arrive_for(self.client(&request), &call.name));
        let caller = self.caller(&request)?;
        if !self.has_tool(&call.name, &caller.reach) {
            return Err(ErrorData::invalid_params(self.no_tool(&call.name, &caller.reach), None));
        }
        let arguments = serde_json::Value::Object(call.arguments.unwrap_or_default()).to_string();
        #[cfg(feature = "http")]
        let begun = Instant::now();
        let outcome = tokio::select! {
            outcome = memory.call_as(arrival, &call.name, &arguments, caller) => outcome,
            () = request.ct.cancelled() => {
                tracing::debug!(tool = %call.name, "cancelled");
                #[cfg(feature = "http")]
                self.count_and_audit(&request, &call.name, begun.elapsed(), None);
                return Err(ErrorData::internal_error("the call was cancelled", None));
            }
        };
        #[cfg(feature = "http")]
        self.count_and_audit(&request, &call.name, begun.elapsed(), Some(&outcome));
        let mut result = answer(outcome)?;
        tracing::debug!(tool = %call.name, error = result.is_error, "answered");
        result.meta = name_in_result(&request);
        Ok(result.into())
    }

    /// The lists never change while the server runs, so only resources can be subscribed to.
    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        let uris = requested.resource_subscriptions.iter().flatten();
        let known = uris.filter(|uri| is_resource(&self.offered, uri)).take(MAX_SUBSCRIPTIONS);
        let known: Vec<String> = known.cloned().collect();
        let filter = SubscriptionFilter::builder();
        Some(if known.is_empty() { filter } else { filter.resource_subscriptions(known) }.build())
    }

    async fn listen(&self, subscription: SubscriptionContext) -> Result<(), ErrorData> {
        let reach = self.reach(subscription.request_context());
        let memory = self.memory_of(subscription.request_context());
        let uris = subscription.accepted().resource_subscriptions.clone().unwrap_or_default();
        let mut changes = memory.changes();
        // A client's reach decides what it reads at a URI. So a client with a limited reach is notified
        // only if the text that it reads has changed.
        let is_limited = reach.is_limited();
        let mut known =
            if is_limited { Self::read_all(memory, &uris, &reach).await } else { Vec::new() };
        let notify = async {
            while let Some(changed) = changes.next().await {
                if !self.may_go_on(subscription.request_context()) {
                    return;
                }
                let mut updated: Vec<_> = uris.iter().filter(|uri| changed.concerns(uri)).collect();
                if is_limited {
                    let now = Self::read_all(memory, &uris, &reach).await;
                    let both = uris.iter().zip(known.iter().zip(&now));
                    updated =
                        both.filter(|(_, (old, new))| old != new).map(|(uri, _)| uri).collect();
                    known = now;
                }
                for uri in updated {
                    if subscription.sink().notify_resource_updated(uri).await.is_err() {
                        return;
                    }
                }
            }
        };
        tokio::select! {
            () = notify => {}
            () = self.shut_out(subscription.request_context()) => {}
            () = subscription.cancelled() => {}
            () = self.end.cancelled() => {}
        }
        Ok(())
    }

    async fn list_resources(
        &self,
        page: Option<PaginatedRequestParams>,
        request: Request,
    ) -> Result<ListResourcesResult, ErrorData> {
        self.check_list("resources/list", page)?;
        let resources = self.offered.resources().iter().map(resources::listed);
        let mut result = ListResourcesResult::with_all_items(resources.collect());
        result.meta = name_in_result(&request);
        Ok(result)
    }

    async fn list_resource_templates(
        &self,
        page: Option<PaginatedRequestParams>,
        request: Request,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        self.check_list("resources/templates/list", page)?;
        let templates = self.offered.resource_templates().iter().map(resources::listed_template);
        let mut result = ListResourceTemplatesResult::with_all_items(templates.collect());
        result.meta = name_in_result(&request);
        Ok(result)
    }

    async fn read_resource(
        &self,
        read: ReadResourceRequestParams,
        request: Request,
    ) -> Result<ReadResourceResponse, ErrorData> {
        if !self.has_resources() {
            return Err(unknown_method("resources/read"));
        }
        let caller = self.caller(&request)?;
        let outcome = tokio::select! {
            outcome = self.memory_of(&request).read_resource(&read.uri, caller) => outcome,
            () = request.ct.cancelled() => {
                return Err(ErrorData::internal_error("the request was cancelled", None));
            }
        };
        let mut result = resources::read(outcome, &read.uri, Version::from_request(&request))?;
        result.meta = name_in_result(&request);
        Ok(result.into())
    }

    async fn subscribe(
        &self,
        wanted: SubscribeRequestParams,
        request: Request,
    ) -> Result<(), ErrorData> {
        self.check_subscription("resources/subscribe", &wanted.uri, &request)?;
        let memory = self.memory_of(&request).clone();
        if self.subscriptions.add(wanted.uri, &memory, request.peer, &self.end) {
            return Ok(());
        }
        let message = format!("a client subscribes to at most {MAX_SUBSCRIPTIONS} resources");
        Err(ErrorData::invalid_params(message, None))
    }

    async fn unsubscribe(
        &self,
        wanted: UnsubscribeRequestParams,
        request: Request,
    ) -> Result<(), ErrorData> {
        self.check_subscription("resources/unsubscribe", &wanted.uri, &request)?;
        self.subscriptions.remove(&wanted.uri);
        Ok(())
    }

    async fn on_initialized(&self, session: NotificationContext<RoleServer>) {
        let client = session.peer.peer_info().map(|client| client.capabilities.clone());
        let models =
            Sampling::from_client(&session.peer, client.as_ref()).into_iter().collect::<Vec<_>>();
        if !models.is_empty() {
            self.offered.resume(Caller { models, ..Caller::default() });
        }
    }

    async fn on_roots_list_changed(&self, _: NotificationContext<RoleServer>) {
        self.known_roots.forget();
    }

    async fn on_custom_request(
        &self,
        custom: CustomRequest,
        request: Request,
    ) -> Result<CustomResult, ErrorData> {
        let has_method = match custom.method.as_str() {
            "prompts/list" | "prompts/get" => !self.offered.prompts().is_empty(),
            "completion/complete" => self.has_completion(),
            _ => true,
        };
        Err(if has_method {
            unrecognised(&custom.method, Version::from_request(&request))
        } else {
            unknown_method(&custom.method)
        })
    }

    async fn list_prompts(
        &self,
        page: Option<PaginatedRequestParams>,
        request: Request,
    ) -> Result<ListPromptsResult, ErrorData> {
        self.check_prompts("prompts/list")?;
        one_page(page)?;
        let prompts = self.offered.prompts().iter().map(prompts::listed);
        let mut result = ListPromptsResult::with_all_items(prompts.collect());
        result.meta = name_in_result(&request);
        Ok(result)
    }

    async fn get_prompt(
        &self,
        prompt: GetPromptRequestParams,
        request: Request,
    ) -> Result<GetPromptResponse, ErrorData> {
        self.check_prompts("prompts/get")?;
        let arguments = Value::Object(prompt.arguments.unwrap_or_default()).to_string();
        let caller = self.caller(&request)?;
        let outcome = self.memory_of(&request).get_prompt(&prompt.name, &arguments, caller).await;
        let mut result = prompts::prompt(outcome)?;
        result.meta = name_in_result(&request);
        Ok(result.into())
    }

    async fn complete(
        &self,
        params: CompleteRequestParams,
        request: Request,
    ) -> Result<CompleteResult, ErrorData> {
        if !self.has_completion() {
            return Err(unknown_method("completion/complete"));
        }
        let completion = prompts::completion(params)?;
        let caller = self.caller(&request)?;
        let outcome = self.memory_of(&request).complete(completion, caller).await;
        let mut result = CompleteResult::new(prompts::completed(outcome)?);
        result.meta = name_in_result(&request);
        Ok(result)
    }
}
