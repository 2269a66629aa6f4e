//! How llama.cpp is told to load weights and to make a context, and which kernels it computes with.
//!
//! Takes the settings, gives llama.cpp's own parameters.
//! Not here: memory, and what is done with either (`engine`).

use std::cell::Cell;
use std::ffi::CStr;
use std::num::NonZeroU32;
use std::ops::ControlFlow;
use std::path::Path;
use std::rc::Rc;
use std::sync::OnceLock;

use llama_cpp_2::context::params::{KvCacheType, LlamaContextParams};
use llama_cpp_2::llama_backend::LlamaBackend;
use llama_cpp_2::model::LlamaModel;
use llama_cpp_2::model::params::LlamaModelParams;

use super::engine::{BATCH_TOKENS, Cause, SEQUENCES, SPARE_CELLS, backend};
use super::{FlashAttention, GeneratorSettings, KvCache};
use crate::inference::{DeviceChoice, InferenceError, Placement};

/// Physical cores this process may use: more threads slow llama.cpp down.
fn physical_cores() -> usize {
    num_cpus::get_physical().min(num_cpus::get()).max(1)
}

/// What llama.cpp was built for and what of it this processor has, in its own words. Other kernels round otherwise.
pub(super) fn kernels() -> &'static str {
    // It writes them into one text of its own, so only one thread may ask, once.
    static KERNELS: OnceLock<String> = OnceLock::new();
    KERNELS.get_or_init(|| {
        #[expect(unsafe_code, reason = "there is no safe way to it")]
        // SAFETY: llama.cpp gives a text that ends with a zero byte and stays; nobody else asks it to write it again.
        let text = unsafe { CStr::from_ptr(llama_cpp_sys_2::llama_print_system_info()) };
        text.to_string_lossy().into_owned()
    })
}

/// What the kernels that compute use of this processor, as llama.cpp calls it: `AVX2`, `AVX512_VNNI`.
///
/// # Errors
/// [`InferenceError::NoKernels`] where there are none.
pub fn kernel_features() -> Result<Vec<String>, InferenceError> {
    backend("")?;
    let features = kernels().split(['|', ':']).filter_map(|feature| feature.trim().strip_suffix(" = 1"));
    Ok(features.map(str::to_owned).collect())
}

/// Why weights were not loaded.
pub(super) enum LoadError {
    /// Whoever was told of the progress ended it.
    Ended,
    /// llama.cpp refuses them.
    Refused(Cause),
}

/// Loads the weights at `path`, onto GPUs as `placement` says; `progress` is told how much is loaded and may end it.
pub(super) fn load_weights(
    backend: &LlamaBackend,
    path: &Path,
    placement: Option<&Placement>,
    mut progress: Box<dyn FnMut(f32) -> ControlFlow<()>>,
) -> Result<LlamaModel, LoadError> {
    let ended = Rc::new(Cell::new(false));
    let seen = Rc::clone(&ended);
    let params = LlamaModelParams::default();
    let params = match placement {
        Some(placement) => params.with_n_gpu_layers(u32::try_from(placement.layers).unwrap_or(u32::MAX)),
        None if DeviceChoice::of_this_build().is_none() => params,
        // An empty list of devices keeps all work off a GPU, also that of large batches.
        None => {
            let params = params.with_devices(&[]).map_err(|error| LoadError::Refused(error.into()))?;
            params.with_n_gpu_layers(0)
        }
    };
    let params = params.with_progress_callback(move |done| {
        let goes_on = progress(done).is_continue();
        seen.set(!goes_on);
        goes_on
    });
    LlamaModel::load_from_file(backend, path, &params)
        .map_err(|error| if ended.get() { LoadError::Ended } else { LoadError::Refused(error.into()) })
}

/// Threads that compute.
pub(super) fn threads(settings: &GeneratorSettings) -> usize {
    if settings.threads == 0 { physical_cores() } else { settings.threads }
}

/// How the context is made.
pub(super) fn context_params(
    settings: &GeneratorSettings,
    context_tokens: usize,
    placement: Option<&Placement>,
) -> LlamaContextParams {
    let threads = i32::try_from(threads(settings)).unwrap_or(i32::MAX);
    let batch = u32::try_from(BATCH_TOKENS).unwrap_or(u32::MAX);
    let attention = match settings.flash_attention {
        FlashAttention::Auto => llama_cpp_sys_2::LLAMA_FLASH_ATTN_TYPE_AUTO,
        FlashAttention::On => llama_cpp_sys_2::LLAMA_FLASH_ATTN_TYPE_ENABLED,
        FlashAttention::Off => llama_cpp_sys_2::LLAMA_FLASH_ATTN_TYPE_DISABLED,
    };
    let numbers = match settings.kv_cache {
        KvCache::F16 => KvCacheType::F16,
        KvCache::Q8 => KvCacheType::Q8_0,
    };
    let params = LlamaContextParams::default();
    let params = if placement.is_none() && DeviceChoice::of_this_build().is_some() {
        params.with_offload_kqv(false).with_op_offload(false)
    } else {
        params
    };
    params
        .with_flash_attention_policy(attention)
        .with_type_k(numbers)
        .with_type_v(numbers)
        .with_n_ctx(u32::try_from(context_tokens + SPARE_CELLS).ok().and_then(NonZeroU32::new))
        .with_n_seq_max(u32::try_from(SEQUENCES).unwrap_or(1))
        .with_n_batch(batch)
        .with_n_ubatch(batch)
        .with_n_threads(threads)
        .with_n_threads_batch(threads)
        .with_kv_unified(true)
        .with_no_perf(true)
}
