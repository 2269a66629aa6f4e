//! The slices of a benchmark. Pure.

use super::{Question, QuestionType, Topic};
use ragonite_base::Language;
use ragonite_document::evidence::Kind;

/// The last turn with figures of its own.
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

/// A set of questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Slice {
    /// Questions of one type.
    Type(QuestionType),
    /// Questions with the answer in one kind of evidence.
    Source(Kind),
    /// Questions in one language.
    Language(Language),
    /// Questions at one position of their conversation.
    Turn(TurnGroup),
    /// All turns but the first.
    FollowUps,
    /// Turns that stay on the page of the previous turn, or leave it.
    Shift(Topic),
}

impl Slice {
    /// All slices of a question.
    pub(super) fn all_of(question: &Question) -> Vec<Self> {
        let mut slices = Self::apart(question);
        slices.extend((question.turn > 1).then_some(Self::FollowUps));
        slices
    }

    /// The slices of a question that are disjoint from others of their group.
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

    /// The groups of slices in the JSON contract.
    pub(super) const GROUPS: [&'static str; 5] = ["source", "type", "language", "turn", "shift"];

    /// The group of a slice, one of [`Slice::GROUPS`].
    pub(super) fn group(self) -> &'static str {
        match self {
            Self::Type(_) => "type",
            Self::Source(_) => "source",
            Self::Language(_) => "language",
            Self::Turn(_) | Self::FollowUps => "turn",
            Self::Shift(_) => "shift",
        }
    }

    /// Label of the slice.
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
