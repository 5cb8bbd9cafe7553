//! Memory for AI agents, embedded: the agent-memory component with its storage on this machine.
//!
//! All that a memory *means* is in the component, which this crate carries compiled ahead of time.
//! The crate runs it, one instance a call, and lends it what it was granted: directories to keep
//! documents in. What the component asks for beyond that is refused.
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
//! A call is a plain `async fn`. It runs on tokio, on a current-thread runtime as well as on a
//! multi-threaded one, and many may run at once: those that only read pass by each other, those
//! that change something take turns, in the order in which they [arrived](Memory::arrive). A call
//! that is dropped lets go of everything it held, within some milliseconds.
//!
//! Nothing that a call does can end the process: a component that traps, takes too much memory or
//! never ends gives [`CallError::Ended`], and the next call finds everything free. The bounds are
//! [`Limits`].

mod arrival;
mod builder;
mod capability;
mod changes;
mod description;
mod engine;
mod memory;
mod outcome;
mod queue;
#[cfg(test)]
#[path = "../../tests/src/skip.rs"]
mod skip;
#[cfg(feature = "mcp")]
mod starting;
pub mod storage;

#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli;
#[cfg(feature = "mcp")]
pub mod mcp;

pub use arrival::{Arrival, Clock, Random};
pub use builder::{BuildError, Builder};
#[doc(hidden)]
pub use changes::{Changed, Changes};
pub use description::{Annotations, Audience, Resource, ResourceTemplate, Tool};
pub use description::{
    DatabaseDescription, Description, PlaceDescription, Toolset, ToolsetSetting,
};
pub use engine::Image;
pub use engine::Limits;
pub use memory::{BoxFuture, Memory, Roots};
pub use outcome::{CallError, Category, FollowUp, Outcome, Reason, Refusal};
pub use storage::Durability;
