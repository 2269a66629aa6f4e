//! Which generator writes: that of the profile, or one that is named.
//!
//! Invariant: what is named is a plain name; whether the catalog has it, and its weights are here, is seen where it is
//! loaded.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::catalog::is_plain_name;

/// The word for the generator of the profile.
const OF_PROFILE: &str = "profile";

/// A generator, in configurations and settings of domains: `profile`, or an id of the catalog.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum GeneratorChoice {
    /// That of the profile.
    #[default]
    Profile,
    /// The one with this id.
    Named(String),
}

/// A text that is no id of a model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no id of a model: name `profile`, or a generator as `ragonite models list` shows it")]
pub struct NoModelId(String);

impl GeneratorChoice {
    /// The id of the generator, where the profile has the one with the id `of_profile`.
    #[must_use]
    pub fn id<'a>(&'a self, of_profile: &'a str) -> &'a str {
        match self {
            Self::Profile => of_profile,
            Self::Named(id) => id,
        }
    }
}

impl fmt::Display for GeneratorChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id(OF_PROFILE))
    }
}

impl FromStr for GeneratorChoice {
    type Err = NoModelId;

    fn from_str(text: &str) -> Result<Self, NoModelId> {
        match text {
            OF_PROFILE => Ok(Self::Profile),
            id if is_plain_name(id) => Ok(Self::Named(id.to_owned())),
            other => Err(NoModelId(ragonite_base::clean_line(other))),
        }
    }
}

impl TryFrom<String> for GeneratorChoice {
    type Error = NoModelId;

    fn try_from(text: String) -> Result<Self, NoModelId> {
        text.parse()
    }
}

impl From<GeneratorChoice> for String {
    fn from(choice: GeneratorChoice) -> Self {
        choice.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_is_the_word_for_the_profile_or_an_id_and_nothing_that_is_a_path() {
        for text in ["profile", "smollm2-135m-instruct"] {
            assert_eq!(text.parse::<GeneratorChoice>().map(|choice| choice.to_string()), Ok(text.to_owned()));
        }
        assert_eq!(
            "profile".parse::<GeneratorChoice>().map(|choice| choice.id("of it").to_owned()),
            Ok("of it".into())
        );
        for text in ["", "../weights", ".hidden", "a b"] {
            assert!(text.parse::<GeneratorChoice>().is_err(), "{text}");
        }
    }
}
