//! The imports and exports of the component: the bindings of `wit/`, implemented with
//! [`storage`](crate::storage).
//!
//! This module converts types between the bindings and `storage`. It decides only the order of writers
//! and the locks that a call may take.

mod database;
mod documents;

use crate::call::Call;
use wasmtime::Result;
use wasmtime::component::{HasSelf, Linker};

/// The answer to the component. The component handles the inner error. The outer error ends the
/// call.
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
