//! Memory for AI agents as a plugin: one component that imports nothing but WASI.
//!
//! It is the core, linked with the documents of `storage/files` over `wasi:filesystem`. Its host
//! preopens directories and sets variables of the environment. `docs/plugin.md` lists them.
//!
//! WASI has no locks, so a place has one plugin that writes it: the one that came last takes it over by its
//! [mark](agent_memory_storage_files::Mark). The [owner of a place](agent_memory_storage_files::owner)
//! excludes the other hosts.

mod call;
#[cfg(target_arch = "wasm32")]
mod component;
mod family;
mod settings;
mod storage;
mod taken;
mod tree;

pub use call::{Error, Plugin};
pub use settings::{Environment, Settings, SettingsError};
