//! [`AgentMemory`], the handle with which a program uses the memory.

mod once;
mod own;
mod places;
mod tenants;

use crate::arrival::{Arrival, Arrivals};
use crate::background::InProgress;
use crate::call::{Call, Cancellation};
use crate::caller::Caller;
use crate::capability::toolbox;
use crate::changes::Changes;
use crate::completion::Completion;
use crate::cooldown::Cooldown;
use crate::description::{Audience, MountedToolset, Prompt, Resource, ResourceTemplate, Tool};
use crate::engine::Engine;
use crate::model::{EmbeddedText, Embedder, Model};
use crate::outcome::{CallError, Outcome};
use crate::repeats::Repeats;
use crate::storage::{CallKey, Storage};
use own::Own;
pub(crate) use own::Tenants;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinError;

/// The memory: the WebAssembly component with its settings and granted places. A clone refers to the
/// same memory.
#[derive(Clone)]
pub struct AgentMemory {
    mounted: Arc<Mounted>,
    own: Arc<Own>,
}

/// The parts that the memories of all tenants share.
pub(crate) struct Mounted {
    pub(crate) engine: Arc<Engine>,
    pub(crate) settings: toolbox::Settings,
    /// The agents to which every call is bound. `None`: all agents.
    pub(crate) agents: Option<Vec<String>>,
    pub(crate) toolsets: Vec<MountedToolset>,
    pub(crate) tools: Vec<Tool>,
    pub(crate) resources: Vec<Resource>,
    pub(crate) resource_templates: Vec<ResourceTemplate>,
    pub(crate) prompts: Vec<Prompt>,
    pub(crate) models: Vec<Arc<dyn Model>>,
    pub(crate) external_models: Vec<String>,
    pub(crate) embedder: Option<Arc<dyn Embedder>>,
    pub(crate) cooldown: Cooldown,
    pub(crate) external_embedder: Option<String>,
    pub(crate) model_timeout: Duration,
    pub(crate) arrivals: Arrivals,
    pub(crate) tenants: Tenants,
    pub(crate) repeats: Repeats,
}

impl Mounted {
    /// The context that the component gets for a call.
    fn context(
        &self,
        arrival: &Arrival,
        models: &[Arc<dyn Model>],
        caller: &Caller,
    ) -> toolbox::Context {
        let names = models.iter().map(|model| model.name().to_owned());
        let embedder = self.embedder.as_ref().map(|embedder| embedder.name().to_owned());
        let vector = caller.vector.clone();
        let vector =
            vector.map(|EmbeddedText { text, vector }| toolbox::EmbeddedText { text, vector });
        toolbox::Context {
            settings: self.settings.clone(),
            now: arrival.now.as_millisecond(),
            zone: (*arrival.zone).clone(),
            seed: arrival.seed,
            principal: None,
            agents: caller.reach.agents_within(self.agents.as_deref()),
            stores: caller.reach.stores.clone(),
            repository: None,
            models: names.chain(self.external_models.iter().cloned()).collect(),
            embedder: embedder.or_else(|| self.external_embedder.clone()),
            vector,
        }
    }
}

impl fmt::Debug for AgentMemory {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("AgentMemory")
            .field("settings", &self.mounted.settings)
            .finish_non_exhaustive()
    }
}

impl AgentMemory {
    pub(crate) fn new(mounted: Mounted, storage: Storage) -> AgentMemory {
        let own = Own::new(storage, InProgress::default());
        AgentMemory { mounted: Arc::new(mounted), own: Arc::new(own) }
    }

    /// The mounted toolsets, in the order that users should see.
    pub fn toolsets(&self) -> &[MountedToolset] {
        &self.mounted.toolsets
    }

    /// The mounted tools, for models and for people, in the order that users should see.
    pub fn tools(&self) -> &[Tool] {
        &self.mounted.tools
    }

    /// The mounted tools for models, in the order that users should see.
    #[cfg(feature = "mcp")]
    pub(crate) fn tools_for_models(&self) -> impl Iterator<Item = &Tool> {
        self.tools().iter().filter(|tool| tool.audience == Audience::Model)
    }

    /// The resources of the mounted toolsets, in the order that users should see.
    pub fn resources(&self) -> &[Resource] {
        &self.mounted.resources
    }

