//! Loads llama.cpp's kernels from shared libraries, one for each kind of processor.
//!
//! Takes the folder that llama.cpp was loaded from; asks each library there whether this processor has its
//! instructions, and keeps the best.
//! Invariants: unlike llama.cpp's default, the current folder is not searched; only `GGML_BACKEND_PATH`, if set, names
//! another library.
//! Not here: builds with one linked set of kernels.

use std::ffi::{CStr, CString, OsStr, c_void};
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use llama_cpp_sys_2::{ggml_backend_dev_count, ggml_backend_load_all_from_path, llama_backend_init};

/// Loads the best kernels, or gives the folder in which none fits.
#[expect(unsafe_code, reason = "llama.cpp is a C library")]
pub(super) fn load() -> Result<(), PathBuf> {
    let folder = folder().unwrap_or_default();
    let path = CString::new(folder.as_os_str().as_bytes()).map_err(|_| folder.clone())?;
    // SAFETY: `path` ends with a zero byte and lives through the call; llama.cpp loads libraries under a lock of its own.
    let devices = unsafe {
        ggml_backend_load_all_from_path(path.as_ptr());
        ggml_backend_dev_count()
    };
    if devices == 0 { Err(folder) } else { Ok(()) }
}

/// The folder that llama.cpp was loaded from.
#[expect(unsafe_code, reason = "the dynamic linker tells through C")]
fn folder() -> Option<PathBuf> {
    let mut found = MaybeUninit::<libc::Dl_info>::uninit();
    // SAFETY: `found` is filled if the result is not 0; the name in it ends with a zero
    // byte and lives as long as the library, which is never unloaded.
    let name = unsafe {
        if libc::dladdr(llama_backend_init as *const c_void, found.as_mut_ptr()) == 0 {
            return None;
        }
        CStr::from_ptr(found.assume_init().dli_fname)
    };
    PathBuf::from(OsStr::from_bytes(name.to_bytes())).parent().map(PathBuf::from)
}
