//! Figures of the paper (RAGonite, Tables 2 to 4): P@1 by URL string, relevance as GPT-4o rates it, and attribution
//! accuracy, over 600 questions, half of them English and half German.
//!
//! Invariant: a figure stands beside a run of ours only where the paper has a run with the same settings; the models
//! differ. The paper changes one setting at a time, and tells the slices apart only where that is the context.

use super::names::{Name, URL_P_AT_1};
use super::slices::{Slice, TurnGroup};
use super::{Completion, QuestionType, Variation, Way};
use crate::base::Language;
use crate::evidence::{ContextParts, Kind, Linearizer, TableEvidence};
use crate::retrieval::{Mode, Reranking};

/// The choices of context that the paper compares, in its order.
pub const CONTEXTS: [(ContextParts, &str); 6] = [
    (ContextParts::NONE, "none"),
    (ContextParts::TITLE, "title"),
    (ContextParts::HEADING, "heading"),
    (ContextParts::BEFORE, "before"),
    (ContextParts::AFTER, "after"),
    (ContextParts::ALL, "all"),
];

/// The place of all context in [`CONTEXTS`].
const WHOLE: usize = 5;

/// The constant of the paper's reciprocal rank fusion.
const RRF_K: u32 = 60;

/// Hits per question in the paper.
const TOP_K: usize = 10;

/// A row of Table 2, in the order of [`CONTEXTS`].
type Row = [f64; 6];

/// P@1 in Table 2, by slice as [`place`] has them.
const P_AT_1: [Row; 8] = [
    [0.398, 0.483, 0.448, 0.453, 0.460, 0.528],
    [0.413, 0.470, 0.477, 0.450, 0.483, 0.510],
    [0.383, 0.497, 0.420, 0.457, 0.437, 0.547],
    [0.365, 0.410, 0.390, 0.415, 0.420, 0.445],
    [0.340, 0.475, 0.440, 0.435, 0.490, 0.560],
    [0.490, 0.565, 0.515, 0.510, 0.470, 0.580],
    [0.413, 0.500, 0.467, 0.480, 0.483, 0.563],
    [0.383, 0.467, 0.430, 0.427, 0.437, 0.493],
];

/// The second half of Table 2: answer relevance.
const RELEVANCE: [Row; 8] = [
    [0.388, 0.477, 0.435, 0.445, 0.404, 0.529],
    [0.423, 0.537, 0.482, 0.502, 0.458, 0.593],
    [0.352, 0.417, 0.388, 0.388, 0.350, 0.465],
    [0.430, 0.547, 0.460, 0.515, 0.500, 0.603],
    [0.328, 0.422, 0.390, 0.400, 0.340, 0.507],
    [0.405, 0.460, 0.455, 0.420, 0.372, 0.477],
    [0.407, 0.530, 0.472, 0.483, 0.432, 0.575],
    [0.368, 0.423, 0.398, 0.407, 0.377, 0.483],
];

/// Table 4, turns 1 to 5, then 6 to 10; with all context.
const P_AT_1_TURNS: Row = [0.660, 0.530, 0.500, 0.430, 0.490, 0.560];
const RELEVANCE_TURNS: Row = [0.670, 0.495, 0.465, 0.440, 0.555, 0.550];

/// Share of out-of-scope answers.
const OUT_OF_SCOPE: f64 = 0.332;

/// Table 3, by slice as [`place`] has them: similarity, counterfactual, counterfactual with clusters.
const ACCURACY: [[f64; 3]; 8] = [
    [0.772, 0.791, 0.799],
    [0.771, 0.811, 0.817],
    [0.772, 0.772, 0.783],
    [0.816, 0.847, 0.806],
    [0.756, 0.780, 0.821],
    [0.755, 0.762, 0.776],
    [0.807, 0.765, 0.786],
    [0.733, 0.820, 0.814],
];

/// P@1 and relevance of one of Table 4's runs, over all questions.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Choice(f64, f64);

