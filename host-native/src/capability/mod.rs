//! What the component imports and exports: the bindings of `wit/`, and storage behind them.
//!
//! This is the seam between the component and [`storage`](crate::storage): types are turned from
//! one side's into the other's, and nothing is decided here but the order of writers and what a
//! call may lock.

mod database;
mod documents;

use crate::call::Call;
use wasmtime::Result;
use wasmtime::component::{HasSelf, Linker};

/// What the component gets: an error is its own to handle, whereas that of the outer `Result` ends
/// the call.
type Answer<T, E = imports::types::Error> = Result<std::result::Result<T, E>>;

#[allow(missing_docs, clippy::all)]
mod bindings {
    wasmtime::component::bindgen!({
        path: ["wit/storage", "wit/toolbox"],
        world: "agent-memory:toolbox/memory",
        imports: { default: trappable },
        with: {
            "agent-memory:storage/documents.tree": crate::storage::Tree,
            "agent-memory:storage/documents.writer": crate::storage::Writer,
            "agent-memory:storage/database.connection": crate::storage::Database,
            "agent-memory:storage/database.transaction": crate::storage::Transaction,
        },
    });
}

use bindings::agent_memory::storage as imports;
pub(crate) use bindings::exports::agent_memory::toolbox::toolbox;
pub(crate) use bindings::{Memory, MemoryPre};

pub(crate) fn add_to_linker(linker: &mut Linker<Call>) -> Result<()> {
    Memory::add_to_linker::<_, HasSelf<Call>>(linker, |call| call)
}

impl imports::types::Host for Call {}
