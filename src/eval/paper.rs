//! Figures of the paper (RAGonite, Tables 2 to 4): P@1 by URL string, relevance as GPT-4o rates it, and attribution
//! accuracy, with GPT-4o's completions and answers, over 600 questions.
//!
//! They stand beside ours, with what differs said above them: the paper's own completions, embedder and reranker.

use super::report::{Slice, TurnGroup};
use super::{Ablation, QuestionType, Scores, Way};
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

/// The second half of Table 2: answer relevance.
const RELEVANCE_ALL: Row = [0.388, 0.477, 0.435, 0.445, 0.404, 0.529];
const RELEVANCE_SIMPLE: Row = [0.423, 0.537, 0.482, 0.502, 0.458, 0.593];
const RELEVANCE_COMPLEX: Row = [0.352, 0.417, 0.388, 0.388, 0.350, 0.465];
const RELEVANCE_PASSAGE: Row = [0.430, 0.547, 0.460, 0.515, 0.500, 0.603];
const RELEVANCE_LIST: Row = [0.328, 0.422, 0.390, 0.400, 0.340, 0.507];
const RELEVANCE_TABLE: Row = [0.405, 0.460, 0.455, 0.420, 0.372, 0.477];
const RELEVANCE_ENGLISH: Row = [0.407, 0.530, 0.472, 0.483, 0.432, 0.575];
const RELEVANCE_GERMAN: Row = [0.368, 0.423, 0.398, 0.407, 0.377, 0.483];

/// Table 4, turns 1 to 5, then 6 to 10; with all context.
const TURNS: Row = [0.660, 0.530, 0.500, 0.430, 0.490, 0.560];
const RELEVANCE_TURNS: Row = [0.670, 0.495, 0.465, 0.440, 0.555, 0.550];

/// Share of out-of-scope answers.
pub(super) const OUT_OF_SCOPE: f64 = 0.332;

/// Table 4: P@1 and relevance of a choice.
const CHOICES: &[(Ablation, &str, f64, f64)] = &[
    (Ablation::Kinds, "passages", 0.363, 0.289),
    (Ablation::Kinds, "lists", 0.422, 0.407),
    (Ablation::Kinds, "tables", 0.335, 0.333),
    (Ablation::Kinds, "all", 0.528, 0.529),
    (Ablation::Completion, "model", 0.528, 0.529),
    (Ablation::Completion, "human", 0.658, 0.627),
    (Ablation::Linearizer, "verbalized", 0.528, 0.529),
    (Ablation::Linearizer, "piped", 0.392, 0.364),
    (Ablation::Linearizer, "markdown", 0.382, 0.363),
    (Ablation::Linearizer, "html", 0.368, 0.366),
    (Ablation::Linearizer, "plain", 0.372, 0.361),
    (Ablation::Index, "row", 0.405, 0.362),
    (Ablation::Index, "table", 0.492, 0.514),
    (Ablation::Index, "both", 0.528, 0.529),
    (Ablation::Mode, "lexical", 0.430, 0.417),
    (Ablation::Mode, "dense", 0.465, 0.443),
    (Ablation::Mode, "hybrid", 0.528, 0.529),
    (Ablation::Rerank, "on", 0.528, 0.529),
    (Ablation::Rerank, "off", 0.417, 0.507),
];

/// Table 3: similarity, counterfactual, counterfactual with clusters.
type Accuracy = [f64; 3];

/// The paper's P@1 for a slice, or for all questions; none where the paper has no such figure.
pub(super) fn p_at_1(slice: Option<Slice>, context: ContextParts) -> Option<f64> {
    let rows = [ALL, SIMPLE, COMPLEX, PASSAGE, LIST, TABLE, ENGLISH, GERMAN];
    of_table_2(slice, context, &rows, TURNS)
}

/// The paper's answer relevance for a slice, or for all questions.
pub(super) fn relevance(slice: Option<Slice>, context: ContextParts) -> Option<f64> {
    let rows = [
        RELEVANCE_ALL,
        RELEVANCE_SIMPLE,
        RELEVANCE_COMPLEX,
        RELEVANCE_PASSAGE,
        RELEVANCE_LIST,
        RELEVANCE_TABLE,
        RELEVANCE_ENGLISH,
        RELEVANCE_GERMAN,
    ];
    of_table_2(slice, context, &rows, RELEVANCE_TURNS)
}