/// How one of our settings stands to the paper's.
enum Setting {
    /// As in all runs of the paper but those that change it.
    Same,
    /// As in one run of Table 4.
    Run(Choice),
    /// As in no run.
    Unknown,
}

/// A run of the paper.
#[derive(Debug, Clone, Copy, PartialEq)]
enum PaperRun {
    /// Of Table 2, with the context at this place of [`CONTEXTS`].
    Context(usize),
    /// Of Table 4.
    Choice(Choice),
}

/// What of the paper stands beside a run: its figures, where it has a run with the same settings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Papers(Option<PaperRun>);

impl Papers {
    /// The figures beside a run with these settings.
    #[must_use]
    pub fn beside(variation: &Variation) -> Self {
        Self(run(variation))
    }

    /// The paper's figure for a slice, or for all questions, which are asked in these languages; none where the paper
    /// has no such figure.
    pub(super) fn figure(self, name: Name, slice: Option<Slice>, languages: &[Language]) -> Option<f64> {
        // In one language all questions are those of that language, and what the paper has of other slices is of both.
        let slice = match (slice, languages) {
            (_, [_, _, ..] | []) | (Some(Slice::Language(_)), [_]) => slice,
            (None, [language]) => Some(Slice::Language(*language)),
            (Some(_), [_]) => return None,
        };
        match self.0? {
            PaperRun::Context(column) => of_context(name, slice, column),
            PaperRun::Choice(Choice(p_at_1, relevance)) => match name {
                URL_P_AT_1 => slice.is_none().then_some(p_at_1),
                Name::AnswerRelevance => slice.is_none().then_some(relevance),
                _ => None,
            },
        }
    }
}

/// Whether the paper has such a figure at all.
pub(super) fn has(name: Name) -> bool {
    match name {
        URL_P_AT_1 | Name::AnswerRelevance | Name::OosRate => true,
        Name::Accuracy(way) => column_of(way).is_some(),
        _ => false,
    }
}

/// The run of the paper with these settings: as all its runs are but for one of them.
fn run(variation: &Variation) -> Option<PaperRun> {
    let Variation { context, evidence, retrieval, rerank, completion, order: _ } = variation;
    let column = CONTEXTS.iter().position(|(parts, _)| parts == context)?;
    let same = |is_same: bool| if is_same { Setting::Same } else { Setting::Unknown };
    let settings = [
        linearizer(evidence.linearizer),
        tables(evidence.tables),
        kinds(&retrieval.kinds),
        mode(retrieval.mode),
        match rerank {
            Reranking::On => Setting::Same,
            Reranking::Off => Setting::Run(Choice(0.417, 0.507)),
        },
        match completion {
            Completion::Model => Setting::Same,
            Completion::Human => Setting::Run(Choice(0.658, 0.627)),
            Completion::None | Completion::History => Setting::Unknown,
        },
        same(retrieval.context == *context),
        same(retrieval.rrf_k == RRF_K),
        same(retrieval.top_k == TOP_K),
    ];
    let mut changed = Vec::new();
    for setting in settings {
        match setting {
            Setting::Same => {}
            Setting::Run(choice) => changed.push(choice),
            Setting::Unknown => return None,
        }
    }
    match changed.as_slice() {
        [] => Some(PaperRun::Context(column)),
        [choice] if column == WHOLE => Some(PaperRun::Choice(*choice)),
        _ => None,
    }
}

fn linearizer(linearizer: Linearizer) -> Setting {
    match linearizer {
        Linearizer::Verbalized => Setting::Same,
        Linearizer::Piped => Setting::Run(Choice(0.392, 0.364)),
        Linearizer::Markdown => Setting::Run(Choice(0.382, 0.363)),
        Linearizer::Html => Setting::Run(Choice(0.368, 0.366)),
        Linearizer::Plain => Setting::Run(Choice(0.372, 0.361)),
    }
}

fn tables(tables: TableEvidence) -> Setting {
    match tables {
        TableEvidence::Both => Setting::Same,
        TableEvidence::Row => Setting::Run(Choice(0.405, 0.362)),
        TableEvidence::Table => Setting::Run(Choice(0.492, 0.514)),
    }
}

