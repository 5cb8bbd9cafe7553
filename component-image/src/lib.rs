//! The agent-memory component as machine code: how it is built, and what its host must agree on.
//!
//! The component is compiled once, when the host is built, and embedded in it; the host has no
//! compiler. Machine code is only accepted by an engine that is configured as its compiler was, so
//! both take their configuration from [`engine_config`]. The compiler itself, and the nested build
//! of the component, are behind the feature `compile`, which build scripts alone turn on: in a
//! normal dependency it would change the host's engine, too.

#[cfg(feature = "compile")]
mod compile;
#[cfg(feature = "compile")]
pub use compile::{CompileError, Compiled, build, precompile};

use wasmtime::{Config, Enabled, InstanceAllocationStrategy, PoolingAllocationConfig};

/// The triple that components are compiled for.
pub const TARGET: &str = "wasm32-wasip2";

const KIB: usize = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// How the compiler and the host configure their engines.
///
/// Every option is set whose default depends on wasmtime's cargo features or on the machine, since
/// the two are built with different features, and perhaps on different machines.
pub fn engine_config() -> Config {
    let mut config = Config::new();
    config
        // What the component is: one thread, no exceptions, no collector.
        .wasm_component_model(true)
        .concurrency_support(false)
        .gc_support(false)
        .wasm_memory64(false)
        .wasm_multi_memory(false)
        .shared_memory(false)
        // How it is stopped: it looks at the engine's epoch in every loop and function.
        .epoch_interruption(true)
        .consume_fuel(false)
        // A host that makes many calls takes its instances from a pool: see `pooled`.
        .allocation_strategy(InstanceAllocationStrategy::OnDemand)
        // All that 32 bits can address is reserved, so that the hardware checks the bounds and no
        // memory ever moves. What may be used of it is the host's limit.
        .memory_reservation(4 * GIB)
        .memory_reservation_for_growth(0)
        .memory_guard_size(32 * MIB)
        .guard_before_linear_memory(false)
        .memory_may_move(false)
        .memory_init_cow(true)
        .table_lazy_init(true)
        .signals_based_traps(true)
        .max_wasm_stack(512 * KIB)
        // No source positions: the image stays small, and a panic says where it was by itself.
        .debug_info(false)
        .generate_address_map(false)
        .native_unwind_info(false)
        .wasm_backtrace_max_frames(None);
    config
}

/// The same engine for a host that makes call after call: at most `instances` at once, from a pool.
///
/// A new instance finds the address space of an earlier one mapped already, and the pages that the
/// earlier one wrote are put back to what they were, not given back: what most calls need is some
/// hundred KiB.
pub fn pooled(instances: u32) -> Config {
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(instances)
        // A component is several core modules, most of which only join others.
        .total_core_instances(instances * CORE_INSTANCES)
        .total_memories(instances)
        .total_tables(instances * TABLES)
        .table_elements(100_000)
        .max_memory_size((4 * GIB) as usize)
        .max_unused_warm_slots(WARM)
        .linear_memory_keep_resident(RESIDENT)
        .table_keep_resident(64 * KIB)
        // Linux 6.7 tells which pages were written; without, all that the instance had is put back.
        .pagemap_scan(Enabled::Auto);
    let mut config = engine_config();
    config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
    config
}

const CORE_INSTANCES: u32 = 8;
const TABLES: u32 = 4;

/// So many instances of a pool keep their pages.
const WARM: u32 = 4;

/// So much of its memory does each of them keep at most: a call that runs away leaves no more. It is
/// about what a call takes that changes a long file of records, and would map anew each time.
const RESIDENT: usize = 24 << 20;

/// What a pool keeps of the memory of calls that are over, at most.
pub const KEPT: usize = WARM as usize * RESIDENT;
