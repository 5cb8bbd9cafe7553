//! What the component imports and exports: the bindings of `wit/`, and storage behind them.
//!
//! This is the seam between the component and [`storage`](crate::storage): types are turned from
//! one side's into the other's, blocking work goes to a thread that may block, and nothing is
//! decided here but the order of writers.

mod database;
mod documents;

use crate::engine::Call;
use wasmtime::Result;
use wasmtime::component::{HasSelf, Linker};

pub use documents::SharedWriter;

#[allow(missing_docs, clippy::all)]
mod bindings {
    wasmtime::component::bindgen!({
        path: "wit",
        world: "memory",
        imports: {
            "agent-memory:core/documents.open": async | trappable,
            "agent-memory:core/documents.list-places": async | trappable,
            "agent-memory:core/documents.create-place": async | trappable,
            "agent-memory:core/documents.[method]tree.read": async | trappable,
            "agent-memory:core/documents.[method]tree.list": async | trappable,
            "agent-memory:core/documents.[method]tree.lock": async | trappable,
            "agent-memory:core/documents.[method]writer.commit": async | trappable,
            default: trappable,
        },
        exports: { default: async },
        with: {
            "agent-memory:core/documents.tree": crate::storage::Tree,
            "agent-memory:core/documents.writer": crate::capability::SharedWriter,
        },
    });
}

use bindings::agent_memory::core as imports;
pub(crate) use bindings::exports::agent_memory::core::toolbox;
pub(crate) use bindings::{Memory, MemoryPre};

pub(crate) fn add_to_linker(linker: &mut Linker<Call>) -> Result<()> {
    Memory::add_to_linker::<_, HasSelf<Call>>(linker, |call| call)
}

impl imports::storage_types::Host for Call {}
