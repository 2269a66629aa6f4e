//! llama.cpp's parameters for loading weights and creating a context, and the kernels it uses.
//!
//! Takes the settings, gives llama.cpp's parameter structs and loads the weights.
//! Not here: memory checks (`placement`), the use of weights and context (`engine`).

use std::ffi::{CStr, CString, c_void};
use std::mem;
use std::num::NonZeroU32;
use std::ops::ControlFlow;
use std::path::Path;
use std::ptr::{self, NonNull};
use std::sync::OnceLock;

use llama_cpp_2::LlamaModelLoadError;
use llama_cpp_2::context::params::{KvCacheType as GgmlType, LlamaContextParams};
use llama_cpp_2::llama_backend::LlamaBackend;
use llama_cpp_2::model::LlamaModel;

use super::batch_policy::BatchPolicy;
use super::engine::{Cause, backend};
use super::layout::Layout;
use ragonite_inference::{DeviceChoice, InferenceError, Placement};
use ragonite_inference::{FlashAttention, GeneratorSettings, KvCacheType};

/// Number of physical cores this process may use: more threads slow llama.cpp down.
fn physical_cores() -> usize {
    num_cpus::get_physical().min(num_cpus::get()).max(1)
}

/// llama.cpp's text about its build and the features of this processor. Other kernels round differently.
pub(super) fn kernels() -> &'static str {
    // llama.cpp writes into one static buffer, so only one thread may ask, once.
    static KERNELS: OnceLock<String> = OnceLock::new();
    KERNELS.get_or_init(|| {
        #[expect(unsafe_code, reason = "there is no safe way to it")]
        // SAFETY: llama.cpp gives a text that ends with a zero byte and stays; nobody else asks it to write it again.
        let text = unsafe { CStr::from_ptr(llama_cpp_sys_2::llama_print_system_info()) };
        text.to_string_lossy().into_owned()
    })
}

/// Features of this processor that the kernels use, in llama.cpp's names: `AVX2`, `AVX512_VNNI`.
///
/// # Errors
/// [`InferenceError::NoKernels`] if no kernels can be loaded.
pub fn kernel_features() -> Result<Vec<String>, InferenceError> {
    kernel_features_for("")
}

/// As [`kernel_features`]; errors name `model`.
pub(super) fn kernel_features_for(model: &str) -> Result<Vec<String>, InferenceError> {
    backend(model)?;
    let features = kernels().split(['|', ':']).filter_map(|feature| feature.trim().strip_suffix(" = 1"));
    Ok(features.map(str::to_owned).collect())
}

/// A failure to load weights.
pub(super) enum LoadError {
    /// `progress` stopped it.
    Ended,
    /// llama.cpp refused them.
    Refused(Cause),
}

/// The progress callback, and whether it stopped the loading.
struct Watch {
    progress: Box<dyn FnMut(f32) -> ControlFlow<()>>,
    ended: bool,
}

/// llama.cpp's progress callback; false stops the loading.
///
/// # Safety
/// `watch` points to a [`Watch`] that is not used elsewhere meanwhile.
#[expect(unsafe_code, reason = "llama.cpp calls it")]
unsafe extern "C" fn watched(done: f32, watch: *mut c_void) -> bool {
    // SAFETY: `load_weights` gives llama.cpp the pointer together with this function, for the time of one call.
    let watch = unsafe { &mut *watch.cast::<Watch>() };
    watch.ended = (watch.progress)(done).is_break();
    !watch.ended
}

/// Loads the weights at `path`, with the GPU layers of `placement`. `progress` gets the loaded part, 0 to 1, and may
/// stop the loading.
pub(super) fn load_weights(
    _backend: &LlamaBackend,
    path: &Path,
    placement: Option<&Placement>,
    rows: BatchPolicy,
    progress: Box<dyn FnMut(f32) -> ControlFlow<()>>,
) -> Result<LlamaModel, LoadError> {
    let refused = |source: LlamaModelLoadError| LoadError::Refused(source.into());
    let name = path.to_str().ok_or_else(|| refused(LlamaModelLoadError::PathToStrError(path.to_owned())))?;
    let name = CString::new(name).map_err(|source| refused(source.into()))?;
    let mut watch = Watch { progress, ended: false };
    let mut no_devices = [ptr::null_mut()];
    #[expect(unsafe_code, reason = "the safe way cannot keep weights in the order of the file")]
    // SAFETY: everything `params` points to lives until the call is over; the back end has started; a `LlamaModel` is
    // transparent over a pointer that is not null, and owns it.
    let model = unsafe {
        let mut params = llama_cpp_sys_2::llama_model_default_params();
        params.use_extra_bufts = rows.repacks_weights;
        match placement {
            Some(placement) => params.n_gpu_layers = i32::try_from(placement.layers).unwrap_or(i32::MAX),
            None if DeviceChoice::of_this_build().is_none() => {}
            // An empty list of devices keeps all work off a GPU, also that of large batches.
            None => (params.devices, params.n_gpu_layers) = (no_devices.as_mut_ptr(), 0),
        }
        params.progress_callback = Some(watched);
        params.progress_callback_user_data = (&raw mut watch).cast();
        let model = llama_cpp_sys_2::llama_model_load_from_file(name.as_ptr(), params);
        NonNull::new(model).map(|model| mem::transmute::<NonNull<llama_cpp_sys_2::llama_model>, LlamaModel>(model))
    };
    match model {
        Some(model) => Ok(model),
        None if watch.ended => Err(LoadError::Ended),
        None => Err(refused(LlamaModelLoadError::NullResult)),
    }
}

/// Number of computing threads.
pub(super) fn threads(settings: &GeneratorSettings) -> usize {
    if settings.threads == 0 { physical_cores() } else { settings.threads }
}

/// The parameters of the context.
pub(super) fn context_params(
    settings: &GeneratorSettings,
    context_tokens: usize,
    placement: Option<&Placement>,
    layout: Layout,
    rows: BatchPolicy,
) -> LlamaContextParams {
    let threads = i32::try_from(threads(settings)).unwrap_or(i32::MAX);
    let batch = u32::try_from(rows.max_prefill).unwrap_or(u32::MAX);
    let attention = match rows.attention {
        FlashAttention::Auto => llama_cpp_sys_2::LLAMA_FLASH_ATTN_TYPE_AUTO,
        FlashAttention::On => llama_cpp_sys_2::LLAMA_FLASH_ATTN_TYPE_ENABLED,
        FlashAttention::Off => llama_cpp_sys_2::LLAMA_FLASH_ATTN_TYPE_DISABLED,
    };
    let numbers = match settings.kv_cache {
        KvCacheType::F16 => GgmlType::F16,
        KvCacheType::Q8 => GgmlType::Q8_0,
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
        .with_n_ctx(u32::try_from(layout.cells(context_tokens, rows)).ok().and_then(NonZeroU32::new))
        .with_n_seq_max(u32::try_from(layout.sequences()).unwrap_or(1))
        .with_n_batch(batch)
        .with_n_ubatch(batch)
        .with_n_threads(threads)
        .with_n_threads_batch(threads)
        .with_kv_unified(layout == Layout::Shared)
        .with_no_perf(true)
}
