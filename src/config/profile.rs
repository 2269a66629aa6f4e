//! Which profile runs, and why.

use super::ConfigError;
use ragonite_inference::{Catalog, Profile};

/// Profile of every machine without a usable GPU (design.md §3).
const DEFAULT_PROFILE: &str = "starter";

/// The profile of this run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChosenProfile {
    /// Its models and settings.
    pub profile: Profile,
    /// Why this one.
    pub why: ProfileReason,
}

/// Why a profile runs.
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
    /// In words.
    pub fn label(self) -> &'static str {
        match self {
            Self::CommandLine => "asked for on the command line",
            Self::Configuration => "set in the configuration file",
            Self::Machine(room) => room.label(),
        }
    }
}

/// Free bytes of a GPU from which on the large profile is taken.
const ENOUGH: u64 = 10_000_000_000;

/// What GPUs have room for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GpuFit {
    /// This build computes with the processor.
    NotBuilt,
    /// There may be a GPU, and it is not used, for this reason.
    OfNoUse(GpuUnavailable),
    /// There is none.
    NoGpu,
    /// None has enough memory free.
    Little,
    /// There is a GPU, but not the weights for it.
    NoWeights,
    /// All that [`GpuFit::PROFILE`] needs.
    Enough,
}

/// Whether the weights of a profile are on this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weights {
    /// All of them.
    Here,
    /// Not all.
    Missing,
}

/// Why a GPU is not used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GpuUnavailable {
    /// There is no driver.
    NoDriver,
    /// The driver fails.
    DriverFails,
    /// The driver knows no GPU.
    NoGpu,
    /// The program for it does not start.
    NotStarted,
    /// The program for it is another version.
    OtherVersion,
    /// The processor was asked for.
    NotWanted,
    /// The command computes nothing.
    NothingToCompute,
}

impl GpuUnavailable {
    /// In words.
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

    /// What there is room for where the GPU with the most has so many bytes `free`.
    pub fn of(free: Option<u64>, weights: Weights) -> Self {
        match free {
            None => Self::NoGpu,
            Some(free) if free < ENOUGH => Self::Little,
            Some(_) if weights == Weights::Here => Self::Enough,
            Some(_) => Self::NoWeights,
        }
    }

    /// In words.
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

/// As [`choose_profile_for`] a machine without a GPU.
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

/// The command line decides, then the configuration file, then the machine.
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