fn mode(mode: Mode) -> Setting {
    match mode {
        Mode::Hybrid => Setting::Same,
        Mode::Lexical => Setting::Run(Choice(0.430, 0.417)),
        Mode::Dense => Setting::Run(Choice(0.465, 0.443)),
    }
}

fn kinds(kinds: &[Kind]) -> Setting {
    let are = |known: &[Kind]| known.iter().all(|kind| kinds.contains(kind)) && kinds.iter().all(|k| known.contains(k));
    if are(&Kind::ALL) {
        Setting::Same
    } else if are(&[Kind::Passage]) {
        Setting::Run(Choice(0.363, 0.289))
    } else if are(&[Kind::List]) {
        Setting::Run(Choice(0.422, 0.407))
    } else if are(&[Kind::Table, Kind::Row]) {
        Setting::Run(Choice(0.335, 0.333))
    } else {
        Setting::Unknown
    }
}

/// A figure of Tables 2 and 3, and of Table 4 by turn.
fn of_context(name: Name, slice: Option<Slice>, column: usize) -> Option<f64> {
    let of = |rows: &[Row; 8], turns: Row| match slice {
        Some(Slice::Turn(turn)) => (column == WHOLE).then(|| of_turn(turn, turns)).flatten(),
        _ => Some(rows[place(slice)?][column]),
    };
    match name {
        URL_P_AT_1 => of(&P_AT_1, P_AT_1_TURNS),
        Name::AnswerRelevance => of(&RELEVANCE, RELEVANCE_TURNS),
        Name::OosRate => (column == WHOLE && slice.is_none()).then_some(OUT_OF_SCOPE),
        Name::Accuracy(way) if column == WHOLE => Some(ACCURACY[place(slice)?][column_of(way)?]),
        _ => None,
    }
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
        Some(Slice::Source(Kind::Row) | Slice::Turn(_) | Slice::FollowUps | Slice::Shift(_)) => None,
    }
}

fn of_turn(turn: TurnGroup, turns: Row) -> Option<f64> {
    match turn {
        TurnGroup::Single(turn) => turns.get(turn.checked_sub(1)?).copied(),
        TurnGroup::SixToTen => turns.last().copied(),
        TurnGroup::Later => None,
    }
}

