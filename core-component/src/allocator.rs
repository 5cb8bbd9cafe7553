//! The component's allocator: size classes for small blocks, another allocator for large ones.
//!
//! A call makes thousands of small allocations and ends soon after. So a freed block goes to a free
//! list of its class and is never joined with its neighbours. In the worst case a call occupies the
//! sum of the peaks of all classes.

use core::alloc::{GlobalAlloc, Layout};
use core::cell::UnsafeCell;
use core::ptr;

/// The size of a block is a multiple of this, and so is its address. In bytes.
const UNIT: usize = 16;

/// The number of size classes. Their blocks have 1 to `CLASSES` units.
const CLASSES: usize = 64;

/// The memory that small blocks are taken from, 32 KiB at a time.
#[repr(align(16))]
struct Chunk(#[expect(dead_code, reason = "for its size")] [u8; 32 << 10]);

/// An allocator with size classes. `large` provides the chunks and all larger blocks.
pub struct SizeClasses<A> {
    large: A,
    small: UnsafeCell<Small>,
}

struct Small {
    /// For each class, the block that was freed last. It holds a pointer to the one freed before
    /// it.
    free: [*mut u8; CLASSES],
    /// The unused end of the current chunk: its address and its bytes.
    next: *mut u8,
    left: usize,
}

// SAFETY: a component has one thread.
#[cfg(all(target_arch = "wasm32", not(target_feature = "atomics")))]
unsafe impl<A> Sync for SizeClasses<A> {}

impl<A> SizeClasses<A> {
    pub const fn over(large: A) -> Self {
        let small = Small { free: [ptr::null_mut(); CLASSES], next: ptr::null_mut(), left: 0 };
        Self { large, small: UnsafeCell::new(small) }
    }
}

/// The class of a layout, or none if it is too large or needs a larger alignment.
#[inline(always)]
fn class_of(layout: Layout) -> Option<usize> {
    // No layout that reaches a global allocator has size 0.
    let class = layout.size().wrapping_sub(1) / UNIT;
    (class < CLASSES && layout.align() <= UNIT).then_some(class)
}

const fn bytes_of(class: usize) -> usize {
    (class + 1) * UNIT
}

// SAFETY: a block has the size and the alignment of every layout of its class. Its chunk is never
// freed. A free block is in the free list of its class and in no other; a used block is in none.
unsafe impl<A: GlobalAlloc> GlobalAlloc for SizeClasses<A> {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let Some(class) = class_of(layout) else {
            // SAFETY: the caller keeps the contract of `alloc`, which is the same for `large`.
            return unsafe { self.large.alloc(layout) };
        };
        // SAFETY: there is one thread, and nothing called here allocates through `self`.
        let small = unsafe { &mut *self.small.get() };
        let block = small.free[class];
        if block.is_null() {
            return small.take_from_chunk(class, &self.large);
        }
        // SAFETY: a free block holds a pointer to the one that was freed before it.
        small.free[class] = unsafe { block.cast::<*mut u8>().read() };
        block
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        let Some(class) = class_of(layout) else {
            // SAFETY: the layout is not small, so the block came from `large`.
            return unsafe { self.large.dealloc(block, layout) };
        };
        // SAFETY: as in `alloc`.
        let small = unsafe { &mut *self.small.get() };
        // SAFETY: the caller gave the block up. It is large enough for a pointer, and aligned.
        unsafe { block.cast::<*mut u8>().write(small.free[class]) };
        small.free[class] = block;
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller promises that the size does not overflow with the alignment.
        let new = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        match (class_of(layout), class_of(new)) {
            // SAFETY: neither layout is small, so the block came from `large`.
            (None, None) => unsafe { self.large.realloc(block, layout, size) },
            (old, new) if old == new => block,
            _ => {
                // SAFETY: the new layout is valid, and the old block has the size of its layout.
                unsafe {
                    let moved = self.alloc(new);
                    if !moved.is_null() {
                        ptr::copy_nonoverlapping(block, moved, layout.size().min(size));
                        self.dealloc(block, layout);
                    }
                    moved
                }
            }
        }
    }
}

