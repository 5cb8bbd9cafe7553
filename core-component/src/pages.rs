//! The source of memory for the component's allocator: an initial heap, then WebAssembly pages.

use core::alloc::Layout;
use core::arch::wasm32::memory_grow;
use core::mem::MaybeUninit;
use core::ptr::NonNull;

use talc::base::Talc;
use talc::base::binning::Binning;
use talc::source::Source;

/// The bytes of the initial heap, enough for most calls. Growing costs system calls of the host.
const INITIAL: usize = 1 << 20;

const PAGE: usize = 64 << 10;

/// The bytes that `talc` needs in addition to an allocation, at most.
const OVERHEAD: usize = 4 << 10;

static mut INITIAL_HEAP: MaybeUninit<[u8; INITIAL]> = MaybeUninit::uninit();

/// The state of the heap.
#[derive(Debug)]
pub enum Pages {
    /// Nothing has been allocated yet.
    Untouched,
    /// The initial heap is in use. The end of the last heap that was grown, if any.
    Grown(Option<NonNull<u8>>),
}

// SAFETY: nothing here allocates.
unsafe impl Source for Pages {
    fn acquire<B: Binning>(talc: &mut Talc<Self, B>, layout: Layout) -> Result<(), ()> {
        let end = match talc.source {
            Self::Untouched => {
                talc.source = Self::Grown(None);
                // SAFETY: nothing else uses the initial heap.
                unsafe { talc.claim((&raw mut INITIAL_HEAP).cast(), INITIAL) };
                return Ok(());
            }
            Self::Grown(end) => end,
        };
        let pages = (layout.size() + layout.align() + OVERHEAD).div_ceil(PAGE);
        let before = memory_grow::<0>(pages);
        if before == usize::MAX {
            return Err(());
        }
        let base = (before * PAGE) as *mut u8;
        let bytes = pages * PAGE;
        talc.source = Self::Grown(match end {
            // SAFETY: nothing else uses the new pages, and they directly follow the heap.
            Some(end) if end.as_ptr() == base => {
                Some(unsafe { talc.extend(end, base.wrapping_add(bytes)) })
            }
            // SAFETY: nothing else uses the new pages.
            _ => unsafe { talc.claim(base, bytes) },
        });
        Ok(())
    }
}
