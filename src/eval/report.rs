//! The figures of a run, all together and by slice.

use indexmap::IndexMap;
use serde::Serialize;

use super::retrieval::Asked;
use super::score::{Ranked, Scores};
use super::{Question, QuestionType, Topic};
use crate::base::Language;
use crate::evidence::Kind;

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
    /// Those after a turn on the same page, or on another.
    Shift(Topic),
}

impl Slice {
    /// The slices a question is in.
    pub(super) fn all_of(question: &Question) -> Vec<Self> {
        let mut slices = vec![
            Self::Type(question.question_type),
            Self::Source(question.source),
            Self::Language(question.language),
            Self::Turn(TurnGroup::of(question.turn)),
        ];
        slices.extend(question.topic.map(Self::Shift));
        slices
    }

    /// What sort of slice it is, as in the JSON contract.
    pub(super) fn group(self) -> &'static str {
        match self {
            Self::Type(_) => "type",
            Self::Source(_) => "source",
            Self::Language(_) => "language",
            Self::Turn(_) => "turn",
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
            Self::Shift(Topic::Stays) => "stays".to_owned(),
            Self::Shift(Topic::Shifts) => "shifts".to_owned(),
        }
    }
}

/// Figures by slice, as in the JSON contract.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct By {
    source: IndexMap<String, Scores>,
    #[serde(rename = "type")]
    question_type: IndexMap<String, Scores>,
    language: IndexMap<String, Scores>,
    turn: IndexMap<String, Scores>,
    shift: IndexMap<String, Scores>,
}

/// The figures of a run. Serializes as in the JSON contract.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Report {
    /// Of all questions.
    #[serde(flatten)]
    pub all: Scores,
    /// Questions of which no gold page is in the domain. They count as not found.
    pub without_gold: usize,
    by: By,
    /// By slice, in order.
    #[serde(skip)]
    pub slices: Vec<(Slice, Scores)>,
}

impl Report {
    /// Puts together what was asked.
    #[must_use]
    pub fn of(asked: &[Asked]) -> Self {
        let mut slices: Vec<Slice> = asked.iter().flat_map(|asked| Slice::all_of(&asked.question)).collect();
        slices.sort();
        slices.dedup();
        let scored = |slice: Slice| {
            let of_slice = asked.iter().filter(|asked| Slice::all_of(&asked.question).contains(&slice));
            (slice, Scores::of(of_slice.map(|asked| &asked.outcome)))
        };
        let slices: Vec<(Slice, Scores)> = slices.into_iter().map(scored).collect();
        Self {
            all: Scores::of(asked.iter().map(|asked| &asked.outcome)),
            without_gold: asked.iter().filter(|asked| asked.gold.is_empty()).count(),
            by: By::of(&slices),
            slices,
        }
    }

    /// The figures of a slice; none where it has no questions.
    #[must_use]
    pub fn slice(&self, slice: Slice) -> Option<&Scores> {
        self.slices.iter().find(|(known, _)| *known == slice).map(|(_, scores)| scores)
    }

    /// By page number, all together.
    #[must_use]
    pub fn page(&self) -> Ranked {
        self.all.page
    }
}

impl By {
    fn of(slices: &[(Slice, Scores)]) -> Self {
        let mut by = Self::default();
        for (slice, scores) in slices {
            let group = match slice {
                Slice::Type(_) => &mut by.question_type,
                Slice::Source(_) => &mut by.source,
                Slice::Language(_) => &mut by.language,
                Slice::Turn(_) => &mut by.turn,
                Slice::Shift(_) => &mut by.shift,
            };
            group.insert(slice.label(), *scores);
        }
        by
    }
}
