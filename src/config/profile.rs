//! Which profile runs, and why.

use super::ConfigError;
use crate::inference::{Catalog, Profile};

/// Profile of every machine without a usable GPU (design.md §3).
const DEFAULT_PROFILE: &str = "starter";

/// The profile of this run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChosenProfile {
    /// Its models and settings.
    pub profile: Profile,
    /// Why this one: `asked for on the command line`.
    pub why: &'static str,
}

/// Free bytes of a GPU from which on the large profile is taken.
const ENOUGH: u64 = 10_000_000_000;

/// What GPUs have room for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GpuRoom {
    /// This build computes with the processor.
    NotBuilt,
    /// There may be a GPU, and it is not used, for this reason.
    OfNoUse(&'static str),
    /// There is none.
    NoGpu,
    /// None has enough memory free.
    Little,
    /// There is a GPU, but not the weights for it.
    NoWeights,
    /// All that [`GpuRoom::PROFILE`] needs.
    Enough,
}

impl GpuRoom {
    /// The profile for machines with a GPU.
    pub const PROFILE: &'static str = "full";

    /// What there is room for where the GPU with the most has so many bytes `free`; `here` is whether the weights are.
    pub fn of(free: Option<u64>, here: bool) -> Self {
        match free {
            None => Self::NoGpu,
            Some(free) if free < ENOUGH => Self::Little,
            Some(_) if here => Self::Enough,
            Some(_) => Self::NoWeights,
        }
    }

    fn reason(self) -> &'static str {
        match self {
            Self::NotBuilt => "this build uses no GPU",
            Self::OfNoUse(reason) => reason,
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
    choose_profile_for(catalog, asked, configured, GpuRoom::NotBuilt)
}

/// The command line decides, then the configuration file, then the machine.
///
/// # Errors
/// When the catalog has no profile of that name.
pub fn choose_profile_for(
    catalog: &Catalog,
    asked: Option<&str>,
    configured: Option<&str>,
    room: GpuRoom,
) -> Result<ChosenProfile, ConfigError> {
    let (name, why) = match (asked, configured) {
        (Some(name), _) => (name, "asked for on the command line"),
        (None, Some(name)) => (name, "set in the configuration file"),
        (None, None) if room == GpuRoom::Enough => (GpuRoom::PROFILE, room.reason()),
        (None, None) => (DEFAULT_PROFILE, room.reason()),
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
        let chosen = |free, here| {
            let chosen = choose_profile_for(&catalog, None, None, GpuRoom::of(free, here)).unwrap();
            (chosen.profile.name, chosen.why)
        };
        assert_eq!(chosen(Some(ENOUGH), true), ("full".to_owned(), "a GPU with 10 GB free"));
        assert_eq!(chosen(Some(ENOUGH), false), ("starter".to_owned(), "the weights of full are not here"));
        assert_eq!(chosen(Some(ENOUGH - 1), true), ("starter".to_owned(), "less than 10 GB free on the GPU"));
        assert_eq!(chosen(None, true), ("starter".to_owned(), "no GPU was found"));
        let asked = choose_profile_for(&catalog, Some("tiny"), None, GpuRoom::Enough).unwrap();
        assert_eq!(asked.profile.name, "tiny");
    }
}
