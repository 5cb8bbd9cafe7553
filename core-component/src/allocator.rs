//! The component's allocator: size classes for what is small, another allocator for the rest.
//!
//! A call makes some thousands of small allocations and is over soon after. So a block that is
//! freed is kept for the next one of its class, never joined with its neighbours: what a call holds
//! is at most the sum of the most that it ever held of each class.

use core::alloc::{GlobalAlloc, Layout};
use core::cell::UnsafeCell;
use core::ptr;

/// Blocks are multiples of this, and aligned to it.
const GRAIN: usize = 16;

/// The classes, of one grain to so many.
const CLASSES: usize = 64;

/// What blocks are cut from.
#[repr(align(16))]
struct Chunk(#[expect(dead_code, reason = "for its size")] [u8; 32 << 10]);

/// An allocator that takes chunks for small blocks, and all larger ones, from another.
pub struct SizeClasses<A> {
    large: A,
    small: UnsafeCell<Small>,
}

struct Small {
    /// The block that was freed last, by class; it points to the one freed before it.
    free: [*mut u8; CLASSES],
    /// What is left of the chunk.
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

/// The class of a layout; none where it is not small.
#[inline(always)]
fn class_of(layout: Layout) -> Option<usize> {
    // No layout that reaches a global allocator has size 0.
    let class = layout.size().wrapping_sub(1) / GRAIN;
    (class < CLASSES && layout.align() <= GRAIN).then_some(class)
}

const fn bytes_of(class: usize) -> usize {
    (class + 1) * GRAIN
}

// SAFETY: a block of a class is as large and as aligned as any layout of the class, comes from a
// chunk that is never given back, and is either free, then in the list of its class alone, or not.
unsafe impl<A: GlobalAlloc> GlobalAlloc for SizeClasses<A> {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let Some(class) = class_of(layout) else {
            // SAFETY: the caller keeps this method's contract, which is the same.
            return unsafe { self.large.alloc(layout) };
        };
        // SAFETY: one thread, and nothing that is called here allocates through `self`.
        let small = unsafe { &mut *self.small.get() };
        let block = small.free[class];
        if block.is_null() {
            return small.cut(class, &self.large);
        }
        // SAFETY: a free block holds the one that was freed before it.
        small.free[class] = unsafe { block.cast::<*mut u8>().read() };
        block
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        let Some(class) = class_of(layout) else {
            // SAFETY: the block came from there, as its layout is not small.
            return unsafe { self.large.dealloc(block, layout) };
        };
        // SAFETY: as in `alloc`.
        let small = unsafe { &mut *self.small.get() };
        // SAFETY: the block is the caller's no more, large enough for a pointer, and aligned.
        unsafe { block.cast::<*mut u8>().write(small.free[class]) };
        small.free[class] = block;
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller promises that the size does not overflow with the alignment.
        let new = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        match (class_of(layout), class_of(new)) {
            // SAFETY: the block came from there, and stays there.
            (None, None) => unsafe { self.large.realloc(block, layout, size) },
            (old, new) if old == new => block,
            _ => {
                // SAFETY: the new layout is valid; the old block is as large as its layout says.
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
    /// A block that was never used; null where there is no memory for it.
    #[cold]
    fn cut(&mut self, class: usize, large: &impl GlobalAlloc) -> *mut u8 {
        let bytes = bytes_of(class);
        if self.left < bytes {
            let layout = Layout::new::<Chunk>();
            // SAFETY: the layout has a size.
            let chunk = unsafe { large.alloc(layout) };
            if chunk.is_null() {
                return chunk;
            }
            // What is left of the chunk before is less than a block of the largest class.
            (self.next, self.left) = (chunk, layout.size());
        }
        let block = self.next;
        // SAFETY: so many bytes are left.
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

    /// A block, and the byte that all of it holds.
    struct Held {
        block: *mut u8,
        layout: Layout,
        byte: u8,
    }

    impl Held {
        fn fill(&mut self, byte: u8) {
            self.byte = byte;
            // SAFETY: the block is as large as its layout.
            unsafe { self.block.write_bytes(byte, self.layout.size()) };
        }

        fn assert_holds(&self, bytes: usize) {
            // SAFETY: `fill` wrote all of it.
            let found = unsafe { slice::from_raw_parts(self.block, bytes) };
            assert!(found.iter().all(|byte| *byte == self.byte), "another block wrote here");
            assert_eq!(self.block.addr() % self.layout.align(), 0);
        }
    }

    /// Numbers that look random (a linear congruential generator).
    fn numbers(seed: u64) -> impl FnMut(usize) -> usize {
        let mut state = seed;
        move |below| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as usize % below
        }
    }

    #[test]
    fn no_block_is_anothers_whatever_is_allocated_freed_and_resized() {
        let allocator = SizeClasses::over(System);
        let mut number = numbers(1);
        let mut held: Vec<Held> = Vec::new();
        for step in 0..100_000 {
            let most = [40, 1100, 70_000][number(3)];
            let size = 1 + number(most);
            let layout = Layout::from_size_align(size, 1 << number(6)).unwrap();
            match number(5) {
                0 | 1 => {
                    // SAFETY: the layout has a size.
                    let block = unsafe { allocator.alloc(layout) };
                    held.push(Held { block, layout, byte: 0 });
                    held.last_mut().unwrap().fill(step as u8);
                }
                2 if !held.is_empty() => {
                    let at = number(held.len());
                    let one = &mut held[at];
                    let (old, kept) = (one.layout, one.layout.size().min(size));
                    // SAFETY: the block has this layout.
                    one.block = unsafe { allocator.realloc(one.block, old, size) };
                    one.layout = Layout::from_size_align(size, old.align()).unwrap();
                    one.assert_holds(kept);
                    one.fill(step as u8);
                }
                _ if !held.is_empty() => {
                    let one = held.swap_remove(number(held.len()));
                    one.assert_holds(one.layout.size());
                    // SAFETY: the block has this layout, and is not used again.
                    unsafe { allocator.dealloc(one.block, one.layout) };
                }
                _ => {}
            }
        }
        for one in held {
            one.assert_holds(one.layout.size());
            // SAFETY: as above.
            unsafe { allocator.dealloc(one.block, one.layout) };
        }
    }

    #[test]
    fn a_block_that_was_freed_serves_the_next_layout_of_its_class() {
        let allocator = SizeClasses::over(System);
        let layout = |size| Layout::from_size_align(size, 8).unwrap();
        // SAFETY: each block is freed with a layout of its class, and used by nobody.
        unsafe {
            let first = allocator.alloc(layout(17));
            allocator.dealloc(first, layout(17));
            assert_ne!(allocator.alloc(layout(16)), first, "it is of another class");
            assert_eq!(allocator.alloc(layout(32)), first);
            assert_eq!(allocator.realloc(first, layout(32), 20), first);
        }
    }
}