    /// The templates of further resources, in the order that users should see.
    pub fn resource_templates(&self) -> &[ResourceTemplate] {
        &self.mounted.resource_templates
    }

    /// The prompts of the mounted toolsets.
    pub fn prompts(&self) -> &[Prompt] {
        &self.mounted.prompts
    }

    /// The changes that calls make to resources from now on.
    pub fn changes(&self) -> Changes {
        self.own.notifier.subscribe()
    }

    /// Receives a call. The call gets its number, its time, its seed and, unless its tool only reads,
    /// its place among the writers.
    ///
    /// A server that runs several calls at once receives them in the order of their requests. It may
    /// then run them by [`call_as`](AgentMemory::call_as) in any order and on any thread: writers
    /// change a tree in the order of their arrival.
    pub fn arrive(&self, tool: &str) -> Arrival {
        self.arrive_for("", tool)
    }

    /// Receives a call of the given client, as [`arrive`](AgentMemory::arrive) does. Only writers of
    /// the same client keep the order of their arrival.
    pub(crate) fn arrive_for(&self, client: &str, tool: &str) -> Arrival {
        let writes = self.tool(tool).is_none_or(|tool| !tool.annotations.read_only_hint);
        self.mounted.arrivals.receive(writes.then(|| self.writer(client)))
    }

    /// The client's name with the address of the tenant's memory, so that it is unique among all
    /// tenants. A tenant's memory lives as long as the process, so no other tenant gets its address.
    fn writer(&self, client: &str) -> String {
        format!("{:p} {client}", Arc::as_ptr(&self.own))
    }

    /// Runs a tool; `arguments` is a JSON object, or empty for an object without members.
    ///
    /// The call runs on a tokio thread for blocking work. Dropping the future cancels the call: it
    /// ends within some milliseconds, or after its commit if that has begun.
    ///
    /// # Errors
    ///
    /// [`CallError::NotFound`], [`CallError::InvalidRequest`], and [`CallError::Ended`] if the host
    /// had to stop the component. An error of the tool is an [`Outcome`] with a
    /// [`ToolError`](crate::ToolError).
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime with a timer.
    pub async fn call(&self, tool: &str, arguments: &str) -> Result<Outcome, CallError> {
        let arrival = self.arrive(tool);
        self.call_as(arrival, tool, arguments, Caller::default()).await
    }

    /// Runs a call that [has arrived](AgentMemory::arrive), for a client.
    ///
    /// # Errors
    ///
    /// As [`call`](AgentMemory::call).
    ///
    /// # Panics
    ///
    /// As [`call`](AgentMemory::call).
    pub async fn call_as(
        &self,
        arrival: Arrival,
        tool: &str,
        arguments: &str,
        caller: Caller,
    ) -> Result<Outcome, CallError> {
        let tool_reads = self.tool(tool).map(|tool| tool.annotations.read_only_hint);
        if caller.reach.read_only && tool_reads == Some(false) {
            return Err(CallError::NotFound(format!("there is no tool `{tool}`")));
        }
        match caller.idempotency_key.clone() {
            Some(key) if tool_reads == Some(false) => {
                self.call_once(key, arrival, tool, arguments, caller).await
            }
            _ => {
                let caller = Caller { idempotency_key: None, ..caller };
                self.call_anew(arrival, tool, arguments, caller).await
            }
        }
    }

    /// Runs a call without looking at its idempotency key.
    async fn call_anew(
        &self,
        arrival: Arrival,
        tool: &str,
        arguments: &str,
        caller: Caller,
    ) -> Result<Outcome, CallError> {
        let audience = self.tool(tool).map_or(Audience::Model, |tool| tool.audience);
        let same = arrival.repeatable();
        let run = |arrival, caller| {
            let tool = tool.to_owned();
            let arguments = arguments.to_owned();
            self.on_a_thread(arrival, audience, caller, move |engine, call, context| {
                engine.call_tool(call, &tool, &arguments, context)
            })
        };
        let outcome = run(arrival, caller.clone()).await?;
        if let (Some(wanted), Some(same)) = (&outcome.wants_vector, same)
            && let Some(vector) = self.vector(wanted).await
        {
            let caller = Caller { vector: Some(vector), ..caller.clone() };
            match run(self.mounted.arrivals.again(&same), caller).await {
                Ok(better) if better.answer.is_ok() => return Ok(better),
                Ok(worse) => tracing::warn!(error = worse.json(), "a vector is not used"),
                Err(error) => tracing::warn!(%error, "a search with a vector ended"),
            }
        }
        self.follow_up(outcome.follow_ups.clone(), Caller { idempotency_key: None, ..caller });
        Ok(outcome)
    }

