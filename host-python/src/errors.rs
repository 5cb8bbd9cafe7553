//! The exception of this module, which the package converts to the exceptions of `agent_memory.errors`.
//!
//! The exception has no Python code: the end of the interpreter could stop a thread within that code.

use agent_memory_host::{CallError, Reason, storage};
use pyo3::prelude::*;

pyo3::create_exception!(
    _native,
    NativeError,
    pyo3::exceptions::PyException,
    "A failure, with a code for programs and a message for people."
);

/// The error with a code and a message.
pub(crate) fn coded(code: &str, message: &str) -> PyErr {
    NativeError::new_err((code.to_owned(), message.to_owned()))
}

/// The error of a call without an outcome.
pub(crate) fn of_call(error: &CallError) -> PyErr {
    coded(call_code(error), &error.to_string())
}

/// The code of a call without an outcome.
pub(crate) fn call_code(error: &CallError) -> &'static str {
    match error {
        CallError::NotFound(_) => "not-found",
        CallError::InvalidRequest(_) | CallError::Repeated(_) => "invalid-request",
        CallError::Ended { reason, .. } => match reason {
            Reason::Deadline => "deadline",
            Reason::Memory => "memory",
            Reason::StorageCalls => "storage-calls",
            Reason::GivenUp => "closed",
            _ => "trap",
        },
        _ => "trap",
    }
}

/// The error of a query that storage refused.
pub(crate) fn of_storage(error: &storage::Error) -> PyErr {
    coded(&error.code.name(), &error.to_string())
}
