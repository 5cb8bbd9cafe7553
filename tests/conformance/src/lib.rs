//! The conformance suite: its cases, the part that all runners share, and the runner of the core.
//!
//! `tests/conformance/README.md` describes cases and runners. This crate depends only on the core, so
//! its tests build in seconds. The runners that need a host are in the crate one directory up.

pub mod case;
pub mod core_runner;
pub mod expectations;
pub mod faults;
pub mod in_memory;
pub mod json_schema;
pub mod places;
pub mod report;
pub mod runner;
pub mod step;
pub mod workspace;
