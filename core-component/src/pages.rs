//! Where the component's allocator has its memory from.

use core::alloc::Layout;
use core::arch::wasm32::memory_grow;
use core::mem::MaybeUninit;
use core::ptr::NonNull;

use talc::base::Talc;
use talc::base::binning::Binning;
use talc::source::Source;

/// Enough for most calls: growing costs a host some system calls, each time.
const FIRST: usize = 1 << 20;

const PAGE: usize = 64 << 10;

/// What `talc` needs beside an allocation, at most.
const BESIDE: usize = 4 << 10;

static mut FIRST_HEAP: MaybeUninit<[u8; FIRST]> = MaybeUninit::uninit();

/// Memory that an instance begins with, then as many pages as are asked for.
#[derive(Debug)]
pub enum Pages {
    /// Nothing was asked for yet.
    Untouched,
    /// Where the heap ends that was grown last; none where there is none.
    Grown(Option<NonNull<u8>>),
}

// SAFETY: nothing here allocates.
unsafe impl Source for Pages {
    fn acquire<B: Binning>(talc: &mut Talc<Self, B>, layout: Layout) -> Result<(), ()> {
        let end = match talc.source {
            Self::Untouched => {
                talc.source = Self::Grown(None);
                // SAFETY: nobody else uses it.
                unsafe { talc.claim((&raw mut FIRST_HEAP).cast(), FIRST) };
                return Ok(());
            }
            Self::Grown(end) => end,
        };
        let pages = (layout.size() + layout.align() + BESIDE).div_ceil(PAGE);
        let before = memory_grow::<0>(pages);
        if before == usize::MAX {
            return Err(());
        }
        let base = (before * PAGE) as *mut u8;
        let bytes = pages * PAGE;
        talc.source = Self::Grown(match end {
            // SAFETY: the new pages are nobody's, and follow those that the heap has.
            Some(end) if end.as_ptr() == base => {
                Some(unsafe { talc.extend(end, base.wrapping_add(bytes)) })
            }
            // SAFETY: the new pages are nobody's.
            _ => unsafe { talc.claim(base, bytes) },
        });
        Ok(())
    }
}
