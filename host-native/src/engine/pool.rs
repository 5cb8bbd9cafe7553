//! An engine with a pool of instances.

use crate::Limits;
use std::sync::Arc;
use wasmtime::{Config, CustomCodeMemory, Engine, Result};

/// Instances in addition to those of calls: one for reading a registry and one for changing it.
const SPARE: u32 = 2;

/// An engine with a pool of instances, or without one if the address space is too small for it. Without
/// `code_memory`, the engine runs a copy of the code.
pub(super) fn engine(code_memory: Option<Arc<dyn CustomCodeMemory>>) -> Result<Engine> {
    let with =
        |mut config: Config| Engine::new(config.with_custom_code_memory(code_memory.clone()));
    let pooled = agent_memory_image::pooled(Limits::CALLS_AT_ONCE as u32 + SPARE);
    with(pooled).or_else(|error| {
        tracing::debug!(%error, "no pool of instances");
        with(agent_memory_image::engine_config())
    })
}