    /// Reads a resource for a client. The result is a JSON array of `{"uri", "mimeType", "text"}`.
    ///
    /// # Errors
    ///
    /// [`CallError::NotFound`] if there is no such resource, and [`CallError::Ended`]. An error of
    /// the toolset is an [`Outcome`] with a [`ToolError`](crate::ToolError).
    ///
    /// # Panics
    ///
    /// As [`call`](AgentMemory::call).
    pub async fn read_resource(&self, uri: &str, caller: Caller) -> Result<Outcome, CallError> {
        let uri = uri.to_owned();
        self.read_only(caller, move |engine, call, context| {
            engine.read_resource(call, &uri, context)
        })
        .await
    }

    /// Gets a prompt for a client. `arguments` is a JSON object whose values are strings. The result is
    /// `{"description", "messages": [{"role", "text"}]}`.
    ///
    /// # Errors
    ///
    /// [`CallError::NotFound`] if there is no such prompt, [`CallError::InvalidRequest`] if an
    /// argument is missing or unknown, and [`CallError::Ended`].
    ///
    /// # Panics
    ///
    /// As [`call`](AgentMemory::call).
    pub async fn get_prompt(
        &self,
        name: &str,
        arguments: &str,
        caller: Caller,
    ) -> Result<Outcome, CallError> {
        let name = name.to_owned();
        let arguments = arguments.to_owned();
        self.read_only(caller, move |engine, call, context| {
            engine.get_prompt(call, &name, &arguments, context)
        })
        .await
    }

    /// Completes an argument for a client. The result is a JSON array of at most 100 texts.
    ///
    /// # Errors
    ///
    /// [`CallError::NotFound`] if there is no such prompt, resource template or argument, and
    /// [`CallError::Ended`].
    ///
    /// # Panics
    ///
    /// As [`call`](AgentMemory::call).
    pub async fn complete(
        &self,
        completion: Completion,
        caller: Caller,
    ) -> Result<Outcome, CallError> {
        self.read_only(caller, move |engine, call, context| {
            engine.complete(call, &completion, context)
        })
        .await
    }

    /// Lists at most 100 follow-ups that wait in storage, for the agents that the caller reaches. They
    /// are in the `follow_ups` of the outcome. A follow-up that somebody has claimed is left out until
    /// its lease ends. The list is empty if the memory has neither a model nor an embedder.
    ///
    /// # Errors
    ///
    /// [`CallError::Ended`].
    ///
    /// # Panics
    ///
    /// As [`call`](AgentMemory::call).
    pub async fn pending(&self, caller: Caller) -> Result<Outcome, CallError> {
        self.read_only(caller, |engine, call, context| engine.pending(call, context)).await
    }

    /// Claims a follow-up for the time of `lease`, in whole seconds. The result is `true`, or `false`
    /// if somebody else has claimed it or nothing is left to do. If the outcome has a follow-up with
    /// this id, carry out that one, since only its payload is complete.
    ///
    /// # Errors
    ///
    /// [`CallError::NotFound`] if no follow-up has an id of this form, and [`CallError::Ended`].
    ///
    /// # Panics
    ///
    /// As [`call`](AgentMemory::call).
    pub async fn claim(&self, id: &str, lease: Duration) -> Result<Outcome, CallError> {
        let id = id.to_owned();
        let arrival = self.mounted.arrivals.receive(Some(self.writer("")));
        let seconds = u32::try_from(lease.as_secs()).unwrap_or(u32::MAX);
        let audience = Audience::Model;
        let caller = Caller::default();
        self.on_a_thread(arrival, audience, caller, move |engine, call, context| {
            engine.claim(call, &id, seconds, context)
        })
        .await
    }

