//! Runs the component: a fresh instance for every call, within the limits.

mod answer;
mod image;
#[cfg(target_os = "linux")]
mod in_place;
mod inert;
mod pool;
mod ticker;

pub use image::Image;

use crate::call::{Call, Limits, StopError};
use crate::capability::{self, MemoryPre, toolbox};
use crate::completion::{Completion, Reference};
use crate::outcome::{CallError, Reason};
use serde_json::Value;
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
        let (engine, component) = image.load()?;
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

    pub(crate) fn call_tool(
        &self,
        call: Call,
        name: &str,
        arguments: &str,
        context: &toolbox::Context,
    ) -> Answer<toolbox::Outcome> {
        self.run(call, name, |store, toolbox| {
            toolbox.call_call_tool(store, name, arguments, context)
        })
    }

    pub(crate) fn read_resource(
        &self,
        call: Call,
        uri: &str,
        context: &toolbox::Context,
    ) -> Answer<toolbox::Outcome> {
        self.run(call, uri, |store, toolbox| toolbox.call_read_resource(store, uri, context))
    }

    pub(crate) fn get_prompt(
        &self,
        call: Call,
        name: &str,
        arguments: &str,
        context: &toolbox::Context,
    ) -> Answer<toolbox::Outcome> {
        self.run(call, name, |store, toolbox| {
            toolbox.call_get_prompt(store, name, arguments, context)
        })
    }

    pub(crate) fn complete(
        &self,
        call: Call,
        completion: &Completion,
        context: &toolbox::Context,
    ) -> Answer<toolbox::Outcome> {
        let Completion { reference, argument, value, others } = completion;
        let reference = match reference {
            Reference::Prompt(name) => toolbox::Reference::Prompt(name.clone()),
            Reference::ResourceTemplate(uri) => toolbox::Reference::ResourceTemplate(uri.clone()),
        };
        let others = Value::from_iter(others.clone()).to_string();
        self.run(call, "complete", |store, toolbox| {
            toolbox.call_complete(store, &reference, argument, value, &others, context)
        })
    }

    pub(crate) fn pending(
        &self,
        call: Call,
        context: &toolbox::Context,
    ) -> Answer<toolbox::Outcome> {
        self.run(call, "pending", |store, toolbox| toolbox.call_pending(store, context))
    }

    pub(crate) fn claim(
        &self,
        call: Call,
        id: &str,
        lease_seconds: u32,
        context: &toolbox::Context,
    ) -> Answer<toolbox::Outcome> {
        self.run(call, id, |store, toolbox| toolbox.call_claim(store, id, lease_seconds, context))
    }

    pub(crate) fn answer(
        &self,
        call: Call,
        id: &str,
        payload: &str,
        context: &toolbox::Context,
    ) -> Answer<toolbox::Outcome> {
        self.run(call, id, |store, toolbox| toolbox.call_answer(store, id, payload, context))
    }

    pub(crate) fn parse_registry(&self, call: Call, text: &str) -> Answer<String> {
        self.run(call, "parse-registry", |store, toolbox| toolbox.call_parse_registry(store, text))
    }

    pub(crate) fn edit_registry(&self, call: Call, text: &str, change: &str) -> Answer<String> {
        self.run(call, "edit-registry", |store, toolbox| {
            toolbox.call_edit_registry(store, text, change)
        })
    }

    /// Runs one function of the toolbox in an instance of its own, on this thread.
    fn run<T>(
        &self,
        call: Call,
        name: &str,
        function: impl FnOnce(&mut Store<Call>, &toolbox::Guest) -> Result<Result<T, toolbox::Failure>>,
    ) -> Answer<T> {
        let mut store = self.store(call);
        let run = || {
            let _ticking = self.ticker.tick()?;
            let instance = self.component.instantiate(&mut store)?;
            function(&mut store, instance.agent_memory_toolbox_toolbox())
        };
        match run() {
            Ok(answer) => answer.map_err(CallError::from),
            Err(error) => Err(stopped(name, &error, store.data())),
        }
    }

    fn store(&self, call: Call) -> Store<Call> {
        let mut store = Store::new(self.component.engine(), call);
        store.limiter(|call| &mut call.size);
        store.set_hostcall_fuel(Limits::TRANSFER);
        store.set_max_component_handles(Limits::RESOURCES);
        store.set_epoch_deadline(1);
        store.epoch_deadline_callback(|mut store| {
            store.data_mut().check()?;
            Ok(UpdateDeadline::Continue(1))
        });
        store
    }
}

/// The answer of a toolbox function.
type Answer<T> = std::result::Result<T, CallError>;

/// Converts the error of Wasmtime for a stopped component into the error of the call.
fn stopped(name: &str, error: &wasmtime::Error, call: &Call) -> CallError {
    let (reason, why) = match error.downcast_ref::<StopError>() {
        Some(error) => {
            let reason = match error {
                StopError::GuestTime(_) => Reason::Deadline,
                StopError::Memory(_) => Reason::Memory,
                StopError::StorageCalls(_) => Reason::StorageCalls,
                StopError::Cancelled => Reason::GivenUp,
            };
            (reason, error.to_string())
        }
        None => (Reason::Trap, format!("{error:#}")),
    };
    let printed = call.printed();
    match reason {
        Reason::GivenUp => tracing::debug!(tool = name, "the call was cancelled"),
        _ => tracing::error!(tool = name, %why, %printed, "the component was stopped"),
    }
    let message = if printed.is_empty() {
        format!("`{name}` was stopped: {why}")
    } else {
        format!("`{name}` was stopped: {why}: {printed}")
    };
    CallError::Ended { reason, message }
}
