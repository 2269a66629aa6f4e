//! Chooses the profile of a run.
//!
//! Not here: the profiles themselves (`inference`, catalog).

use super::ConfigError;
use ragonite_inference::{Catalog, Profile};

/// Profile of machines without a usable GPU.
const DEFAULT_PROFILE: &str = "starter";

/// The profile of this run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChosenProfile {
    /// Its models and settings.
    pub profile: Profile,
    /// Reason of the choice.
    pub why: ProfileReason,
}

/// Reason of the choice of a profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProfileReason {
    /// The command line names it.
    CommandLine,
    /// The configuration file names it.
    Configuration,
    /// The machine decides.
    Machine(GpuFit),
}

impl ProfileReason {
    /// Description for people.
    pub fn label(self) -> &'static str {
        match self {
            Self::CommandLine => "asked for on the command line",
            Self::Configuration => "set in the configuration file",
            Self::Machine(room) => room.label(),
        }
    }
}

/// Free bytes of GPU memory from which the large profile is chosen.
const ENOUGH: u64 = 10_000_000_000;

/// Whether a GPU fits the large profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GpuFit {
    /// This build computes on the CPU.
    NotBuilt,
    /// A GPU is not used, for this reason.
    OfNoUse(GpuUnavailable),
    /// There is no GPU.
    NoGpu,
    /// No GPU has enough free memory.
    Little,
    /// There is a GPU, but the weights are missing.
    NoWeights,
    /// A GPU has room for [`GpuFit::PROFILE`].
    Enough,
}

/// Whether the weights of a profile are on this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weights {
    /// All files.
    Here,
    /// Some files are missing.
    Missing,
}

/// Why a GPU is not used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GpuUnavailable {
    /// There is no driver.
    NoDriver,
    /// The driver fails.
    DriverFails,
    /// The driver finds no GPU.
    NoGpu,
    /// The GPU build of the program does not start.
    NotStarted,
    /// The GPU build of the program has another version.
    OtherVersion,
    /// The CPU was chosen.
    NotWanted,
    /// The command needs no computing.
    NothingToCompute,
}

impl GpuUnavailable {
    /// Description for people.
    pub fn label(self) -> &'static str {
        match self {
            Self::NoDriver => "no NVIDIA driver",
            Self::DriverFails => "the NVIDIA driver fails",
            Self::NoGpu => "no NVIDIA GPU",
            Self::NotStarted => "ragonite-cuda does not start",
            Self::OtherVersion => "ragonite-cuda is another version",
            Self::NotWanted => "the device is set to cpu",
            Self::NothingToCompute => "nothing to compute",
        }
    }
}

impl GpuFit {
    /// The profile for machines with a GPU.
    pub const PROFILE: &'static str = "full";

    /// The fit of a GPU with `free` bytes, the most of all GPUs.
    pub fn of(free: Option<u64>, weights: Weights) -> Self {
        match free {
            None => Self::NoGpu,
            Some(free) if free < ENOUGH => Self::Little,
            Some(_) if weights == Weights::Here => Self::Enough,
            Some(_) => Self::NoWeights,
        }
    }

    /// Description for people.
    fn label(self) -> &'static str {
        match self {
            Self::NotBuilt => "this build uses no GPU",
            Self::OfNoUse(reason) => reason.label(),
            Self::NoGpu => "no GPU was found",
            Self::Little => "less than 10 GB free on the GPU",
            Self::NoWeights => "the weights of full are not here",
            Self::Enough => "a GPU with 10 GB free",
        }
    }
}

/// Like [`choose_profile_for`], for a machine without a GPU.
///
/// # Errors
/// When the catalog has no profile of that name.
pub fn choose_profile(
    catalog: &Catalog,
    asked: Option<&str>,
    configured: Option<&str>,
) -> Result<ChosenProfile, ConfigError> {
    choose_profile_for(catalog, asked, configured, GpuFit::NotBuilt)
}

/// Chooses by command line, then configuration file, then machine.
///
/// # Errors
/// When the catalog has no profile of that name.
pub fn choose_profile_for(
    catalog: &Catalog,
    asked: Option<&str>,
    configured: Option<&str>,
    room: GpuFit,
) -> Result<ChosenProfile, ConfigError> {
    let (name, why) = match (asked, configured) {
        (Some(name), _) => (name, ProfileReason::CommandLine),
        (None, Some(name)) => (name, ProfileReason::Configuration),
        (None, None) if room == GpuFit::Enough => (GpuFit::PROFILE, ProfileReason::Machine(room)),
        (None, None) => (DEFAULT_PROFILE, ProfileReason::Machine(room)),
    };
    Ok(ChosenProfile { profile: catalog.profile(name)?.clone(), why })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_wins_over_the_file_and_the_file_over_the_machine() {
        let catalog = Catalog::builtin().unwrap();
        let chosen = |asked, configured| choose_profile(&catalog, asked, configured).unwrap().profile.name;
        assert_eq!(chosen(Some("tiny"), Some("full")), "tiny");
        assert_eq!(chosen(None, Some("full")), "full");
        assert_eq!(chosen(None, None), "starter");
        assert!(choose_profile(&catalog, Some("huge"), None).is_err());
    }

    #[test]
    fn a_gpu_with_room_and_weights_gets_the_large_profile_and_all_else_a_reason() {
        let catalog = Catalog::builtin().unwrap();
        let chosen = |free, weights| {
            let chosen = choose_profile_for(&catalog, None, None, GpuFit::of(free, weights)).unwrap();
            (chosen.profile.name, chosen.why.label())
        };
        assert_eq!(chosen(Some(ENOUGH), Weights::Here), ("full".to_owned(), "a GPU with 10 GB free"));
        assert_eq!(chosen(Some(ENOUGH), Weights::Missing), ("starter".to_owned(), "the weights of full are not here"));
        assert_eq!(chosen(Some(ENOUGH - 1), Weights::Here), ("starter".to_owned(), "less than 10 GB free on the GPU"));
        assert_eq!(chosen(None, Weights::Here), ("starter".to_owned(), "no GPU was found"));
        let asked = choose_profile_for(&catalog, Some("tiny"), None, GpuFit::Enough).unwrap();
        assert_eq!(asked.profile.name, "tiny");
    }
}
