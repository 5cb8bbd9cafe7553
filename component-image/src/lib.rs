//! The agent-memory component as machine code: how it is built, and the engine configuration for
//! it.
//!
//! The component is compiled when the host is built, and the machine code is embedded in the host,
//! which has no compiler. An engine accepts machine code only if it has the same configuration as
//! the compiler, so both use [`engine_config`]. The compiler and the build of the component need
//! the feature `compile`. Only build scripts may enable it: as a normal dependency it would add the
//! compiler to the host's engine.

#[cfg(feature = "compile")]
mod compile;
mod config;

#[cfg(feature = "compile")]
pub use compile::{CompileError, Compiled, build, precompile};
pub use config::{MAX_IDLE_MEMORY, engine_config, pooled};
