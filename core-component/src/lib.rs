//! The logic of `agent-memory`: what its tools are and what they do, over a storage that a host
//! lends.
//!
//! The crate knows no clock, no file, no SQL driver and no protocol. Time, randomness and grants
//! come with each call. Compiled to `wasm32-wasip2` it is a component of the world `memory` in
//! `wit/`; compiled natively it is a plain library, which the tests use.
//!
//! ```
//! use agent_memory_core::{context::Context, storage::{Place, memory::MemoryStorage}, toolbox};
//!
//! let storage = MemoryStorage::new();
//! storage.grant(Place::repository("/project"));
//! let context: Context = serde_json::from_str(
//!     r#"{"settings": {"toolsets": ["sessions"]}, "now": "2025-01-20T10:00:00.000Z",
//!         "utc_offset_minutes": 0, "seed": 1}"#,
//! )?;
//! let arguments = r#"{"agent_name": "aristotle", "repo_root": "/project"}"#;
//! let outcome = toolbox::call_tool(&storage, "start_session", arguments, &context).unwrap();
//! let result = outcome.answer.unwrap();
//! assert!(result.contains(".github/agent-memory/aristotle/logs/2025-01-20.md"));
//! # Ok::<(), serde_json::Error>(())
//! ```

#[cfg(any(test, target_arch = "wasm32"))]
mod allocator;
#[cfg(target_arch = "wasm32")]
mod component;
pub mod context;
mod layers;
mod markdown;
mod names;
#[cfg(target_arch = "wasm32")]
mod pages;
mod records;
mod sessions;
pub mod storage;
mod text;
pub mod time;
mod tool;
pub mod toolbox;
mod toolset;
mod words;
