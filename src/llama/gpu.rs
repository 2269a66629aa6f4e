//! The GPUs llama.cpp can compute on, and which of them a choice of the configuration uses.
//!
//! Takes llama.cpp's list of devices, gives those that are GPUs. The GPU inside a processor counts only where there is no
//! other, as llama.cpp itself has it.
//! Invariant: with `cpu`, and in a build without a GPU, none is touched.
//! Not here: how many layers fit onto them (`ragonite_inference::Placement`).

use llama_cpp_2::{LlamaBackendDevice, LlamaBackendDeviceType, list_llama_ggml_backend_devices};
use ragonite_inference::{DeviceChoice, Gpu, InferenceError, processor_summary};

use super::engine::backend;

/// The GPUs that compute with this choice. A choice that needs a GPU says what it lacks.
///
/// # Errors
/// [`InferenceError::NoGpu`] where the choice names a kind that this build is not for, or of which none is found.
pub fn gpus(choice: DeviceChoice) -> Result<Vec<Gpu>, InferenceError> {
    let built = DeviceChoice::of_this_build();
    let lacks = |why| Err(InferenceError::NoGpu { wanted: choice, why });
    match choice {
        DeviceChoice::Cpu => Ok(Vec::new()),
        DeviceChoice::Auto if built.is_none() => Ok(Vec::new()),
        DeviceChoice::Auto => Ok(all_gpus()),
        kind if built != Some(kind) => lacks("this build is not for it"),
        _ => match all_gpus() {
            none if none.is_empty() => lacks("no such GPU was found"),
            some => Ok(some),
        },
    }
}

/// The devices that compute with this choice, in words: the names of the GPUs, then the processor as in
/// `CPU, 2 threads, AVX-512`.
pub fn device_summary(choice: DeviceChoice) -> String {
    let gpus = gpus(choice).unwrap_or_default().into_iter().map(|gpu| gpu.name);
    gpus.chain([processor_summary()]).collect::<Vec<_>>().join(", ")
}

/// All GPUs, the best kind first and no other kind.
fn all_gpus() -> Vec<Gpu> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_names_processor_and_threads() {
        let summary = device_summary(DeviceChoice::Cpu);
        assert!(summary.starts_with("CPU, ") && summary.contains("thread"), "{summary}");
    }

    #[test]
    fn the_processor_alone_needs_no_gpu_and_another_kind_says_what_it_lacks() {
        assert_eq!(gpus(DeviceChoice::Cpu).unwrap(), []);
        for kind in [DeviceChoice::Cuda, DeviceChoice::Metal, DeviceChoice::Vulkan] {
            if DeviceChoice::of_this_build() != Some(kind) {
                let error = gpus(kind).unwrap_err().to_string();
                assert!(error.contains(&kind.to_string()) && error.contains("this build"), "{error}");
            }
        }
    }
}
