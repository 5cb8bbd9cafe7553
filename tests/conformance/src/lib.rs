//! The conformance suite: its cases, what every runner does with one, and the core as a runner.
//!
//! `tests/conformance/README.md` describes a case and a runner. This crate depends on the core alone,
//! so its tests are built in seconds. The runners that need a host are in the crate one directory up.

pub mod case;
pub mod core_runner;
pub mod expectations;
pub mod faults;
pub mod in_memory;
pub mod json_schema;
pub mod places;
pub mod report;
pub mod runner;
pub mod sql;
pub mod workspace;