    /// Answers a follow-up with JSON. For the kind `summary`, `payload` is `{"model", "summary"}`, or
    /// `{"error"}` if no model gave a summary. For the kind `embedding`, it is
    /// `{"batch", "model", "vectors"}` or `{"batch", "error"}`. The result is an object with `applied`;
    /// a second answer changes nothing.
    ///
    /// # Errors
    ///
    /// [`CallError::NotFound`] if no follow-up has an id of this form, and [`CallError::Ended`].
    ///
    /// # Panics
    ///
    /// As [`call`](AgentMemory::call).
    pub async fn answer(
        &self,
        id: &str,
        payload: &str,
        caller: Caller,
    ) -> Result<Outcome, CallError> {
        let id = id.to_owned();
        let payload = payload.to_owned();
        let arrival = self.mounted.arrivals.receive(Some(self.writer("")));
        let audience = Audience::Model;
        self.on_a_thread(arrival, audience, caller, move |engine, call, context| {
            engine.answer(call, &id, &payload, context)
        })
        .await
    }

    pub(crate) fn in_progress(&self) -> &InProgress {
        &self.own.in_progress
    }

    pub(crate) fn model_timeout(&self) -> Duration {
        self.mounted.model_timeout
    }

    /// The model that is asked for vectors.
    pub(crate) fn embedder(&self) -> Option<&Arc<dyn Embedder>> {
        self.mounted.embedder.as_ref()
    }

    /// The cool-down of the embedder.
    pub(crate) fn cooldown(&self) -> &Cooldown {
        &self.mounted.cooldown
    }

    /// The models that can be asked for a caller's summaries, the preferred one first.
    pub(crate) fn models_of(&self, caller: &Caller) -> Vec<Arc<dyn Model>> {
        caller.models.iter().chain(&self.mounted.models).cloned().collect()
    }

    fn tool(&self, name: &str) -> Option<&Tool> {
        self.mounted.tools.iter().find(|tool| tool.is_called(name))
    }

    async fn read_only(
        &self,
        caller: Caller,
        run: impl FnOnce(&Engine, Call, &toolbox::Context) -> Result<toolbox::Outcome, CallError>
        + Send
        + 'static,
    ) -> Result<Outcome, CallError> {
        self.on_a_thread(self.mounted.arrivals.receive(None), Audience::Model, caller, run).await
    }

    /// Runs a call on a thread for blocking work. If the future is dropped, the call is cancelled.
    async fn on_a_thread(
        &self,
        arrival: Arrival,
        audience: Audience,
        caller: Caller,
        run: impl FnOnce(&Engine, Call, &toolbox::Context) -> Result<toolbox::Outcome, CallError>
        + Send
        + 'static,
    ) -> Result<Outcome, CallError> {
        arrival.call_turn.served().await;
        let (cancellation, _cancel_on_drop) = Cancellation::new();
        let mounted = self.mounted.clone();
        let own = self.own.clone();
        let models = self.models_of(&caller);
        let ran = tokio::task::spawn_blocking(move || {
            let context = mounted.context(&arrival, &models, &caller);
            // Keeps the turn until the call has ended, even if the future is dropped earlier.
            let _turn = arrival.call_turn;
            let storage = own.storage.clone();
            let limits = mounted.engine.limits();
            let turn = arrival.writer_turn;
            let cancellation = Some(cancellation);
            let mut call = Call::new(storage, limits, audience, turn, caller.roots, cancellation);
            call.only = caller.reach.repositories;
            let key = caller.idempotency_key.map(|key| Arc::new(CallKey::new(key)));
            call.key = key.clone();
            let outcome = run(&mounted.engine, call, &context).map(Outcome::from)?;
            // Notifies on this thread, so that subscribers also hear of the changes of a cancelled
            // call.
            own.notifier.notify(&outcome.changed);
            if key.is_some_and(|key| key.is_repeated()) {
                return Err(CallError::made_before());
            }
            Ok(outcome)
        });
        match ran.await.map_err(JoinError::try_into_panic) {
            Ok(outcome) => outcome,
            Err(Ok(panic)) => std::panic::resume_unwind(panic),
            Err(Err(_)) => Err(CallError::closing()),
        }
    }
}

#[cfg(test)]
#[path = "clients_tests.rs"]
mod tests;
