//! What a user thinks of an answer (RAGonite's demo, Fig. 2, box 7).
//!
//! Invariant: the names of ratings and reasons are stored and exported, so they never change.
//! Not here: storing it (`manage`), asking for it (`tui`).

use std::str::FromStr;

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

use ragonite_base::clean_line;

/// Whether the answer was of use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Rating {
    /// It was.
    Up,
    /// It was not.
    Down,
}

impl Rating {
    /// As it is stored and typed.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Up => "up",
            Self::Down => "down",
        }
    }
}

/// A text that names no rating.
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

/// What was wrong with an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// It says something that is not so.
    WrongAnswer,
    /// It cites or rests on the wrong place.
    WrongSource,
    /// Something is missing in it.
    Incomplete,
    /// It was so once.
    OutOfDate,
    /// Something else, which the note says.
    Other,
}

impl Reason {
    /// All of them, in the order in which they are offered.
    pub const ALL: [Self; 5] = [Self::WrongAnswer, Self::WrongSource, Self::Incomplete, Self::OutOfDate, Self::Other];

    /// As it is stored and typed.
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

    /// As it is read.
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

/// A text that names no reason.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no reason: use wrong-answer, wrong-source, incomplete, out-of-date or other")]
pub struct UnknownReason(String);

impl FromStr for Reason {
    type Err = UnknownReason;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|reason| reason.as_str() == text).ok_or_else(|| UnknownReason(clean_line(text)))
    }
}

/// A rating with what was said about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Feedback {
    /// Whether the answer was of use.
    pub rating: Rating,
    /// What was wrong with it, where that was said.
    #[serde(default)]
    pub reason: Option<Reason>,
    /// In the user's words; empty where nothing was said.
    #[serde(default)]
    pub note: String,
    /// When.
    #[serde(with = "time::serde::rfc3339")]
    pub rated_at: OffsetDateTime,
}

impl Feedback {
    /// On one line: `down, out of date: the list is from 2023`.
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
