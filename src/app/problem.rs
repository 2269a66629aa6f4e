//! A failure in the user's words.

use std::error::Error;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::base::clean_line;

/// What failed, why, and what to do next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// What failed, with its causes, one line.
    pub what: String,
    /// What the user can do; empty where nothing is known.
    pub next: String,
}

impl Problem {
    /// Puts an error and all its causes on one line.
    pub fn of(error: &(dyn Error + 'static), next: impl Into<String>) -> Self {
        let mut what = error.to_string();
        let mut cause = error.source();
        while let Some(error) = cause {
            let text = error.to_string();
            if !what.contains(&text) {
                what = format!("{what}: {text}");
            }
            cause = error.source();
        }
        Self { what: clean_line(&what), next: next.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.next.is_empty() { f.write_str(&self.what) } else { write!(f, "{}. {}", self.what, self.next) }
    }
}
