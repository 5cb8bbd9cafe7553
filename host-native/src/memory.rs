//! The memory that a program embeds.

use crate::arrival::{Arrival, Arrivals};
use crate::builder::Builder;
use crate::capability::toolbox;
use crate::changes::{Changes, Teller};
use crate::description::{Audience, Resource, ResourceTemplate, Tool};
use crate::engine::{Call, Engine, Waiting};
use crate::outcome::{CallError, Outcome};
use crate::storage::Storage;
use std::fmt;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use tokio::task::JoinError;

/// A future in a box, which another thread may poll.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Somebody who can name further granted directories when a call needs one: the client of a
/// server.
pub trait Roots: Send + Sync {
    /// The directories that are granted to the call, as [`Builder::allow`] grants them. Asked at
    /// most once a call, and only where a place is not granted otherwise.
    fn roots(&self) -> BoxFuture<'_, Vec<PathBuf>>;
}

/// The component with its settings and grants. A clone is the same memory.
#[derive(Clone)]
pub struct Memory(Arc<Mounted>);

/// What a memory is made of.
pub(crate) struct Mounted {
    pub(crate) engine: Engine,
    pub(crate) storage: Storage,
    pub(crate) settings: toolbox::Settings,
    pub(crate) tools: Vec<Tool>,
    pub(crate) resources: Vec<Resource>,
    pub(crate) resource_templates: Vec<ResourceTemplate>,
    pub(crate) arrivals: Arrivals,
    pub(crate) teller: Teller,
}

impl Mounted {
    /// What the component is told of a call.
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

impl fmt::Debug for Memory {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Memory").field("settings", &self.0.settings).finish_non_exhaustive()
    }
}

impl Memory {
    /// Begins to set one up.
    pub fn builder() -> Builder {
        Builder::new()
    }

    pub(crate) fn new(mounted: Mounted) -> Memory {
        Memory(Arc::new(mounted))
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

    /// The directory of the place with this label, canonical as far as it existed when this was
    /// built; none where none is granted. What stands in it is the host's own.
    pub fn place_directory(&self, label: &str) -> Option<PathBuf> {
        self.0.storage.place_directory(label)
    }

    /// What calls change in resources from now on.
    pub fn changes(&self) -> Changes {
        self.0.teller.listen()
    }

    /// Receives a call: gives it its number, its time, its seed and, unless its tool only reads,
    /// its place among the writers.
    ///
    /// Who serves several calls at once receives them in the order in which they came, and then
    /// runs each by [`call_as`](Memory::call_as) wherever it likes: writers change a tree in the
    /// order of their arrival.
    pub fn arrive(&self, tool: &str) -> Arrival {
        let writes = self.tool(tool).is_none_or(|tool| !tool.annotations.read_only_hint);
        self.0.arrivals.receive(writes)
    }

    /// Runs a tool; `arguments` is a JSON object, or empty for one without members.
    ///
    /// The call runs on a thread of tokio's for blocking work. Dropping the future gives the call
    /// up: it ends within some milliseconds, unless it is committing what it has decided.
    ///
    /// # Errors
    ///
    /// [`CallError::NotFound`], [`CallError::InvalidRequest`], and [`CallError::Ended`] where the
    /// component had to be stopped. What a tool refuses is an [`Outcome`] with a refusal.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime with a timer.
    pub async fn call(&self, tool: &str, arguments: &str) -> Result<Outcome, CallError> {
        let arrival = self.arrive(tool);
        self.call_as(arrival, tool, arguments, None).await
    }

    /// Runs a call that [has arrived](Memory::arrive), for someone who may name further granted
    /// directories.
    ///
    /// # Errors
    ///
    /// As [`call`](Memory::call).
    ///
    /// # Panics
    ///
    /// As [`call`](Memory::call).
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

    /// Reads a resource, for someone who may name further granted directories. The result is a JSON
    /// array of `{"uri", "mimeType", "text"}`.
    ///
    /// # Errors
    ///
    /// [`CallError::NotFound`] for a URI that is none, and [`CallError::Ended`]. What the toolset
    /// refuses is an [`Outcome`] with a refusal.
    ///
    /// # Panics
    ///
    /// As [`call`](Memory::call).
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

    /// Runs a call on a thread that may block, until it ends or nobody waits for it any more.
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
        let (waiting, _waited) = Waiting::new();
        let memory = self.0.clone();
        let ran = tokio::task::spawn_blocking(move || {
            let context = memory.context(&arrival);
            // Kept until the call has ended: the caller may have given up by then.
            let _place = arrival.call_place;
            let (storage, limits) = (memory.storage.clone(), memory.engine.limits());
            let (place, waiting) = (arrival.writer_place, Some(waiting));
            let call = Call::new(storage, limits, audience, place, roots, waiting);
            let outcome = run(&memory.engine, call, &context).map(Outcome::from)?;
            // Here, since a call that is given up may have changed something.
            memory.teller.tell(&outcome.changed);
            Ok(outcome)
        });
        match ran.await.map_err(JoinError::try_into_panic) {
            Ok(outcome) => outcome,
            Err(Ok(panic)) => std::panic::resume_unwind(panic),
            Err(Err(_)) => Err(CallError::closing()),
        }
    }
}
