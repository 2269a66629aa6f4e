//! Problems: failures in the user's words.

use std::error::Error;
use std::fmt;

use serde::{Deserialize, Serialize};

use ragonite_base::clean_line;

/// A failure with its causes and a remedy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// What failed, with its causes, one line.
    pub what: String,
    /// The remedy; empty where none is known.
    pub next: String,
}

impl Problem {
    /// Puts an error and all its causes on one line.
    pub fn of(error: &(dyn Error + 'static), next: impl Into<String>) -> Self {
        let mut what = error.to_string();
        let mut cause = error.source();
        while let Some(error) = cause {
            let text = message(error);
            if !what.contains(&text) {
                what = format!("{what}: {text}");
            }
            cause = error.source();
        }
        Self { what: clean_line(&what), next: next.into() }
    }
}

/// The message of an error on one line. TOML errors have several lines.
fn message(error: &(dyn Error + 'static)) -> String {
    let boxed = || error.downcast_ref::<Box<toml::de::Error>>().map(|boxed| &**boxed);
    match error.downcast_ref::<toml::de::Error>().or_else(boxed) {
        Some(error) => {
            let drawn = error.to_string();
            let place = drawn.lines().next().and_then(|line| line.strip_prefix("TOML parse error at "));
            place.map_or_else(|| error.message().to_owned(), |place| format!("{place}: {}", error.message()))
        }
        None => error.to_string(),
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.next.is_empty() { f.write_str(&self.what) } else { write!(f, "{}. {}", self.what, self.next) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("`q.toml` is wrong")]
    struct Wrong(#[source] toml::de::Error);

    #[derive(Debug, thiserror::Error)]
    #[error("`q.toml` is wrong")]
    struct BoxedWrong(#[source] Box<toml::de::Error>);

    #[test]
    fn a_mistake_in_a_toml_file_is_told_with_its_line_and_without_a_drawing() {
        let error = || toml::from_str::<toml::Table>("a = 1\nb = ?\n").unwrap_err();
        for problem in [Problem::of(&Wrong(error()), ""), Problem::of(&BoxedWrong(Box::new(error())), "")] {
            assert!(problem.what.starts_with("`q.toml` is wrong: line 2, column 5: "), "{problem}");
            assert!(!problem.what.contains(['|', '^']), "{problem}");
        }
    }
}
