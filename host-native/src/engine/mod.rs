//! Runs the component: a fresh instance for every call, within the limits.

mod call;
mod guest_time;
mod image;
mod inert;
mod limits;
mod ticker;

pub(crate) use call::Call;
pub use image::Image;
pub use limits::Limits;

use crate::capability::{self, MemoryPre, toolbox};
use crate::outcome::{CallError, Reason};
use guest_time::GuestTime;
use limits::Exceeded;
use ticker::Ticker;
use wasmtime::component::Linker;
use wasmtime::{Result, Store, UpdateDeadline};

/// The component, ready to be instantiated.
pub(crate) struct Engine {
    component: MemoryPre<Call>,
    ticker: Ticker,
    limits: Limits,
}

impl Engine {
    pub(crate) fn load(image: &Image, limits: Limits) -> Result<Engine> {
        let engine = wasmtime::Engine::new(&agent_memory_image::engine_config())?;
        let component = image.load(&engine)?;
        let mut linker = Linker::new(&engine);
        inert::add_to_linker(&mut linker)?;
        capability::add_to_linker(&mut linker)?;
        Ok(Engine {
            component: MemoryPre::new(linker.instantiate_pre(&component)?)?,
            ticker: Ticker::new(&engine),
            limits,
        })
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    pub(crate) async fn list_tools(&self, call: Call, settings: &str) -> Answer<String> {
        self.run(call, "list-tools", async |store, toolbox| {
            toolbox.call_list_tools(store, settings).await
        })
        .await
    }

    pub(crate) async fn call_tool(
        &self,
        call: Call,
        name: &str,
        arguments: &str,
        context: &str,
    ) -> Answer<toolbox::Outcome> {
        self.run(call, name, async |store, toolbox| {
            toolbox.call_call_tool(store, name, arguments, context).await
        })
        .await
    }

    /// Runs one function of the toolbox in an instance of its own.
    async fn run<T>(
        &self,
        call: Call,
        name: &str,
        function: impl AsyncFnOnce(
            &mut Store<Call>,
            &toolbox::Guest,
        ) -> Result<Result<T, toolbox::Failure>>,
    ) -> Answer<T> {
        let time = GuestTime::default();
        let mut store = self.store(call, time.clone());
        let ran = time
            .measure(async {
                let _ticking = self.ticker.tick()?;
                let instance = self.component.instantiate_async(&mut store).await?;
                function(&mut store, instance.agent_memory_core_toolbox()).await
            })
            .await;
        match ran {
            Ok(answer) => answer.map_err(CallError::from),
            Err(error) => Err(ended(name, &error, store.data())),
        }
    }

    fn store(&self, call: Call, time: GuestTime) -> Store<Call> {
        let mut store = Store::new(self.component.engine(), call);
        store.limiter(|call| &mut call.size);
        store.set_hostcall_fuel(Limits::TRANSFER);
        store.set_max_component_handles(Limits::RESOURCES);
        let limit = self.limits.guest_time;
        store.set_epoch_deadline(1);
        store.epoch_deadline_callback(move |_| {
            if time.total() > limit {
                return Err(Exceeded::GuestTime(limit).into());
            }
            // Tokio's own way to yield lets its timers and sockets go first.
            let others = Box::pin(tokio::task::yield_now());
            Ok(UpdateDeadline::YieldCustom(1, others))
        });
        store
    }
}

/// What a function of the toolbox answers.
type Answer<T> = std::result::Result<T, CallError>;

/// Says why the component did not come to an end of its own.
fn ended(name: &str, error: &wasmtime::Error, call: &Call) -> CallError {
    let (reason, why) = match error.downcast_ref::<Exceeded>() {
        Some(exceeded) => {
            let reason = match exceeded {
                Exceeded::GuestTime(_) => Reason::Deadline,
                Exceeded::Memory(_) => Reason::Memory,
                Exceeded::StorageCalls(_) => Reason::StorageCalls,
            };
            (reason, exceeded.to_string())
        }
        None => (Reason::Trap, format!("{error:#}")),
    };
    let printed = call.printed();
    tracing::error!(tool = name, %why, %printed, "the component was stopped");
    let message = if printed.is_empty() {
        format!("`{name}` was stopped: {why}")
    } else {
        format!("`{name}` was stopped: {why}: {printed}")
    };
    CallError::Ended { reason, message }
}
