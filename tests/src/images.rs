//! The components of the tests, as images for the host.

use agent_memory_host::Image;

/// The component of `tests/guests`, which misbehaves on request.
pub fn guests() -> Image {
    let code = include_bytes!(concat!(env!("OUT_DIR"), "/guests.cwasm")).as_slice();
    let description = include_str!(concat!(env!("OUT_DIR"), "/guests.json"));
    // SAFETY: the build script has it from `precompile`.
    unsafe { Image::new(code, description) }
}

/// The component of `tests/guests/toy`, with the toolset `notes`.
pub fn toy() -> Image {
    let code = include_bytes!(concat!(env!("OUT_DIR"), "/toy.cwasm")).as_slice();
    let description = include_str!(concat!(env!("OUT_DIR"), "/toy.json"));
    // SAFETY: as above.
    unsafe { Image::new(code, description) }
}