fn of_table_2(slice: Option<Slice>, context: ContextParts, rows: &[Row; 8], turns: Row) -> Option<f64> {
    let column = CONTEXTS.iter().position(|(parts, _)| *parts == context)?;
    if let Some(Slice::Turn(turn)) = slice {
        return if context == ContextParts::ALL { of_turn(turn, turns) } else { None };
    }
    Some(rows[place(slice)?][column])
}

/// The row of a slice in the tables.
fn place(slice: Option<Slice>) -> Option<usize> {
    match slice {
        None => Some(0),
        Some(Slice::Type(QuestionType::Simple)) => Some(1),
        Some(Slice::Type(QuestionType::Complex)) => Some(2),
        Some(Slice::Source(Kind::Passage)) => Some(3),
        Some(Slice::Source(Kind::List)) => Some(4),
        Some(Slice::Source(Kind::Table)) => Some(5),
        Some(Slice::Language(Language::English)) => Some(6),
        Some(Slice::Language(Language::German)) => Some(7),
        Some(Slice::Source(Kind::Row) | Slice::Turn(_) | Slice::Shift(_)) => None,
    }
}

fn of_turn(turn: TurnGroup, turns: Row) -> Option<f64> {
    match turn {
        TurnGroup::Single(turn) => turns.get(turn.checked_sub(1)?).copied(),
        TurnGroup::SixToTen => turns.last().copied(),
        TurnGroup::Later => None,
    }
}

/// The paper's attribution accuracy.
pub(super) fn attribution(slice: Option<Slice>, way: Way) -> Option<f64> {
    const ROWS: [Accuracy; 8] = [
        [0.772, 0.791, 0.799],
        [0.771, 0.811, 0.817],
        [0.772, 0.772, 0.783],
        [0.816, 0.847, 0.806],
        [0.756, 0.780, 0.821],
        [0.755, 0.762, 0.776],
        [0.807, 0.765, 0.786],
        [0.733, 0.820, 0.814],
    ];
    let column = match way {
        Way::Similarity => 0,
        Way::CounterfactualUnclustered => 1,
        Way::Counterfactual => 2,
        Way::PreviewUnclustered
        | Way::Preview
        | Way::JsdUnclustered
        | Way::Jsd
        | Way::LogprobUnclustered
        | Way::Logprob => return None,
    };
    Some(ROWS[place(slice)?][column])
}

/// The paper's P@1 and relevance for a choice, over all questions; with context by slice.
pub(super) fn of_choice(ablation: Ablation, name: &str, slice: Option<Slice>) -> (Option<f64>, Option<f64>) {
    if ablation == Ablation::Context {
        let context = CONTEXTS.iter().find(|(_, known)| *known == name).map(|(context, _)| *context);
        return (context.and_then(|parts| p_at_1(slice, parts)), context.and_then(|parts| relevance(slice, parts)));
    }
    let known = CHOICES.iter().find(|(of, known, ..)| *of == ablation && *known == name && slice.is_none());
    (known.map(|(_, _, p_at_1, _)| *p_at_1), known.map(|(.., relevance)| *relevance))
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
        assert_eq!(relevance(german, ContextParts::ALL), Some(0.483));
        assert_eq!(relevance(Some(Slice::Turn(TurnGroup::Single(1))), ContextParts::ALL), Some(0.670));
    }

    #[test]
    fn a_figure_of_the_paper_is_found_by_choice_and_method() {
        let simple = Some(Slice::Type(QuestionType::Simple));
        assert_eq!(of_choice(Ablation::Mode, "lexical", None), (Some(0.430), Some(0.417)));
        assert_eq!(of_choice(Ablation::Mode, "lexical", simple), (None, None));
        assert_eq!(of_choice(Ablation::Context, "title", simple), (Some(0.470), Some(0.537)));
        assert_eq!(of_choice(Ablation::Completion, "none", None), (None, None));
        assert_eq!(attribution(None, Way::Counterfactual), Some(0.799));
        assert_eq!(attribution(Some(Slice::Source(Kind::Passage)), Way::CounterfactualUnclustered), Some(0.847));
        assert_eq!(attribution(Some(Slice::Turn(TurnGroup::Single(1))), Way::Similarity), None);
    }
}
