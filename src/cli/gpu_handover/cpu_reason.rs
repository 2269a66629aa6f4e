//! Why this build of the program runs and not the one for NVIDIA GPUs.

use std::path::PathBuf;

use ragonite_config::GpuUnavailable;
use ragonite_inference::DeviceChoice;

/// The reason, as a sentence without its full stop.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CpuReason {
    /// This build already uses a GPU.
    #[error("this build computes with {0}")]
    ThisIsFor(DeviceChoice),
    /// The command needs no model or is invalid.
    #[error("this command computes nothing")]
    NothingToCompute,
    /// The user chose another device.
    #[error("`device` is set to {0}")]
    Chosen(DeviceChoice),
    /// The build for NVIDIA GPUs is missing.
    #[error("there is no program `{}`, which `make cuda` builds", .0.display())]
    NoProgram(PathBuf),
    /// This process already took over from another build.
    #[error("this program was started in place of another build")]
    HandedOver,
    /// The driver cannot be loaded.
    #[error("NVIDIA's driver was not found ({0})")]
    NoDriver(String),
    /// The library lacks a function.
    #[error("NVIDIA's driver has no function `{0}`")]
    NotADriver(&'static str),
    /// A driver call failed.
    #[error("NVIDIA's driver does not work: {call} gives {code}")]
    Driver {
        /// The function.
        call: &'static str,
        /// Its result.
        code: i32,
    },
    /// The driver has no GPU.
    #[error("NVIDIA's driver knows no GPU")]
    NoGpu,
    /// The other build does not start here.
    #[error("`{}` does not start: {why}", .program.display())]
    NotStarted {
        /// The other build.
        program: PathBuf,
        /// Message of the system or the program.
        why: String,
    },
    /// The other build has another version.
    #[error("`{}` is `{found}` and this is `{own}`; build both again", .program.display())]
    OtherVersion {
        /// The other build.
        program: PathBuf,
        /// Version of the other build.
        found: String,
        /// Version of this build.
        own: &'static str,
    },
}

impl CpuReason {
    /// The reason in short for the status line, where the build for GPUs is present but unused.
    pub fn in_short(&self) -> Option<GpuUnavailable> {
        match self {
            Self::NoDriver(_) | Self::NotADriver(_) => Some(GpuUnavailable::NoDriver),
            Self::Driver { .. } => Some(GpuUnavailable::DriverFails),
            Self::NoGpu => Some(GpuUnavailable::NoGpu),
            Self::NotStarted { .. } => Some(GpuUnavailable::NotStarted),
            Self::OtherVersion { .. } => Some(GpuUnavailable::OtherVersion),
            Self::ThisIsFor(_) | Self::NothingToCompute | Self::Chosen(_) | Self::NoProgram(_) | Self::HandedOver => {
                None
            }
        }
    }
}
