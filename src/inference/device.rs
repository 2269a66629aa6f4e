//! Devices: processors and GPUs, and how many layers of a generator GPUs take.
//!
//! Takes the device setting and the free memory of the GPUs; gives the placement of a generator's layers.
//! Invariant: the placed layers leave [`SPARE`] bytes of each GPU free.
//! Not here: which build of the program runs (`ragonite-cli`), how llama.cpp lists GPUs (`ragonite-llama`), the device
//! of encoders (`ragonite-encoder`).

use std::fmt;

use serde::de::IntoDeserializer as _;
use serde::de::value::{Error as WordError, StrDeserializer};
use serde::{Deserialize, Serialize};

use super::{MemoryNeeds, gigabytes};

/// Bytes of each GPU that a generator leaves free: for the driver, a screen, and encoders loaded later.
const SPARE: u64 = 1 << 30;

/// The device setting.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DeviceChoice {
    /// A GPU if this build supports one and one is found, else the processor.
    #[default]
    Auto,
    /// The processor alone.
    Cpu,
    /// A GPU with CUDA.
    Cuda,
    /// A GPU with Metal.
    Metal,
    /// A GPU with Vulkan; encoders stay on the processor.
    Vulkan,
}

impl DeviceChoice {
    /// The kind of GPU this build supports, if any.
    #[must_use]
    pub fn of_this_build() -> Option<Self> {
        if cfg!(feature = "cuda") {
            Some(Self::Cuda)
        } else if cfg!(feature = "metal") {
            Some(Self::Metal)
        } else if cfg!(feature = "vulkan") {
            Some(Self::Vulkan)
        } else {
            None
        }
    }

    /// The choice that the configuration calls `word`.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        let word: StrDeserializer<'_, WordError> = word.into_deserializer();
        Self::deserialize(word).ok()
    }
}

impl fmt::Display for DeviceChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Auto => "auto",
            Self::Cpu => "cpu",
            Self::Cuda => "CUDA",
            Self::Metal => "Metal",
            Self::Vulkan => "Vulkan",
        })
    }
}

/// A GPU that this build can use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gpu {
    /// llama.cpp's device id, such as `CUDA0`.
    pub id: String,
    /// Model name, such as `NVIDIA H200`.
    pub name: String,
    /// Memory in bytes.
    pub memory: u64,
    /// Free memory in bytes.
    pub free: u64,
}

impl fmt::Display for Gpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (free, memory) = (gigabytes(self.free), gigabytes(self.memory));
        write!(f, "{} ({}), {free} of {memory} free", self.name, self.id)
    }
}

/// The part of a generator that GPUs take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placement {
    /// Number of layers on GPUs.
    pub layers: u64,
    /// Number of all layers, with the output layer.
    pub of: u64,
    /// The GPUs, by name.
    pub gpus: Vec<String>,
}

impl Placement {
    /// The layers that fit `gpus`, each with its weights and its part of the KV cache; none if not even one fits.
    /// `most` is a maximum.
    pub fn of(needed: &MemoryNeeds, layers: u64, gpus: &[Gpu], most: Option<u32>) -> Option<Self> {
        // Every GPU needs its own work buffers.
        let room = |gpu: &Gpu| gpu.free.saturating_sub(SPARE).saturating_sub(needed.work);
        let room: u64 = gpus.iter().map(room).fold(0, u64::saturating_add);
        let each = needed.weights.saturating_add(needed.state).div_ceil(layers.max(1)).max(1);
        let fitting = room / each;
        // The output layer is in the sum, and placed last.
        let fitting = if fitting >= layers { layers + 1 } else { fitting };
        let layers_there = fitting.min(most.map_or(u64::MAX, u64::from));
        let names = gpus.iter().map(|gpu| gpu.name.clone()).collect();
        (layers_there > 0).then(|| Self { layers: layers_there, of: layers + 1, gpus: names })
    }

    /// The part that stays in the machine's memory.
    pub fn beside(&self, needed: &MemoryNeeds) -> MemoryNeeds {
        let part = |bytes: u64| {
            let left = u128::from(bytes) * u128::from(self.of.saturating_sub(self.layers)) / u128::from(self.of.max(1));
            u64::try_from(left).unwrap_or(bytes)
        };
        MemoryNeeds { weights: part(needed.weights), state: part(needed.state), work: needed.work }
    }
}

impl fmt::Display for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} layers on {}", self.layers, self.of, self.gpus.join(", "))
    }
}

