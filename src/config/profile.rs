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
        (Some(name), _) => (name, "asked for on the command line"),
        (None, Some(name)) => (name, "set in the configuration file"),
        (None, None) => (DEFAULT_PROFILE, "this build uses no GPU"),
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
