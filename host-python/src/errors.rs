//! The exceptions of `agent_memory.errors`, each with a code and a message.

use agent_memory_host::{CallError, Reason, storage};
use pyo3::prelude::*;

/// A `MemoryOpenError`.
pub(crate) fn open(code: &str, message: &str) -> PyErr {
    raised("MemoryOpenError", code, message)
}

/// A `MemoryCallError`.
pub(crate) fn call(code: &str, message: &str) -> PyErr {
    raised("MemoryCallError", code, message)
}

/// A `MemoryCallError` for a call without an outcome.
pub(crate) fn of_call(error: &CallError) -> PyErr {
    let code = match error {
        CallError::NotFound(_) => "not-found",
        CallError::InvalidRequest(_) => "invalid-request",
        CallError::Ended { reason, .. } => match reason {
            Reason::Deadline => "deadline",
            Reason::Memory => "memory",
            Reason::StorageCalls => "storage-calls",
            Reason::GivenUp => "closed",
            _ => "trap",
        },
        _ => "trap",
    };
    call(code, &error.to_string())
}

/// A `MemoryCallError` for a query that storage refused.
pub(crate) fn of_storage(error: &storage::Error) -> PyErr {
    call(&error.code.name(), &error.to_string())
}

fn raised(class: &str, code: &str, message: &str) -> PyErr {
    Python::attach(|py| {
        let make = || py.import("agent_memory.errors")?.getattr(class)?.call1((code, message));
        make().map_or_else(|error| error, PyErr::from_value)
    })
}
