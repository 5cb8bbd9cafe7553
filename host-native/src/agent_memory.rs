//! The handle that a program embeds.

use crate::arrival::{Arrival, Arrivals};
use crate::call::{Call, Cancellation};
use crate::capability::toolbox;
use crate::changes::{Changes, Notifier};
use crate::description::{Audience, Resource, ResourceTemplate, Tool};
use crate::engine::Engine;
use crate::outcome::{CallError, Outcome};
use crate::roots::Roots;
use crate::storage::{self, Registered, RegistryWriter, Storage};
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::task::JoinError;

/// The component with its settings and grants. A clone refers to the same memory.
#[derive(Clone)]
pub struct AgentMemory(Arc<Mounted>);

/// The parts of an [`AgentMemory`].
pub(crate) struct Mounted {
    pub(crate) engine: Arc<Engine>,
    pub(crate) storage: Storage,
    pub(crate) settings: toolbox::Settings,
    pub(crate) tools: Vec<Tool>,
    pub(crate) resources: Vec<Resource>,
    pub(crate) resource_templates: Vec<ResourceTemplate>,
    pub(crate) arrivals: Arrivals,
    pub(crate) notifier: Notifier,
}

impl Mounted {
    /// The context that the component gets for a call.
    fn context(&self, arrival: &Arrival) -> toolbox::Context {
        toolbox::Context {
            settings: self.settings.clone(),
            now: arrival.now.as_millisecond(),
            utc_offset_minutes: arrival.utc_offset_minutes,
            seed: arrival.seed,
            principal: None,
            agents: None,
            stores: None,
            repository: None,
        }
    }
}

impl fmt::Debug for AgentMemory {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("AgentMemory")
            .field("settings", &self.0.settings)
            .finish_non_exhaustive()
    }
}

impl AgentMemory {
    pub(crate) fn new(mounted: Mounted) -> AgentMemory {
        AgentMemory(Arc::new(mounted))
    }

    /// The mounted tools, for models and for people, in the order that users should see.
    pub fn tools(&self) -> &[Tool] {
        &self.0.tools
    }

    /// The resources of the mounted toolsets, in the order that users should see.
    pub fn resources(&self) -> &[Resource] {
        &self.0.resources
    }

    /// The templates of further resources, in the order that users should see.
    pub fn resource_templates(&self) -> &[ResourceTemplate] {
        &self.0.resource_templates
    }

    /// The directory of the place with this label, or that of its file; none if that place is not
    /// granted. The part that existed when this was built is canonical.
    pub fn place_directory(&self, label: &str) -> Option<PathBuf> {
        self.0.storage.place_directory(label)
    }

    /// The places that the registry of a family lists, by name, also those that cannot be opened.
    ///
    /// # Errors
    ///
    /// `not-granted` if no family is granted under the label; `io` if the registry is broken.
    pub fn registered(&self, label: &str) -> Result<BTreeMap<String, Registered>, storage::Error> {
        self.0.storage.registered(label)
    }

    /// The directory of a place of a family.
    ///
    /// # Errors
    ///
    /// Those of [`Storage::open`].
    pub fn family_directory(&self, label: &str, name: &str) -> Result<String, storage::Error> {
        let place = storage::Place::of_family(label, name);
        Ok(self.0.storage.open(&place, &[])?.location().to_owned())
    }

    /// Waits for the lock of a family's registry, to change it.
    ///
    /// # Errors
    ///
    /// Those of [`Storage::lock_registry`].
    ///
    /// # Panics
    ///
    /// If polled outside a tokio runtime with timers.
    pub async fn lock_registry(&self, label: &str) -> Result<RegistryWriter, storage::Error> {
        let timeout = storage::LockTimeout::new(self.0.storage.options().lock_wait);
        self.0.storage.lock_registry(label, timeout).await
    }

    /// The changes that calls make to resources from now on.
    pub fn changes(&self) -> Changes {
        self.0.notifier.subscribe()
    }

    /// Receives a call: gives it its number, its time, its seed and, unless its tool only reads, its
    /// place among the writers.
    ///
    /// A server of several calls at once receives them in the order of their requests. It may then
    /// run them by [`call_as`](AgentMemory::call_as) in any order and on any thread: writers change
    /// a tree in the order of their arrival.
    pub fn arrive(&self, tool: &str) -> Arrival {
        let writes = self.tool(tool).is_none_or(|tool| !tool.annotations.read_only_hint);
        self.0.arrivals.receive(writes)
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
        self.call_as(arrival, tool, arguments, None).await
    }

    /// Runs a call that [has arrived](AgentMemory::arrive). `roots` may grant it further directories.
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
        roots: Option<Arc<dyn Roots>>,
    ) -> Result<Outcome, CallError> {
        let audience = self.tool(tool).map_or(Audience::Model, |tool| tool.audience);
        let (tool, arguments) = (tool.to_owned(), arguments.to_owned());
        self.on_a_thread(arrival, audience, roots, move |engine, call, context| {
            engine.call_tool(call, &tool, &arguments, context)
        })
        .await
    }

    /// Reads a resource; `roots` may grant it further directories. The result is a JSON array of
    /// `{"uri", "mimeType", "text"}`.
    ///
    /// # Errors
    ///
    /// [`CallError::NotFound`] if there is no such resource, and [`CallError::Ended`]. An error of
    /// the toolset is an [`Outcome`] with a [`ToolError`](crate::ToolError).
    ///
    /// # Panics
    ///
    /// As [`call`](AgentMemory::call).
    pub async fn read_resource(
        &self,
        uri: &str,
        roots: Option<Arc<dyn Roots>>,
    ) -> Result<Outcome, CallError> {
        let (arrival, uri) = (self.0.arrivals.receive(false), uri.to_owned());
        self.on_a_thread(arrival, Audience::Model, roots, move |engine, call, context| {
            engine.read_resource(call, &uri, context)
        })
        .await
    }

    fn tool(&self, name: &str) -> Option<&Tool> {
        self.0.tools.iter().find(|tool| tool.is_called(name))
    }

    /// Runs a call on a thread that may block, until it ends or its future is dropped.
    async fn on_a_thread(
        &self,
        arrival: Arrival,
        audience: Audience,
        roots: Option<Arc<dyn Roots>>,
        run: impl FnOnce(&Engine, Call, &toolbox::Context) -> Result<toolbox::Outcome, CallError>
        + Send
        + 'static,
    ) -> Result<Outcome, CallError> {
        arrival.call_place.served().await;
        let (cancellation, _cancel_on_drop) = Cancellation::new();
        let memory = self.0.clone();
        let ran = tokio::task::spawn_blocking(move || {
            let context = memory.context(&arrival);
            // Held until the call has ended, even if its future is dropped earlier.
            let _place = arrival.call_place;
            let (storage, limits) = (memory.storage.clone(), memory.engine.limits());
            let (place, cancellation) = (arrival.writer_place, Some(cancellation));
            let call = Call::new(storage, limits, audience, place, roots, cancellation);
            let outcome = run(&memory.engine, call, &context).map(Outcome::from)?;
            // On this thread, since a cancelled call may have changed something.
            memory.notifier.notify(&outcome.changed);
            Ok(outcome)
        });
        match ran.await.map_err(JoinError::try_into_panic) {
            Ok(outcome) => outcome,
            Err(Ok(panic)) => std::panic::resume_unwind(panic),
            Err(Err(_)) => Err(CallError::closing()),
        }
    }
}
