//! The documents of granted places as one component. Its host provides a file system
//! (`wit/file-system`). The host itself takes locks and opens databases. `wit/places` has the exports.

#[cfg(target_arch = "wasm32")]
#[allow(missing_docs, reason = "generated")]
mod bindings;
#[cfg(target_arch = "wasm32")]
mod component;
#[cfg(target_arch = "wasm32")]
mod grants;
#[cfg(target_arch = "wasm32")]
mod host_format;
