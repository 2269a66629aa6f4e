//! The context of an evidence (RAGonite, Sec. 4), and choices of its parts.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The context of an evidence.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Context {
    /// Title of the page.
    pub title: String,
    /// Headings above the evidence, outermost first.
    pub heading_path: Vec<String>,
    /// Text before, shortened to its last sentences.
    pub before: String,
    /// Text after, shortened to its first sentences.
    pub after: String,
}

impl Context {
    /// The nearest heading, or empty.
    pub fn heading(&self) -> &str {
        self.heading_path.last().map_or("", String::as_str)
    }
}

/// A choice of context parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ContextParts(u8);

/// A text that is not a choice of context parts.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no context part: use `all`, `none`, or some of title,heading,before,after")]
pub struct UnknownPart(String);

impl ContextParts {
    /// No context.
    pub const NONE: Self = Self(0);
    /// The page title.
    pub const TITLE: Self = Self(1);
    /// The nearest heading.
    pub const HEADING: Self = Self(2);
    /// The text before.
    pub const BEFORE: Self = Self(4);
    /// The text after.
    pub const AFTER: Self = Self(8);
    /// Everything.
    pub const ALL: Self = Self(15);

    const NAMES: [(&'static str, Self); 4] =
        [("title", Self::TITLE), ("heading", Self::HEADING), ("before", Self::BEFORE), ("after", Self::AFTER)];

    /// Whether every part of `other` is chosen.
    pub fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Both choices together.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The parts in both choices.
    #[must_use]
    pub fn among(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// This choice without the other.
    #[must_use]
    pub fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// This choice with `parts` toggled.
    #[must_use]
    pub fn switched(self, parts: Self) -> Self {
        if self.contains(parts) { self.without(parts) } else { self.with(parts) }
    }
}

impl Default for ContextParts {
    fn default() -> Self {
        Self::ALL
    }
}

impl fmt::Display for ContextParts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::ALL => f.write_str("all"),
            Self::NONE => f.write_str("none"),
            some => {
                let names: Vec<_> =
                    Self::NAMES.iter().filter(|(_, part)| some.contains(*part)).map(|(name, _)| *name).collect();
                f.write_str(&names.join(","))
            }
        }
    }
}

impl FromStr for ContextParts {
    type Err = UnknownPart;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.trim() {
            "all" => return Ok(Self::ALL),
            "none" => return Ok(Self::NONE),
            _ => {}
        }
        text.split(',').map(str::trim).try_fold(Self::NONE, |chosen, name| {
            let part = Self::NAMES.iter().find(|(known, _)| *known == name);
            part.map(|(_, part)| chosen.with(*part)).ok_or_else(|| UnknownPart(ragonite_base::clean_line(name)))
        })
    }
}

impl TryFrom<String> for ContextParts {
    type Error = UnknownPart;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<ContextParts> for String {
    fn from(parts: ContextParts) -> Self {
        parts.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_reads_back_as_it_was_written() {
        for text in ["all", "none", "title", "title,heading", "before,after"] {
            assert_eq!(text.parse::<ContextParts>().unwrap().to_string(), text);
        }
        assert!("title,footer".parse::<ContextParts>().is_err());
    }

    #[test]
    fn a_part_is_switched_off_and_on_again() {
        let without = ContextParts::ALL.switched(ContextParts::BEFORE);
        assert_eq!(without.to_string(), "title,heading,after");
        assert_eq!(without.switched(ContextParts::BEFORE), ContextParts::ALL);
        assert_eq!(ContextParts::TITLE.with(ContextParts::AFTER).among(without), "title,after".parse().unwrap());
        assert_eq!(ContextParts::TITLE.without(ContextParts::ALL), ContextParts::NONE);
    }
}
