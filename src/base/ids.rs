//! Identifiers as types, so that they cannot be mixed up.
//!
//! Invariant: numbers are SQLite row ids, valid only in the database they came from.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

macro_rules! row_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub i64);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = std::num::ParseIntError;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                text.parse().map(Self)
            }
        }
    };
}

row_id!(
    /// One source page or file within a domain.
    DocumentId
);
row_id!(
    /// One unit of retrieval within a domain.
    EvidenceId
);
row_id!(
    /// One conversation in the history.
    ConversationId
);
row_id!(
    /// One turn in the history.
    TurnId
);

/// The name of a domain, safe as a folder name on every platform.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct DomainName(String);

/// An invalid domain name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no domain name: use 1 to 64 of a-z, 0-9, `-` and `_`, starting with a letter or digit")]
pub struct DomainNameError(String);

/// Longest domain name in bytes; leaves room for file names on every file system.
const LONGEST_NAME: usize = 64;

impl DomainName {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for DomainName {
    type Error = DomainNameError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let starts_well = text.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit());
        let all_allowed = text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_');
        if starts_well && all_allowed && text.len() <= LONGEST_NAME {
            Ok(Self(text))
        } else {
            Err(DomainNameError(super::clean_line(&text)))
        }
    }
}

impl FromStr for DomainName {
    type Err = DomainNameError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::try_from(text.to_owned())
    }
}

impl From<DomainName> for String {
    fn from(name: DomainName) -> Self {
        name.0
    }
}

impl fmt::Display for DomainName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_domain_name_cannot_leave_its_folder() {
        for bad in ["", ".", "..", "../x", "a/b", "A", "-x", "a b", "ä", &"x".repeat(65)] {
            assert!(bad.parse::<DomainName>().is_err(), "{bad:?} was taken");
        }
        assert_eq!("open-xt_9".parse::<DomainName>().unwrap().as_str(), "open-xt_9");
    }
}
