//! The components of the tests, as images for the host.

use agent_memory_host::Image;

/// Machine code, aligned so that it runs without being copied, like the product's.
#[repr(C, align(4096))]
struct PageAligned<T: ?Sized>(T);

static GUESTS: &PageAligned<[u8]> =
    &PageAligned(*include_bytes!(concat!(env!("OUT_DIR"), "/guests.cwasm")));
static TOY: &PageAligned<[u8]> =
    &PageAligned(*include_bytes!(concat!(env!("OUT_DIR"), "/toy.cwasm")));

/// The component of `tests/guests`, which misbehaves on request.
pub fn guests() -> Image {
    let description = include_str!(concat!(env!("OUT_DIR"), "/guests.json"));
    // SAFETY: the build script made this machine code with `precompile`.
    unsafe { Image::new(&GUESTS.0, description) }
}

/// The component of `tests/guests/toy`, with the toolset `notes`.
pub fn toy() -> Image {
    let description = include_str!(concat!(env!("OUT_DIR"), "/toy.json"));
    // SAFETY: as above.
    unsafe { Image::new(&TOY.0, description) }
}
