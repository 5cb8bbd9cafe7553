//! The engine configuration for the component.

use wasmtime::{Config, Enabled, InstanceAllocationStrategy, PoolingAllocationConfig};

const KIB: usize = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// The engine configuration of the compiler and of the host.
///
/// It sets every option whose default depends on wasmtime's cargo features or on the machine:
/// compiler and host have different features and may run on different machines.
pub fn engine_config() -> Config {
    engine_config_of(cfg!(windows))
}

/// The engine configuration for code that runs on Windows if `windows`, else on another system.
pub(crate) fn engine_config_of(windows: bool) -> Config {
    let mut config = Config::new();
    config
        // The component has one thread, no exceptions and no garbage collector.
        .wasm_component_model(true)
        .concurrency_support(false)
        .gc_support(false)
        .wasm_memory64(false)
        .wasm_multi_memory(false)
        .shared_memory(false)
        // The code checks the engine's epoch in every loop and function, so that a host can stop it.
        .epoch_interruption(true)
        .consume_fuel(false)
        // Hosts that make many calls use `pooled` instead.
        .allocation_strategy(InstanceAllocationStrategy::OnDemand)
        // Reserve the whole 32-bit address space: then the hardware checks the bounds, and linear
        // memory never moves. The host limits how much of it may be used.
        .memory_reservation(4 * GIB)
        .memory_reservation_for_growth(0)
        .memory_guard_size(32 * MIB)
        .guard_before_linear_memory(false)
        .memory_may_move(false)
        .memory_init_cow(true)
        .table_lazy_init(true)
        .signals_based_traps(true)
        .max_wasm_stack(512 * KIB)
        // No source positions, so that the image is small. A panic message has its position anyway.
        .debug_info(false)
        .generate_address_map(false)
        // Windows needs the unwind information to find the frames of a trap.
        .native_unwind_info(windows)
        .wasm_backtrace_max_frames(None);
    config
}

/// The configuration of [`engine_config`], with a pool of at most `instances` instances at once, for a
/// host that makes many calls.
///
/// A new instance uses the address space of an earlier one, which is already mapped. Pages that the
/// earlier one wrote are reset to their initial contents instead of being unmapped. Most calls
/// write a few hundred KiB.
pub fn pooled(instances: u32) -> Config {
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(instances)
        // A component consists of several core modules; most of them only connect the others.
        .total_core_instances(instances * CORE_INSTANCES)
        .total_memories(instances)
        .total_tables(instances * TABLES)
        .table_elements(100_000)
        .max_memory_size((4 * GIB) as usize)
        .max_unused_warm_slots(WARM_SLOTS)
        .linear_memory_keep_resident(MAX_RESIDENT)
        .table_keep_resident(64 * KIB)
        // Since 6.7 Linux tells which pages were written. Otherwise all resident pages are reset.
        .pagemap_scan(Enabled::Auto);
    let mut config = engine_config();
    config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
    config
}

const CORE_INSTANCES: u32 = 8;
const TABLES: u32 = 4;

/// How many unused instances of a pool keep their pages.
const WARM_SLOTS: u32 = 4;

/// The maximum memory in bytes that an unused instance keeps. A call that changes a long file of
/// records needs about this much, so such a call does not have to map pages again.
const MAX_RESIDENT: usize = 24 << 20;

/// The maximum memory in bytes that the unused instances of a pool keep for later calls.
pub const MAX_IDLE_MEMORY: usize = WARM_SLOTS as usize * MAX_RESIDENT;
