//! The hostile component of `tests/guests`, compiled as the product is.

use agent_memory_host::Image;

/// Its image.
pub fn image() -> Image {
    let image = include_bytes!(concat!(env!("OUT_DIR"), "/guests.cwasm")).as_slice();
    // SAFETY: the build script has it from `precompile`.
    unsafe { Image::from_bytes(image) }
}
