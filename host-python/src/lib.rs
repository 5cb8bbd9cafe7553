//! The native part of the Python package `agent_memory`: `agent_memory._native`.
//!
//! It opens memories, runs calls without Python's lock, and runs the command line. The package in
//! `python/agent_memory` has the API, and all checks of what a program passes.

mod answer;
mod calls;
mod errors;
mod functions;
mod log;
mod memory;
mod messages;
mod options;
mod process;
mod query;

use agent_memory_host::{Image, cli};
use pyo3::prelude::*;
use std::ffi::OsString;
use std::process::ExitCode;

/// The module `agent_memory._native`.
#[pymodule]
mod _native {
    use super::*;

    #[pymodule_export]
    use crate::calls::Running;
    #[pymodule_export]
    use crate::memory::Memory;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("NativeError", module.py().get_type::<crate::errors::NativeError>())?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }

    /// Runs the command line, and returns its exit status. `command` is the command line that starts
    /// this program, without arguments.
    #[pyfunction]
    fn run(py: Python<'_>, command: Vec<OsString>, arguments: Vec<OsString>) -> u8 {
        let status = py.detach(|| cli::run(Image::embedded(), command, arguments));
        // The number in an `ExitCode` cannot be read.
        (0..=u8::MAX).find(|&number| ExitCode::from(number) == status).unwrap_or(1)
    }
}
