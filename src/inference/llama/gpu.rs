//! The GPUs llama.cpp can compute on.
//!
//! Takes llama.cpp's list of devices, gives those that are GPUs. A chip's own small GPU counts only where there is no
//! other, as llama.cpp itself has it.
//! Not here: what goes onto them (`device`).

use llama_cpp_2::{LlamaBackendDevice, LlamaBackendDeviceType, list_llama_ggml_backend_devices};

use super::engine::backend;
use crate::inference::Gpu;

/// All GPUs, the best kind first and no other kind.
pub(in crate::inference) fn all_gpus() -> Vec<Gpu> {
    // The log is diverted before anything is asked.
    if backend("").is_err() {
        return Vec::new();
    }
    let devices = list_llama_ggml_backend_devices();
    let of_kind = |wanted: LlamaBackendDeviceType| devices.iter().filter(move |device| device.device_type == wanted);
    let gpus: Vec<Gpu> = of_kind(LlamaBackendDeviceType::Gpu).map(gpu).collect();
    if gpus.is_empty() { of_kind(LlamaBackendDeviceType::IntegratedGpu).take(1).map(gpu).collect() } else { gpus }
}

fn gpu(device: &LlamaBackendDevice) -> Gpu {
    Gpu {
        id: device.name.clone(),
        name: device.description.trim().to_owned(),
        memory: device.memory_total as u64,
        free: device.memory_free as u64,
    }
}
