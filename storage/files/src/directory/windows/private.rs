//! The access rights of files and directories that only their owner may use.

use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::OnceLock;

use windows_sys::Win32::Security::Authorization::{
    ConvertStringSecurityDescriptorToSecurityDescriptorW, SDDL_REVISION_1,
};
use windows_sys::core::w;

use crate::errno::{Errno, errno_of};

/// A security descriptor of the system, which is never freed.
struct Descriptor(*const c_void);

// SAFETY: nothing writes to the descriptor.
unsafe impl Send for Descriptor {}
// SAFETY: as above.
unsafe impl Sync for Descriptor {}

/// The security descriptor with all rights for the owner, the system and its administrators, and none
/// for others. It inherits no rights from the parent. New files and directories below inherit it.
pub(super) fn descriptor() -> Result<*const c_void, Errno> {
    static MADE: OnceLock<Result<Descriptor, Errno>> = OnceLock::new();
    let made = MADE.get_or_init(|| {
        let text = w!("D:P(A;OICI;FA;;;OW)(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)");
        let mut descriptor = null_mut();
        // SAFETY: the text ends with a NUL, and the function writes a pointer to memory that it
        // allocates.
        let done = unsafe {
            ConvertStringSecurityDescriptorToSecurityDescriptorW(
                text,
                SDDL_REVISION_1,
                &mut descriptor,
                null_mut(),
            )
        };
        match done {
            0 => Err(errno_of(&std::io::Error::last_os_error())),
            _ => Ok(Descriptor(descriptor)),
        }
    });
    made.as_ref().map(|descriptor| descriptor.0).map_err(|errno| *errno)
}
