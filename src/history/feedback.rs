//! Feedback of the user on an answer (RAGonite's demo, Fig. 2, box 7).
//!
//! Invariant: the words of ratings and reasons are stored and exported, so they never change.
//! Not here: storing (`manage`), asking (`tui`).

use std::str::FromStr;

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

use ragonite_base::clean_line;

/// Whether the answer was useful.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Rating {
    /// Useful.
    Up,
    /// Not useful.
    Down,
}

impl Rating {
    /// The stored and typed word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Up => "up",
            Self::Down => "down",
        }
    }
}

/// A text that is no rating.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no rating: use up or down")]
pub struct UnknownRating(String);

impl FromStr for Rating {
    type Err = UnknownRating;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let all = [Self::Up, Self::Down];
        all.into_iter().find(|rating| rating.as_str() == text).ok_or_else(|| UnknownRating(clean_line(text)))
    }
}

/// Why an answer was not useful.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// The answer is wrong.
    WrongAnswer,
    /// The answer cites or uses the wrong source.
    WrongSource,
    /// The answer lacks something.
    Incomplete,
    /// The answer is no longer true.
    OutOfDate,
    /// Another reason, in the note.
    Other,
}

impl Reason {
    /// All reasons, in the order of the screen.
    pub const ALL: [Self; 5] = [Self::WrongAnswer, Self::WrongSource, Self::Incomplete, Self::OutOfDate, Self::Other];

    /// The stored and typed word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::WrongAnswer => "wrong-answer",
            Self::WrongSource => "wrong-source",
            Self::Incomplete => "incomplete",
            Self::OutOfDate => "out-of-date",
            Self::Other => "other",
        }
    }

    /// The label for people.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::WrongAnswer => "wrong answer",
            Self::WrongSource => "wrong source",
            Self::Incomplete => "incomplete",
            Self::OutOfDate => "out of date",
            Self::Other => "other",
        }
    }
}

/// A text that is no reason.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no reason: use wrong-answer, wrong-source, incomplete, out-of-date or other")]
pub struct UnknownReason(String);

impl FromStr for Reason {
    type Err = UnknownReason;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|reason| reason.as_str() == text).ok_or_else(|| UnknownReason(clean_line(text)))
    }
}

/// A rating with its reason and note.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Feedback {
    /// Whether the answer was useful.
    pub rating: Rating,
    /// Reason of a negative rating; optional.
    #[serde(default)]
    pub reason: Option<Reason>,
    /// Words of the user; may be empty.
    #[serde(default)]
    pub note: String,
    /// Time of the rating.
    #[serde(with = "time::serde::rfc3339")]
    pub rated_at: OffsetDateTime,
}

impl Feedback {
    /// In a line: `down, out of date: the list is from 2023`.
    #[must_use]
    pub fn label(&self) -> String {
        let mut line = self.rating.as_str().to_owned();
        if let Some(reason) = self.reason {
            line.push_str(", ");
            line.push_str(reason.label());
        }
        let note = clean_line(&self.note);
        if !note.is_empty() {
            line.push_str(": ");
            line.push_str(&note);
        }
        line
    }
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for reason in Reason::ALL {
            assert_eq!(reason.as_str().parse(), Ok(reason));
            assert_eq!(serde_json::to_string(&reason).unwrap(), format!("\"{}\"", reason.as_str()));
        }
        for rating in [Rating::Up, Rating::Down] {
            assert_eq!(rating.as_str().parse(), Ok(rating));
        }
        assert!("sideways".parse::<Rating>().unwrap_err().to_string().contains("up or down"));
        assert!("ugly".parse::<Reason>().unwrap_err().to_string().contains("out-of-date"));
    }

    #[test]
    fn a_rating_is_said_on_one_clean_line() {
        let rated_at = datetime!(2026-03-01 12:00 UTC);
        let note = "the list\nis from \u{1b}[31m2023".to_owned();
        let feedback = Feedback { rating: Rating::Down, reason: Some(Reason::OutOfDate), note, rated_at };
        assert_eq!(feedback.label(), "down, out of date: the list is from 2023");
        let plain = Feedback { rating: Rating::Up, reason: None, note: String::new(), rated_at };
        assert_eq!(plain.label(), "up");
    }
}
