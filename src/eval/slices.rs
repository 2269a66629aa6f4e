//! The slices of a benchmark: which questions are looked at together. Pure.

use super::{Question, QuestionType, Topic};
use ragonite_base::Language;
use ragonite_document::evidence::Kind;

/// Turns are reported one by one up to here, then together.
const LAST_SINGLE_TURN: usize = 5;

/// The last turn of the group of later turns.
const LAST_GROUPED_TURN: usize = 10;

/// A turn, or a group of turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TurnGroup {
    /// One of the first five.
    Single(usize),
    /// The sixth to the tenth.
    SixToTen,
    /// All after the tenth.
    Later,
}

impl TurnGroup {
    /// The group of a turn.
    #[must_use]
    pub fn of(turn: usize) -> Self {
        match turn {
            0..=LAST_SINGLE_TURN => Self::Single(turn),
            _ if turn <= LAST_GROUPED_TURN => Self::SixToTen,
            _ => Self::Later,
        }
    }
}

/// Some of the questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Slice {
    /// Those of one type.
    Type(QuestionType),
    /// Those with the answer in one kind of evidence.
    Source(Kind),
    /// Those in one language.
    Language(Language),
    /// Those at one place in their conversation.
    Turn(TurnGroup),
    /// Those after the first of their conversation.
    FollowUps,
    /// Those after a turn on the same page, or on another.
    Shift(Topic),
}

impl Slice {
    /// The slices a question is in.
    pub(super) fn all_of(question: &Question) -> Vec<Self> {
        let mut slices = Self::apart(question);
        slices.extend((question.turn > 1).then_some(Self::FollowUps));
        slices
    }

    /// Of each sort of slices that have no question in common the one a question is in.
    pub(super) fn apart(question: &Question) -> Vec<Self> {
        let mut slices = vec![
            Self::Type(question.question_type),
            Self::Source(question.source),
            Self::Language(question.language),
            Self::Turn(TurnGroup::of(question.turn)),
        ];
        slices.extend(question.topic.map(Self::Shift));
        slices
    }

    /// The sorts of slices, as in the JSON contract.
    pub(super) const GROUPS: [&'static str; 5] = ["source", "type", "language", "turn", "shift"];

    /// What sort of slice it is, one of [`Slice::GROUPS`].
    pub(super) fn group(self) -> &'static str {
        match self {
            Self::Type(_) => "type",
            Self::Source(_) => "source",
            Self::Language(_) => "language",
            Self::Turn(_) | Self::FollowUps => "turn",
            Self::Shift(_) => "shift",
        }
    }

    /// What its questions have in common.
    #[must_use]
    pub fn label(self) -> String {
        match self {
            Self::Type(QuestionType::Simple) => "simple".to_owned(),
            Self::Type(QuestionType::Complex) => "complex".to_owned(),
            Self::Source(kind) => kind.as_str().to_owned(),
            Self::Language(language) => language.code().to_owned(),
            Self::Turn(TurnGroup::Single(turn)) => turn.to_string(),
            Self::Turn(TurnGroup::SixToTen) => "6-10".to_owned(),
            Self::Turn(TurnGroup::Later) => "11 and later".to_owned(),
            Self::FollowUps => "follow-ups".to_owned(),
            Self::Shift(Topic::Stays) => "stays".to_owned(),
            Self::Shift(Topic::Shifts) => "shifts".to_owned(),
        }
    }
}
