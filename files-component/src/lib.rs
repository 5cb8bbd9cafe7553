//! The documents of granted places as one component. Its host lends it a file system
//! (`wit/file-system`), and keeps locks and databases. `wit/places` has its exports.

#[cfg(target_arch = "wasm32")]
#[allow(missing_docs, reason = "generated")]
mod bindings;
#[cfg(target_arch = "wasm32")]
mod component;
#[cfg(target_arch = "wasm32")]
mod grants;
#[cfg(target_arch = "wasm32")]
mod host_format;