impl Small {
    /// Takes a new block from a chunk. Null if there is no memory for it.
    #[cold]
    fn take_from_chunk(&mut self, class: usize, large: &impl GlobalAlloc) -> *mut u8 {
        let bytes = bytes_of(class);
        if self.left < bytes {
            let layout = Layout::new::<Chunk>();
            // SAFETY: the size of the layout is not 0.
            let chunk = unsafe { large.alloc(layout) };
            if chunk.is_null() {
                return chunk;
            }
            // The rest of the old chunk is lost: less than one block of the largest class.
            (self.next, self.left) = (chunk, layout.size());
        }
        let block = self.next;
        // SAFETY: the chunk has at least `bytes` bytes left.
        self.next = unsafe { block.add(bytes) };
        self.left -= bytes;
        block
    }
}

#[cfg(test)]
mod tests {
    use std::alloc::System;
    use std::slice;

    use super::*;

    /// A block that is in use, and the byte it is filled with.
    struct UsedBlock {
        block: *mut u8,
        layout: Layout,
        byte: u8,
    }

    impl UsedBlock {
        fn fill(&mut self, byte: u8) {
            self.byte = byte;
            // SAFETY: the block has the size of its layout.
            unsafe { self.block.write_bytes(byte, self.layout.size()) };
        }

        fn assert_holds(&self, bytes: usize) {
            // SAFETY: `fill` wrote the whole block.
            let found = unsafe { slice::from_raw_parts(self.block, bytes) };
            assert!(found.iter().all(|byte| *byte == self.byte), "another block wrote here");
            assert_eq!(self.block.addr() % self.layout.align(), 0);
        }
    }

    /// Pseudorandom numbers below a bound (a linear congruential generator).
    fn numbers(seed: u64) -> impl FnMut(usize) -> usize {
        let mut state = seed;
        move |below| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as usize % below
        }
    }

    #[test]
    fn blocks_never_overlap_after_random_allocations_frees_and_resizes() {
        let allocator = SizeClasses::over(System);
        let mut number = numbers(1);
        let mut used: Vec<UsedBlock> = Vec::new();
        for step in 0..100_000 {
            let most = [40, 1100, 70_000][number(3)];
            let size = 1 + number(most);
            let layout = Layout::from_size_align(size, 1 << number(6)).unwrap();
            match number(5) {
                0 | 1 => {
                    // SAFETY: the size of the layout is not 0.
                    let block = unsafe { allocator.alloc(layout) };
                    used.push(UsedBlock { block, layout, byte: 0 });
                    used.last_mut().unwrap().fill(step as u8);
                }
                2 if !used.is_empty() => {
                    let at = number(used.len());
                    let one = &mut used[at];
                    let (old, kept) = (one.layout, one.layout.size().min(size));
                    // SAFETY: the block has this layout.
                    one.block = unsafe { allocator.realloc(one.block, old, size) };
                    one.layout = Layout::from_size_align(size, old.align()).unwrap();
                    one.assert_holds(kept);
                    one.fill(step as u8);
                }
                _ if !used.is_empty() => {
                    let one = used.swap_remove(number(used.len()));
                    one.assert_holds(one.layout.size());
                    // SAFETY: the block has this layout, and is not used again.
                    unsafe { allocator.dealloc(one.block, one.layout) };
                }
                _ => {}
            }
        }
        for one in used {
            one.assert_holds(one.layout.size());
            // SAFETY: as above.
            unsafe { allocator.dealloc(one.block, one.layout) };
        }
    }

    #[test]
    fn a_freed_block_is_used_again_for_the_next_layout_of_its_class() {
        let allocator = SizeClasses::over(System);
        let layout = |size| Layout::from_size_align(size, 8).unwrap();
        // SAFETY: each block is freed with a layout of its class, and nothing is written to it.
        unsafe {
            let first = allocator.alloc(layout(17));
            allocator.dealloc(first, layout(17));
            assert_ne!(allocator.alloc(layout(16)), first, "it is of another class");
            assert_eq!(allocator.alloc(layout(32)), first);
            assert_eq!(allocator.realloc(first, layout(32), 20), first);
        }
    }
}
