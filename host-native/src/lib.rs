//! Memory for AI agents, embedded: the agent-memory component with its storage on this machine.
//!
//! All memory semantics are in the component, which this crate contains, compiled ahead of time. The
//! crate runs each call in an instance of its own and gives the call storage in the granted directories.
//! It refuses access to anything else.
//!
//! # Example
//!
//! An agent begins today's log in a repository and adds an entry:
//!
//! ```no_run
#![doc = include_str!("../examples/embed.rs")]
//! ```
//!
//! # Calls
//!
//! A call is a plain `async fn`. It runs on tokio, on a current-thread or a multi-threaded runtime,
//! and many may run at once. Calls that only read run beside each other; calls that write wait for
//! the lock in the order in which they [arrived](AgentMemory::arrive). A dropped call releases
//! everything that it held within some milliseconds.
//!
//! No call can end the process. A component that traps, takes too much memory or never ends gives
//! [`CallError::Ended`] and holds nothing afterwards. The limits are in [`Limits`].

mod agent_memory;
mod arrival;
mod background;
mod builder;
mod call;
mod caller;
mod capability;
mod changes;
mod completion;
mod cooldown;
mod data_directory;
#[cfg(feature = "postgres")]
pub mod database;
mod description;
mod embedding;
#[cfg(feature = "mcp")]
mod enclosing_repository;
mod engine;
mod follow_ups;
mod model;
#[cfg(feature = "http")]
pub mod oauth;
#[cfg(any(feature = "http", feature = "models"))]
mod outbound;
mod outcome;
mod queue;
mod registry_format;
mod repeats;
mod roots;
#[cfg(test)]
#[path = "../../tests/src/skip.rs"]
mod skip;
pub mod storage;
mod toolset_setting;
mod zone;

#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli;
#[cfg(feature = "mcp")]
pub mod mcp;
#[cfg(feature = "models")]
pub mod models;
#[cfg(feature = "http")]
pub mod tokens;

pub use agent_memory::AgentMemory;
pub use arrival::{Arrival, Clock, Random};
pub use builder::{BuildError, Builder};
pub use call::Limits;
pub use caller::{Caller, Reach};
#[doc(hidden)]
pub use changes::{Changed, Changes};
pub use completion::{Completion, Reference};
pub use description::{
    Annotations, Audience, MountedToolset, Prompt, PromptArgument, Resource, ResourceTemplate, Tool,
};
pub use description::{DatabaseDescription, Description, PlaceDescription, Toolset, UnknownName};
pub use engine::Image;
pub use model::{EmbeddedText, Embedder, Model, ModelError, SummaryRequest};
pub use outcome::{CallError, Category, FollowUp, Outcome, Reason, ToolError, WantedVector};
pub use roots::{BoxFuture, Roots};
pub use storage::Durability;
pub use toolset_setting::ToolsetSetting;
