//! NVIDIA's driver, loaded at run time.
//!
//! Takes the library name, gives the number of GPUs.
//! Invariants: a missing driver is a reason to stay on this build; a loaded library is never unloaded, because a
//! driver may have threads.
//! Not here: using a GPU.

use std::ffi::{CStr, c_int, c_uint, c_void};

use super::CpuReason;

type Init = unsafe extern "C" fn(c_uint) -> c_int;
type Count = unsafe extern "C" fn(*mut c_int) -> c_int;

/// GPUs the driver in `library` knows, at least one.
#[expect(unsafe_code, reason = "the driver is a C library")]
pub(super) fn count_gpus(library: &CStr) -> Result<c_int, CpuReason> {
    // SAFETY: `library` ends with a zero byte; no other thread runs that could call `dlerror` in between.
    let loaded = unsafe { libc::dlopen(library.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    if loaded.is_null() {
        return Err(CpuReason::NoDriver(why_not()));
    }
    let init = function(loaded, c"cuInit").ok_or(CpuReason::NotADriver("cuInit"))?;
    let count = function(loaded, c"cuDeviceGetCount").ok_or(CpuReason::NotADriver("cuDeviceGetCount"))?;
    // SAFETY: cuda.h declares `CUresult cuInit(unsigned int)` and `CUresult cuDeviceGetCount(int *)`, whose result is an
    // enumeration of the size of an int; the library is never unloaded.
    let (init, count) =
        unsafe { (std::mem::transmute::<*mut c_void, Init>(init), std::mem::transmute::<*mut c_void, Count>(count)) };
    let mut gpus = 0;
    // SAFETY: as above; `gpus` lives through the call.
    let codes = unsafe { (init(0), count(&raw mut gpus)) };
    match codes {
        (0, 0) if gpus > 0 => Ok(gpus),
        (0, 0) => Err(CpuReason::NoGpu),
        (0, code) => Err(CpuReason::Driver { call: "cuDeviceGetCount", code }),
        (code, _) => Err(CpuReason::Driver { call: "cuInit", code }),
    }
}

#[expect(unsafe_code, reason = "the driver is a C library")]
fn function(library: *mut c_void, name: &CStr) -> Option<*mut c_void> {
    // SAFETY: `library` came from `dlopen` and was not closed; `name` ends with a zero byte.
    let found = unsafe { libc::dlsym(library, name.as_ptr()) };
    (!found.is_null()).then_some(found)
}

/// Last error message of the dynamic linker.
#[expect(unsafe_code, reason = "the dynamic linker tells through C")]
fn why_not() -> String {
    // SAFETY: the text, where there is one, ends with a zero byte and lives until the next call of the linker.
    unsafe {
        let text = libc::dlerror();
        if text.is_null() { String::new() } else { CStr::from_ptr(text).to_string_lossy().into_owned() }
    }
}
