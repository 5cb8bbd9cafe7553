//! Memory for AI agents as a plugin: one component that imports nothing but WASI.
//!
//! It is the core, linked with the documents of `storage/files` over `wasi:filesystem`. Its host
//! preopens directories and sets variables of the environment. `docs/plugin.md` lists them.
//!
//! WASI has no locks, so only one plugin writes a place: the plugin that came last, which takes the place
//! over by its [mark](agent_memory_storage_files::Mark). In a place that plugins
//! [own](agent_memory_storage_files::owner), the other hosts do not write.

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
