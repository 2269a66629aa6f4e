//! The choice of a generator: the profile's, or a named one.
//!
//! Takes and gives the word of the configuration.
//! Invariant: a named id is a plain name. Not here: whether the catalog has it and its weights exist, which is checked
//! when it is loaded.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::catalog::is_plain_name;

const OF_PROFILE: &str = "profile";

/// A generator in the configuration: `profile`, or a catalog id.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum GeneratorChoice {
    /// The profile's generator.
    #[default]
    Profile,
    /// The generator with this id.
    Named(String),
}

/// A text that is not a model id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no id of a model: name `profile`, or a generator as `ragonite models list` shows it")]
pub struct NoModelId(String);

impl GeneratorChoice {
    /// The id of the chosen generator; `of_profile` is the profile's.
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
