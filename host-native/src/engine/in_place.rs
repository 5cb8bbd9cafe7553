//! Runs machine code in the pages of the program's own file, where the system has mapped them. Loading
//! neither reads nor copies the code, and processes share its pages.

use super::pool::engine;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use wasmtime::component::Component;
use wasmtime::{CustomCodeMemory, Engine, Result};

/// The size of a page on most machines. The images are aligned to it.
const PAGE: usize = 4096;

/// Whether an engine runs code in place. Wasmtime finds the owner of code by its address, so a second
/// engine needs a copy.
static IS_CLAIMED: AtomicBool = AtomicBool::new(false);

/// The right of one engine to run the program's machine code in place. Wasmtime drops it with the engine
/// and its components.
pub(super) struct InPlace(&'static [u8]);

impl InPlace {
    /// Claims code that is a part of the program. None if it does not begin at a page, or if another
    /// engine runs code in place.
    pub(super) fn claim(code: &'static [u8]) -> Option<InPlace> {
        let is_aligned = code.as_ptr().addr().is_multiple_of(PAGE);
        let is_claimed = is_aligned && !IS_CLAIMED.swap(true, Ordering::AcqRel);
        // Not `then_some`: it would always make a value, and dropping one without a claim would release
        // the claim of another engine.
        is_claimed.then(|| InPlace(code))
    }

    /// Loads the code in an engine of its own.
    ///
    /// # Errors
    ///
    /// Those of `Component::deserialize`; also if the machine has larger pages, or a policy that forbids
    /// to make them executable.
    ///
    /// # Safety
    ///
    /// The code comes from `agent_memory_image::precompile`.
    pub(super) unsafe fn load(self) -> Result<(Engine, Component)> {
        let code = NonNull::from(self.0);
        let engine = engine(Some(Arc::new(self)))?;
        // SAFETY: the caller vouches for the code, and nothing writes to a part of the program.
        let component = unsafe { Component::deserialize_raw(&engine, code)? };
        Ok((engine, component))
    }
}

impl Drop for InPlace {
    fn drop(&mut self) {
        IS_CLAIMED.store(false, Ordering::Release);
    }
}

impl CustomCodeMemory for InPlace {
    fn required_alignment(&self) -> usize {
        PAGE
    }

    fn publish_executable(&self, code: *const u8, length: usize) -> Result<()> {
        // SAFETY: nothing writes to these pages, which hold the image's machine code.
        unsafe { make_executable(code, length)? };
        Ok(())
    }

    /// Leaves the pages executable for the next engine. They were never writable.
    fn unpublish_executable(&self, _: *const u8, _: usize) -> Result<()> {
        Ok(())
    }
}

/// Makes pages of the program readable and executable.
///
/// # Safety
///
/// The pages hold machine code that nothing writes to.
#[cfg(not(windows))]
unsafe fn make_executable(code: *const u8, length: usize) -> std::io::Result<()> {
    use rustix::mm::{MprotectFlags, mprotect};
    let flags = MprotectFlags::READ | MprotectFlags::EXEC;
    // SAFETY: the caller vouches for the pages.
    unsafe { mprotect(code.cast_mut().cast(), length, flags)? };
    Ok(())
}

/// Makes pages of the program readable and executable.
///
/// # Safety
///
/// The pages hold machine code that nothing writes to.
#[cfg(windows)]
unsafe fn make_executable(code: *const u8, length: usize) -> std::io::Result<()> {
    use windows_sys::Win32::System::Memory::{PAGE_EXECUTE_READ, VirtualProtect};
    let mut before = 0;
    // SAFETY: the caller vouches for the pages.
    match unsafe { VirtualProtect(code.cast(), length, PAGE_EXECUTE_READ, &mut before) } {
        0 => Err(std::io::Error::last_os_error()),
        _ => Ok(()),
    }
}
