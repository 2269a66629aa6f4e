//! Figures of the paper (RAGonite, Tables 2 and 4): P@1 by URL string, with GPT-4o's completions, 600 questions.
//!
//! They stand beside ours, with what differs said above them: the paper's own completions, embedder and reranker.

use super::report::{Slice, TurnGroup};
use super::{QuestionType, Scores};
use crate::base::Language;
use crate::evidence::{ContextParts, Kind};

/// The choices of context that the paper compares, in its order.
pub const CONTEXTS: [(ContextParts, &str); 6] = [
    (ContextParts::NONE, "none"),
    (ContextParts::TITLE, "title"),
    (ContextParts::HEADING, "heading"),
    (ContextParts::BEFORE, "before"),
    (ContextParts::AFTER, "after"),
    (ContextParts::ALL, "all"),
];

/// A row of Table 2, in the order of [`CONTEXTS`].
type Row = [f64; 6];

const ALL: Row = [0.398, 0.483, 0.448, 0.453, 0.460, 0.528];
const SIMPLE: Row = [0.413, 0.470, 0.477, 0.450, 0.483, 0.510];
const COMPLEX: Row = [0.383, 0.497, 0.420, 0.457, 0.437, 0.547];
const PASSAGE: Row = [0.365, 0.410, 0.390, 0.415, 0.420, 0.445];
const LIST: Row = [0.340, 0.475, 0.440, 0.435, 0.490, 0.560];
const TABLE: Row = [0.490, 0.565, 0.515, 0.510, 0.470, 0.580];
const ENGLISH: Row = [0.413, 0.500, 0.467, 0.480, 0.483, 0.563];
const GERMAN: Row = [0.383, 0.467, 0.430, 0.427, 0.437, 0.493];

/// Table 4, turns 1 to 5, then 6 to 10; with all context.
const TURNS: Row = [0.660, 0.530, 0.500, 0.430, 0.490, 0.560];

/// The paper's P@1 for a slice, or for all questions; none where the paper has no such figure.
pub(super) fn p_at_1(slice: Option<Slice>, context: ContextParts) -> Option<f64> {
    let column = CONTEXTS.iter().position(|(parts, _)| *parts == context)?;
    let row = match slice {
        None => ALL,
        Some(Slice::Type(QuestionType::Simple)) => SIMPLE,
        Some(Slice::Type(QuestionType::Complex)) => COMPLEX,
        Some(Slice::Source(Kind::Passage)) => PASSAGE,
        Some(Slice::Source(Kind::List)) => LIST,
        Some(Slice::Source(Kind::Table)) => TABLE,
        Some(Slice::Language(Language::English)) => ENGLISH,
        Some(Slice::Language(Language::German)) => GERMAN,
        Some(Slice::Turn(turn)) if context == ContextParts::ALL => return of_turn(turn),
        Some(Slice::Source(Kind::Row) | Slice::Turn(_)) => return None,
    };
    Some(row[column])
}

fn of_turn(turn: TurnGroup) -> Option<f64> {
    match turn {
        TurnGroup::Single(turn) => TURNS.get(turn.checked_sub(1)?).copied(),
        TurnGroup::SixToTen => TURNS.last().copied(),
        TurnGroup::Later => None,
    }
}

/// The figure of ours that the paper's is to be held against.
pub(super) fn comparable(scores: &Scores) -> f64 {
    scores.url.p_at_1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_of_the_paper_is_found_by_slice_and_context() {
        let german = Some(Slice::Language(Language::German));
        assert_eq!(p_at_1(german, ContextParts::HEADING), Some(0.430));
        assert_eq!(p_at_1(None, ContextParts::ALL), Some(0.528));
        assert_eq!(p_at_1(Some(Slice::Turn(TurnGroup::SixToTen)), ContextParts::ALL), Some(0.560));
        assert_eq!(p_at_1(Some(Slice::Turn(TurnGroup::Single(2))), ContextParts::NONE), None);
        assert_eq!(p_at_1(None, ContextParts::TITLE.with(ContextParts::AFTER)), None);
        assert_eq!(p_at_1(Some(Slice::Source(Kind::Row)), ContextParts::ALL), None);
    }
}