/// The column of a way in Table 3.
fn column_of(way: Way) -> Option<usize> {
    match way {
        Way::Similarity => Some(0),
        Way::CounterfactualUnclustered => Some(1),
        Way::Counterfactual => Some(2),
        Way::PreviewUnclustered
        | Way::Preview
        | Way::JsdUnclustered
        | Way::Jsd
        | Way::LogprobUnclustered
        | Way::Logprob => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_kit::as_in_paper;
    use super::*;

    const BOTH: [Language; 2] = [Language::English, Language::German];

    fn p_at_1(change: fn(&mut Variation), slice: Option<Slice>) -> Option<f64> {
        figure(change, URL_P_AT_1, slice)
    }

    fn figure(change: fn(&mut Variation), name: Name, slice: Option<Slice>) -> Option<f64> {
        let mut variation = as_in_paper();
        change(&mut variation);
        Papers::beside(&variation).figure(name, slice, &BOTH)
    }

    fn context(variation: &mut Variation, context: ContextParts) {
        variation.context = context;
        variation.retrieval.context = context;
    }

    #[test]
    fn a_figure_of_the_paper_is_found_by_slice_and_context() {
        let german = Some(Slice::Language(Language::German));
        let turn = |turn| Some(Slice::Turn(turn));
        assert_eq!(p_at_1(|v| context(v, ContextParts::HEADING), german), Some(0.430));
        assert_eq!(p_at_1(|_| {}, None), Some(0.528));
        assert_eq!(p_at_1(|_| {}, turn(TurnGroup::SixToTen)), Some(0.560));
        assert_eq!(p_at_1(|v| context(v, ContextParts::NONE), turn(TurnGroup::Single(2))), None);
        assert_eq!(p_at_1(|v| context(v, ContextParts::TITLE.with(ContextParts::AFTER)), None), None);
        assert_eq!(p_at_1(|_| {}, Some(Slice::Source(Kind::Row))), None);
        assert_eq!(p_at_1(|_| {}, Some(Slice::FollowUps)), None);
        assert_eq!(figure(|_| {}, Name::AnswerRelevance, german), Some(0.483));
        assert_eq!(figure(|_| {}, Name::AnswerRelevance, turn(TurnGroup::Single(1))), Some(0.670));
        assert_eq!(figure(|_| {}, Name::OosRate, None), Some(0.332));
        assert_eq!(figure(|_| {}, Name::TokenF1, None), None);
    }

    #[test]
    fn a_run_that_changes_one_setting_stands_beside_that_of_the_paper() {
        let simple = Some(Slice::Type(QuestionType::Simple));
        assert_eq!(p_at_1(|v| v.completion = Completion::Human, None), Some(0.658));
        assert_eq!(p_at_1(|v| v.completion = Completion::Human, simple), None);
        assert_eq!(figure(|v| v.completion = Completion::Human, Name::AnswerRelevance, None), Some(0.627));
        assert_eq!(figure(|v| v.completion = Completion::Human, Name::OosRate, None), None);
        assert_eq!(p_at_1(|v| v.completion = Completion::History, None), None);
        assert_eq!(p_at_1(|v| v.retrieval.mode = Mode::Lexical, None), Some(0.430));
        assert_eq!(p_at_1(|v| v.retrieval.kinds = vec![Kind::Row, Kind::Table], None), Some(0.335));
        assert_eq!(p_at_1(|v| v.retrieval.kinds = vec![Kind::Row], None), None);
        assert_eq!(p_at_1(|v| v.evidence.linearizer = Linearizer::Html, None), Some(0.368));
        assert_eq!(p_at_1(|v| v.evidence.tables = TableEvidence::Table, None), Some(0.492));
        assert_eq!(p_at_1(|v| v.rerank = Reranking::Off, None), Some(0.417));
        assert_eq!(p_at_1(|v| v.retrieval.rrf_k = 1, None), None);
        assert_eq!(p_at_1(|v| v.retrieval.top_k = 3, None), None);
    }

    #[test]
    fn a_run_that_changes_two_settings_has_none_beside_it() {
        let human = |v: &mut Variation| v.completion = Completion::Human;
        assert_eq!(Papers::beside(&as_in_paper()).0, Some(PaperRun::Context(WHOLE)));
        let changes: [fn(&mut Variation); 3] =
            [|v| v.retrieval.mode = Mode::Dense, |v| v.rerank = Reranking::Off, |v| context(v, ContextParts::NONE)];
        for change in changes {
            let mut variation = as_in_paper();
            human(&mut variation);
            change(&mut variation);
            assert_eq!(Papers::beside(&variation).0, None);
        }
    }

    #[test]
    fn all_questions_in_one_language_are_a_slice_of_the_papers() {
        let papers = Papers::beside(&as_in_paper());
        let figure = |slice| papers.figure(URL_P_AT_1, slice, &[Language::German]);
        assert_eq!(figure(None), Some(0.493));
        assert_eq!(figure(Some(Slice::Language(Language::German))), Some(0.493));
        assert_eq!(figure(Some(Slice::Type(QuestionType::Simple))), None);
    }

    #[test]
    fn the_accuracy_of_attribution_is_found_by_slice_and_way() {
        let of = |way, slice| figure(|_| {}, Name::Accuracy(way), slice);
        assert_eq!(of(Way::Counterfactual, None), Some(0.799));
        assert_eq!(of(Way::CounterfactualUnclustered, Some(Slice::Source(Kind::Passage))), Some(0.847));
        assert_eq!(of(Way::Similarity, Some(Slice::Turn(TurnGroup::Single(1)))), None);
        assert_eq!((of(Way::Preview, None), has(Name::Accuracy(Way::Preview))), (None, false));
    }
}
