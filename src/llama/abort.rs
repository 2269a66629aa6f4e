//! Ending a call of llama.cpp while it computes.
//!
//! Takes the token of the work that is being done; llama.cpp asks between the operations of a call whether it is
//! cancelled.
//! Invariant: what llama.cpp points to lives as long as the [`AbortHandle`].
//! Not here: what does not ask: calls that a GPU computes, which are kept short (`chunked_prefill`), and copies of states; what an
//! ended call leaves (`engine`).

use std::ffi::c_void;
use std::sync::{Arc, Mutex, PoisonError};

use llama_cpp_2::context::params::LlamaContextParams;
use llama_cpp_sys_2::llama_context_params;

use ragonite_base::CancelToken;

/// Whose cancellation ends a call.
pub(super) struct AbortHandle(Arc<Mutex<CancelToken>>);

impl AbortHandle {
    /// Nobody's, until one is heeded.
    pub(super) fn new() -> Self {
        Self(Arc::new(Mutex::new(CancelToken::never())))
    }

    /// Ends calls from now on once this is cancelled.
    pub(super) fn watch(&self, cancel: &CancelToken) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = cancel.clone();
    }

    /// Whether calls are to end.
    pub(super) fn is_requested(&self) -> bool {
        is_canceled(&self.0)
    }

    /// Has a context that is made with these parameters ask. It must be dropped before the [`AbortHandle`].
    pub(super) fn install(&self, params: &mut LlamaContextParams) {
        const { assert!(size_of::<LlamaContextParams>() == size_of::<llama_context_params>()) }
        let heeded = Arc::as_ptr(&self.0);
        #[expect(unsafe_code, reason = "there is no safe way to it")]
        // SAFETY: `LlamaContextParams` (=0.1.160) has one field, llama.cpp's own parameters; of the same size, it
        // begins where they do. `asked` only reads what `heeded` points to.
        unsafe {
            let params = &mut *(&raw mut *params).cast::<llama_context_params>();
            params.abort_callback = Some(asked);
            params.abort_callback_data = heeded.cast_mut().cast();
        }
    }
}

fn is_canceled(heeded: &Mutex<CancelToken>) -> bool {
    heeded.lock().unwrap_or_else(PoisonError::into_inner).is_canceled()
}

/// Whether the call is to end.
///
/// # Safety
/// `heeded` is what [`AbortHandle::install`] gave, and its [`AbortHandle`] lives.
#[expect(unsafe_code, reason = "llama.cpp calls it")]
unsafe extern "C" fn asked(heeded: *mut c_void) -> bool {
    // SAFETY: what is shared keeps its address for the life of the `AbortHandle`, which outlives the context.
    is_canceled(unsafe { &*heeded.cast_const().cast::<Mutex<CancelToken>>() })
}
