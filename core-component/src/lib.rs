//! The logic of `agent-memory`: its tools, which work on storage that a host provides.
//!
//! The crate knows no clock, no file, no SQL driver and no protocol. Each call brings the time, a
//! random seed, and the agents and stores that it may use. The storage knows which places are
//! granted. Compiled to `wasm32-wasip2` it is a component of the world `memory` in `wit/toolbox/`;
//! compiled natively it is a plain library, for tests, fuzz targets and measurements.
//!
//! ```
//! use agent_memory_core::{context::Context, storage::Place, toolbox};
//! use agent_memory_storage_memory::MemoryStorage;
//!
//! let storage = MemoryStorage::new();
//! storage.grant(Place::repository("/project"));
//! let context: Context = serde_json::from_str(
//!     r#"{"settings": {"toolsets": ["sessions"]}, "now": "2025-01-20T10:00:00.000Z",
//!         "zone": {"offset_minutes": 60}, "seed": 1}"#,
//! )?;
//! let arguments = r#"{"agent_name": "aristotle", "repo_root": "/project"}"#;
//! let outcome = toolbox::call_tool(&storage, "start_session", arguments, &context).unwrap();
//! let result = outcome.answer.unwrap();
//! assert!(result.contains(".github/agent-memory/aristotle/logs/2025-01-20.md"));
//! # Ok::<(), serde_json::Error>(())
//! ```

mod answer;
mod budget;
#[cfg(all(target_arch = "wasm32", feature = "component"))]
mod component;
pub mod context;
mod derived;
mod digest;
mod error;
mod existing;
mod follow_up;
mod forget;
mod front_matter;
mod index;
mod input;
mod listing;
mod markdown;
mod names;
mod nearest;
mod page;
mod passage;
mod prompt;
mod ranking;
mod resume;
mod rows;
mod source;
mod span;
mod sql;
mod text;
pub mod time;
mod tool;
pub mod toolbox;
mod toolset;
mod toolsets;
mod vectors;
mod version;
mod words;
mod yaml;
pub mod zone;

pub use agent_memory_storage as storage;
