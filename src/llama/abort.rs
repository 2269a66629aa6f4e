//! Cancels a llama.cpp call while it computes.
//!
//! Takes a [`CancelToken`]; llama.cpp polls it between the operations of a call (`abort_callback`).
//! Invariant: the token that llama.cpp points to lives as long as the [`AbortHandle`].
//! Not here: GPU calls and state copies, which do not poll (`chunked_prefill` keeps GPU calls short); cleaning up after
//! an aborted call (`engine`).

use std::ffi::c_void;
use std::sync::{Arc, Mutex, PoisonError};

use llama_cpp_2::context::params::LlamaContextParams;
use llama_cpp_sys_2::llama_context_params;

use ragonite_base::CancelToken;

/// The token that aborts calls.
pub(super) struct AbortHandle(Arc<Mutex<CancelToken>>);

impl AbortHandle {
    /// Starts with a token that is never cancelled.
    pub(super) fn new() -> Self {
        Self(Arc::new(Mutex::new(CancelToken::never())))
    }

    /// Aborts calls from now on once `cancel` is cancelled.
    pub(super) fn watch(&self, cancel: &CancelToken) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = cancel.clone();
    }

    /// Whether the watched token is cancelled.
    pub(super) fn is_requested(&self) -> bool {
        is_canceled(&self.0)
    }

    /// Makes a context created with `params` poll the token. Drop the context before the [`AbortHandle`].
    pub(super) fn install(&self, params: &mut LlamaContextParams) {
        const { assert!(size_of::<LlamaContextParams>() == size_of::<llama_context_params>()) }
        let token = Arc::as_ptr(&self.0);
        #[expect(unsafe_code, reason = "there is no safe way to it")]
        // SAFETY: `LlamaContextParams` (=0.1.160) has one field, llama.cpp's own parameters; of the same size, it
        // begins where they do. `abort_requested` only reads the token.
        unsafe {
            let params = &mut *(&raw mut *params).cast::<llama_context_params>();
            params.abort_callback = Some(abort_requested);
            params.abort_callback_data = token.cast_mut().cast();
        }
    }
}

fn is_canceled(token: &Mutex<CancelToken>) -> bool {
    token.lock().unwrap_or_else(PoisonError::into_inner).is_canceled()
}

/// llama.cpp's `abort_callback`: true aborts the call.
///
/// # Safety
/// `token` is the pointer that [`AbortHandle::install`] passed, and its [`AbortHandle`] lives.
#[expect(unsafe_code, reason = "llama.cpp calls it")]
unsafe extern "C" fn abort_requested(token: *mut c_void) -> bool {
    // SAFETY: the `Arc` keeps the token's address for the life of the `AbortHandle`, which outlives the context.
    is_canceled(unsafe { &*token.cast_const().cast::<Mutex<CancelToken>>() })
}
