//! Captures the error log of llama.cpp.
//!
//! Takes llama.cpp's log messages; keeps the errors of a call for its caller and passes all errors to tracing.
//! Invariants: nothing reaches the screen; logging never stops llama.cpp.
//! Not here: turning errors into messages for the user (`placement`).

use std::cell::RefCell;
use std::ffi::{CStr, c_char, c_void};

use llama_cpp_sys_2::{GGML_LOG_LEVEL_ERROR, ggml_log_level, llama_log_set};

/// Maximum of errors kept per call.
const KEPT: usize = 8;

thread_local! {
    // llama.cpp logs to a plain function, on the thread that made the call.
    static ERRORS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// Redirects the log from standard error to this module. Call it before llama.cpp starts.
#[expect(unsafe_code, reason = "llama.cpp takes its log function through C")]
pub(super) fn redirect() {
    // SAFETY: `record` is a function for the whole life of the process and uses no user data.
    unsafe { llama_log_set(Some(record), std::ptr::null_mut()) }
}

#[expect(unsafe_code, reason = "llama.cpp calls it through C")]
unsafe extern "C" fn record(level: ggml_log_level, text: *const c_char, _: *mut c_void) {
    if level != GGML_LOG_LEVEL_ERROR || text.is_null() {
        return;
    }
    // SAFETY: llama.cpp passes a text that ends with a zero byte and lives through this call.
    let text = unsafe { CStr::from_ptr(text) }.to_string_lossy();
    let text = text.trim();
    tracing::debug!(error = text, "llama.cpp");
    // While the thread ends, nothing can be stored any more.
    let _ = ERRORS.try_with(|errors| {
        if let Ok(mut errors) = errors.try_borrow_mut()
            && errors.len() < KEPT
        {
            errors.push(text.to_owned());
        }
    });
}

/// Runs `work` and gives the errors that llama.cpp logged meanwhile.
pub(super) fn collect_errors<T>(work: impl FnOnce() -> T) -> (T, Errors) {
    let take = || ERRORS.with(|errors| std::mem::take(&mut *errors.borrow_mut()));
    take();
    let result = work();
    (result, Errors(take()))
}

/// The errors of one call, the innermost first.
#[derive(Debug)]
pub(super) struct Errors(Vec<String>);

impl Errors {
    pub(super) fn ran_out_of_memory(&self) -> bool {
        const SIGNS: [&str; 5] =
            ["failed to allocate", "unable to allocate", "cannot allocate", "bad_alloc", "out of memory"];
        let said = |error: &String| SIGNS.iter().any(|sign| error.to_ascii_lowercase().contains(sign));
        self.0.iter().any(said)
    }

    /// The reason in llama.cpp's words, without its function names.
    pub(super) fn reason(&self) -> Option<String> {
        let loading = self.0.iter().find_map(|error| error.split_once("error loading model: "));
        let reason = loading.map(|(_, reason)| reason).or(self.0.first().map(String::as_str))?;
        Some(reason.replace("llama_model_loader: ", ""))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn errors(lines: &[&str]) -> Errors {
        Errors(lines.iter().map(|line| (*line).to_owned()).collect())
    }

    #[test]
    fn the_reason_is_that_of_loading() {
        let heard = errors(&[
            "gguf_init: something",
            "llama_model_load: error loading model: unknown model architecture: 'x'",
            "llama_model_load_from_file_impl: failed to load model",
        ]);
        assert_eq!(heard.reason().as_deref(), Some("unknown model architecture: 'x'"));
        assert!(!heard.ran_out_of_memory());
        assert_eq!(errors(&[]).reason(), None);
    }

    #[test]
    fn a_failed_allocation_is_told_apart() {
        let heard = errors(&["ggml_backend_cpu_buffer_type_alloc_buffer: failed to allocate buffer of size 625508352"]);
        assert!(heard.ran_out_of_memory());
    }
}
