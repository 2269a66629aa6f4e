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
    /// The machine decides, and this build uses no GPU.
    NoGpu,
}

impl ProfileReason {
    /// In words.
    pub fn says(self) -> &'static str {
        match self {
            Self::CommandLine => "asked for on the command line",
            Self::Configuration => "set in the configuration file",
            Self::NoGpu => "this build uses no GPU",
        }
    }
}

/// The command line decides, then the configuration file, then the machine.
///
/// # Errors
/// When the catalog has no profile of that name.
pub fn choose_profile(
    catalog: &Catalog,
    asked: Option<&str>,
    configured: Option<&str>,
) -> Result<ChosenProfile, ConfigError> {
    let (name, why) = match (asked, configured) {
        (Some(name), _) => (name, ProfileReason::CommandLine),
        (None, Some(name)) => (name, ProfileReason::Configuration),
        (None, None) => (DEFAULT_PROFILE, ProfileReason::NoGpu),
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
}
