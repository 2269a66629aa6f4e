//! The GPUs that llama.cpp can use, and which of them a device setting selects.
//!
//! Takes llama.cpp's device list, gives its GPUs. As in llama.cpp, an integrated GPU counts only where there is no
//! other.
//! Invariant: with `cpu`, and in a build without GPU support, no GPU is touched.
//! Not here: how many layers fit onto them (`ragonite_inference::Placement`).

use llama_cpp_2::{LlamaBackendDevice, LlamaBackendDeviceType, list_llama_ggml_backend_devices};
use ragonite_inference::{DeviceChoice, Gpu, InferenceError, processor_summary};

use super::engine::backend;

/// The GPUs that `choice` selects.
///
/// # Errors
/// [`InferenceError::NoGpu`] if the choice needs a GPU kind that this build lacks or that is not found.
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

/// The devices that `choice` selects: the names of the GPUs, then the processor as in `CPU, 2 threads, AVX-512`.
pub fn device_summary(choice: DeviceChoice) -> String {
    let gpus = gpus(choice).unwrap_or_default().into_iter().map(|gpu| gpu.name);
    gpus.chain([processor_summary()]).collect::<Vec<_>>().join(", ")
}

/// All discrete GPUs, else the first integrated one.
fn all_gpus() -> Vec<Gpu> {
    // Starting the backend redirects the log first.
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