/// A description of the processor.
pub fn processor_summary() -> String {
    let mut parts = vec!["CPU".to_owned()];
    parts.push(match compute_threads() {
        1 => "1 thread".to_owned(),
        threads => format!("{threads} threads"),
    });
    parts.extend(vector_units().map(str::to_owned));
    parts.join(", ")
}

/// Number of threads for matrix work: the physical cores, or fewer if the process is limited. The second thread of a
/// core shares its vector units and only slows it down.
pub fn compute_threads() -> usize {
    let allowed = std::thread::available_parallelism().map_or(1, usize::from);
    num_cpus::get_physical().clamp(1, allowed)
}

#[cfg(target_arch = "x86_64")]
fn vector_units() -> Option<&'static str> {
    if std::is_x86_feature_detected!("avx512f") {
        Some("AVX-512")
    } else if std::is_x86_feature_detected!("avx2") {
        Some("AVX2")
    } else if std::is_x86_feature_detected!("avx") {
        Some("AVX")
    } else {
        None
    }
}

#[cfg(target_arch = "aarch64")]
fn vector_units() -> Option<&'static str> {
    Some("NEON")
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn vector_units() -> Option<&'static str> {
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_summary_names_processor_and_threads() {
        let summary = processor_summary();
        assert!(summary.starts_with("CPU, ") && summary.contains("thread"), "{summary}");
    }

    #[test]
    fn every_choice_has_its_word() {
        for (word, choice) in [
            ("auto", DeviceChoice::Auto),
            ("cpu", DeviceChoice::Cpu),
            ("cuda", DeviceChoice::Cuda),
            ("metal", DeviceChoice::Metal),
            ("vulkan", DeviceChoice::Vulkan),
        ] {
            assert_eq!(DeviceChoice::named(word), Some(choice));
        }
        assert_eq!(DeviceChoice::named("gpu"), None);
    }

    fn gpu(free: u64) -> Gpu {
        Gpu { id: "CUDA0".to_owned(), name: "NVIDIA H200".to_owned(), memory: free, free }
    }

    const GB: u64 = 1_000_000_000;
    const NEEDED: MemoryNeeds = MemoryNeeds { weights: 5 * GB, state: GB, work: GB / 4 };

    #[test]
    fn a_model_that_fits_goes_onto_the_gpu_whole() {
        let placed = Placement::of(&NEEDED, 32, &[gpu(80 * GB)], None).unwrap();
        assert_eq!(placed.to_string(), "33 of 33 layers on NVIDIA H200");
        assert_eq!(placed.beside(&NEEDED).weights, 0);
    }

    #[test]
    fn a_model_that_does_not_fit_is_shared_and_none_goes_where_there_is_no_room() {
        let placed = Placement::of(&NEEDED, 32, &[gpu(4 * GB)], None).unwrap();
        assert!((1..32).contains(&placed.layers), "{placed}");
        let beside = placed.beside(&NEEDED);
        assert!(beside.weights > 0 && beside.weights < NEEDED.weights, "{beside:?}");
        assert_eq!(Placement::of(&NEEDED, 32, &[gpu(GB)], None), None);
        assert_eq!(Placement::of(&NEEDED, 32, &[], None), None);
        assert_eq!(Placement::of(&NEEDED, 32, &[gpu(80 * GB)], Some(0)), None);
        assert_eq!(Placement::of(&NEEDED, 32, &[gpu(80 * GB)], Some(5)).unwrap().layers, 5);
    }

    proptest! {
        #![proptest_config(ragonite_testing::cases(256))]

        #[test]
        fn layers_never_take_more_than_is_free(
            free in proptest::collection::vec(0..200 * GB, 0..4),
            weights in 1..100 * GB,
            state in 0..20 * GB,
            work in 0..2 * GB,
            layers in 1..200_u64,
        ) {
            let needed = MemoryNeeds { weights, state, work };
            let gpus: Vec<Gpu> = free.iter().copied().map(gpu).collect();
            let Some(placed) = Placement::of(&needed, layers, &gpus, None) else { return Ok(()) };
            prop_assert!(placed.layers <= placed.of);
            let there = u128::from(weights + state) * u128::from(placed.layers.min(layers)) / u128::from(layers);
            let room: u64 = free.iter().map(|free| free.saturating_sub(SPARE)).sum();
            prop_assert!(there <= u128::from(room), "{there} on {room}");
        }
    }
}
