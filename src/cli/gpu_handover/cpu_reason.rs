//! Why this build of the program runs and not the one for NVIDIA GPUs.

use std::path::PathBuf;

use ragonite_config::GpuUnavailable;
use ragonite_inference::DeviceChoice;

/// The reason, as a sentence without its full stop.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CpuReason {
    /// This build is for a GPU itself.
    #[error("this build computes with {0}")]
    ThisIsFor(DeviceChoice),
    /// The command needs no model, or cannot be run.
    #[error("this command computes nothing")]
    NothingToCompute,
    /// The user wants it so.
    #[error("`device` is set to {0}")]
    Chosen(DeviceChoice),
    /// There is no other build.
    #[error("there is no program `{}`, which `make cuda` builds", .0.display())]
    NoProgram(PathBuf),
    /// Somebody handed over before.
    #[error("this program was started in place of another build")]
    HandedOver,
    /// The machine has no driver that can be loaded.
    #[error("NVIDIA's driver was not found ({0})")]
    NoDriver(String),
    /// What was loaded is no driver.
    #[error("NVIDIA's driver has no function `{0}`")]
    NotADriver(&'static str),
    /// The driver does not work.
    #[error("NVIDIA's driver does not work: {call} gives {code}")]
    Driver {
        /// The function.
        call: &'static str,
        /// What it gave.
        code: i32,
    },
    /// The driver works and has nothing to drive.
    #[error("NVIDIA's driver knows no GPU")]
    NoGpu,
    /// The other build does not start here.
    #[error("`{}` does not start: {why}", .program.display())]
    NotStarted {
        /// The other build.
        program: PathBuf,
        /// What the system or the program says.
        why: String,
    },
    /// The other build is older or newer.
    #[error("`{}` is `{found}` and this is `{own}`; build both again", .program.display())]
    OtherVersion {
        /// The other build.
        program: PathBuf,
        /// What it says it is.
        found: String,
        /// What this one is.
        own: &'static str,
    },
}

impl CpuReason {
    /// The reason in a few words for the status line, where somebody may wonder why the GPU is not used: the build for it
    /// is here.
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
