//! Figures of the paper (RAGonite, Tables 2 to 4): P@1 by URL string, relevance rated by GPT-4o, and attribution
//! accuracy, over 600 questions, half English and half German.
//!
//! Invariant: each run is shown beside the nearest run of the paper, with the settings that differ (besides the
//! models). The paper changes one setting at a time, and has slices only for the context ablation.

use super::metric::{Metric, URL_P_AT_1};
use super::slices::{Slice, TurnGroup};
use super::{Ablation, Completion, QuestionType, Variation, Way};
use ragonite_base::Language;
use ragonite_document::evidence::{ContextParts, Kind, Linearizer, TableEvidence};
use ragonite_rag::retrieval::{Copies, Fusion, Mode, Reranking, Translate};

/// The contexts that the paper compares, in its order.
pub const CONTEXTS: [(ContextParts, &str); 6] = [
    (ContextParts::NONE, "none"),
    (ContextParts::TITLE, "title"),
    (ContextParts::HEADING, "heading"),
    (ContextParts::BEFORE, "before"),
    (ContextParts::AFTER, "after"),
    (ContextParts::ALL, "all"),
];

/// Index of the full context in [`CONTEXTS`].
const WHOLE: usize = 5;

/// The constant of the paper's reciprocal rank fusion.
const RRF_K: u32 = 60;

/// Hits per question in the paper.
const TOP_K: usize = 10;

/// A row of Table 2, in the order of [`CONTEXTS`].
type Row = [f64; 6];

/// P@1 in Table 2, by slice in the order of [`place`].
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

/// Second half of Table 2: answer relevance.
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

/// Table 4, turns 1 to 5, then 6 to 10; with full context.
const P_AT_1_TURNS: Row = [0.660, 0.530, 0.500, 0.430, 0.490, 0.560];
const RELEVANCE_TURNS: Row = [0.670, 0.495, 0.465, 0.440, 0.555, 0.550];

/// Share of out-of-scope answers.
const OUT_OF_SCOPE: f64 = 0.332;

/// Table 3, by slice in the order of [`place`]: similarity, counterfactual, counterfactual with clusters.
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

/// P@1 and relevance of a run of Table 4, over all questions.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Choice(f64, f64);

/// How a value of a setting relates to the paper.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Value {
    /// The value of all runs of the paper that do not vary this setting.
    Same,
    /// The value of this run only.
    Run(PaperRun),
    /// The value of no run.
    Unknown,
}

/// A run of the paper.
#[derive(Debug, Clone, Copy, PartialEq)]
enum PaperRun {
    /// Of Table 2, with the context at this index of [`CONTEXTS`].
    Context(usize),
    /// Of Table 4.
    Choice(Choice),
}

/// The run from which all others of the paper differ in one setting.
const DEFAULT: PaperRun = PaperRun::Context(WHOLE);

/// A setting in which our runs and the paper's may differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Setting {
    Completion,
    Rerank,
    Fusion,
    Mode,
    Kinds,
    Index,
    Linearizer,
    Context,
    Shown,
    K,
    Translation,
    Copies,
    PerDocument,
}

/// The settings with the paper's values; of two settings with a run each, the first decides which run is nearer.
const SETTINGS: [(Setting, &str); 13] = [
    (Setting::Completion, "questions that its model completed"),
    (Setting::Rerank, "a reranker"),
    (Setting::Fusion, "reciprocal rank fusion with k 60"),
    (Setting::Mode, "hybrid search"),
    (Setting::Kinds, "all kinds of evidence"),
    (Setting::Index, "tables and their rows"),
    (Setting::Linearizer, "verbalized rows"),
    (Setting::Context, "all context"),
    (Setting::Shown, "the context shown that is embedded"),
    (Setting::K, "10 hits"),
    (Setting::Translation, "no translation of questions"),
    (Setting::Copies, "every copy of an evidence a hit of its own"),
    (Setting::PerDocument, "any number of hits of a document"),
];

/// The nearest run of the paper, and the settings in which it differs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Papers {
    run: Option<PaperRun>,
    /// Whether a setting differs, by index in [`SETTINGS`].
    differs: [bool; SETTINGS.len()],
}

impl Papers {
    /// The figures beside a run with these settings. In an ablation, the paper's run with the same choice and its
    /// defaults otherwise, if there is one; else the run that differs in the fewest settings.
    #[must_use]
    pub fn beside(variation: &Variation, compared: Option<Ablation>) -> Self {
        let values = SETTINGS.map(|(setting, _)| setting.of(variation));
        let compared = compared.and_then(Setting::compared);
        let compared = SETTINGS.iter().position(|(setting, _)| Some(*setting) == compared);
        let changed = |value: &Value| matches!(value, Value::Run(_));
        let place = compared.or_else(|| values.iter().position(changed));
        let run = match place.map(|place| values[place]) {
            None | Some(Value::Same) => Some(DEFAULT),
            Some(Value::Run(run)) => Some(run),
            Some(Value::Unknown) => None,
        };
        let mut differs = values.map(|value| value != Value::Same);
        if let Some(place) = place {
            differs[place] = false;
        }
        Self { run, differs }
    }

    /// Description of the run of the paper, for people.
    #[must_use]
    pub fn said(&self) -> String {
        let otherwise = SETTINGS.iter().zip(self.differs).filter(|(_, differs)| *differs);
        let otherwise: Vec<&str> = otherwise.map(|((_, has), _)| *has).collect();
        let run = if otherwise.is_empty() {
            "the run with the same settings".to_owned()
        } else {
            format!("the nearest run, which unlike this one has {}", otherwise.join(", "))
        };
        format!("of {run}; - where there is none.")
    }

    /// The paper's figure for a slice, or for all questions, in these languages; none if it has none.
    pub(super) fn figure(self, name: Metric, slice: Option<Slice>, languages: &[Language]) -> Option<f64> {
        // For one language, all questions are the slice of that language; other slices of the paper cover both
        // languages.
        let slice = match (slice, languages) {
            (_, [_, _, ..] | []) | (Some(Slice::Language(_)), [_]) => slice,
            (None, [language]) => Some(Slice::Language(*language)),
            (Some(_), [_]) => return None,
        };
        match self.run? {
            PaperRun::Context(column) => of_context(name, slice, column),
            PaperRun::Choice(Choice(p_at_1, relevance)) => match name {
                URL_P_AT_1 => slice.is_none().then_some(p_at_1),
                Metric::AnswerRelevance => slice.is_none().then_some(relevance),
                _ => None,
            },
        }
    }
}

/// Whether the paper has such a figure.
pub(super) fn has(name: Metric) -> bool {
    match name {
        URL_P_AT_1 | Metric::AnswerRelevance | Metric::OosRate => true,
        Metric::Accuracy(way) => column_of(way).is_some(),
        _ => false,
    }
}

impl Setting {
    /// The setting of an ablation; none if the paper does not cover it.
    fn compared(ablation: Ablation) -> Option<Self> {
        match ablation {
            Ablation::Context => Some(Self::Context),
            Ablation::Linearizer => Some(Self::Linearizer),
            Ablation::Index => Some(Self::Index),
            Ablation::Kinds => Some(Self::Kinds),
            Ablation::Mode => Some(Self::Mode),
            Ablation::Fusion => Some(Self::Fusion),
            Ablation::Rerank => Some(Self::Rerank),
            Ablation::Completion => Some(Self::Completion),
            Ablation::Translation => Some(Self::Translation),
            Ablation::K => Some(Self::K),
            Ablation::Order | Ablation::Neighbours => None,
        }
    }

    /// How the value of a run relates to the paper.
    fn of(self, variation: &Variation) -> Value {
        let Variation { context, evidence, retrieval, rerank, completion, order: _, neighbours: _ } = variation;
        let same = |is_same: bool| if is_same { Value::Same } else { Value::Unknown };
        let choice = |p_at_1, relevance| Value::Run(PaperRun::Choice(Choice(p_at_1, relevance)));
        match self {
            Self::Completion => match completion {
                Completion::Model => Value::Same,
                Completion::Human => choice(0.658, 0.627),
                Completion::None | Completion::History => Value::Unknown,
            },
            Self::Rerank => match rerank {
                Reranking::On => Value::Same,
                Reranking::Off => choice(0.417, 0.507),
            },
            Self::Fusion => same(retrieval.fusion == Fusion::Rrf && retrieval.rrf_k == RRF_K),
            Self::Mode => match retrieval.mode {
                Mode::Hybrid => Value::Same,
                Mode::Lexical => choice(0.430, 0.417),
                Mode::Dense => choice(0.465, 0.443),
            },
            Self::Kinds => kinds(&retrieval.kinds),
            Self::Index => match evidence.tables {
                TableEvidence::Both => Value::Same,
                TableEvidence::Row => choice(0.405, 0.362),
                TableEvidence::Table => choice(0.492, 0.514),
            },
            Self::Linearizer => match evidence.linearizer {
                Linearizer::Verbalized => Value::Same,
                Linearizer::Piped => choice(0.392, 0.364),
                Linearizer::Markdown => choice(0.382, 0.363),
                Linearizer::Html => choice(0.368, 0.366),
                Linearizer::Plain => choice(0.372, 0.361),
            },
            Self::Context => match CONTEXTS.iter().position(|(parts, _)| parts == context) {
                Some(WHOLE) => Value::Same,
                Some(column) => Value::Run(PaperRun::Context(column)),
                None => Value::Unknown,
            },
            Self::Shown => same(retrieval.context == *context),
            Self::K => same(retrieval.top_k == TOP_K),
            Self::Translation => same(retrieval.translate == Translate::Off),
            Self::Copies => same(retrieval.copies == Copies::Keep),
            Self::PerDocument => same(retrieval.per_document == 0),
        }
    }
}

fn kinds(kinds: &[Kind]) -> Value {
    let are = |known: &[Kind]| known.iter().all(|kind| kinds.contains(kind)) && kinds.iter().all(|k| known.contains(k));
    let choice = |p_at_1, relevance| Value::Run(PaperRun::Choice(Choice(p_at_1, relevance)));
    if are(&Kind::ALL) {
        Value::Same
    } else if are(&[Kind::Passage]) {
        choice(0.363, 0.289)
    } else if are(&[Kind::List]) {
        choice(0.422, 0.407)
    } else if are(&[Kind::Table, Kind::Row]) {
        choice(0.335, 0.333)
    } else {
        Value::Unknown
    }
}

/// A figure of Tables 2 and 3, and of Table 4 by turn.
fn of_context(name: Metric, slice: Option<Slice>, column: usize) -> Option<f64> {
    let of = |rows: &[Row; 8], turns: Row| match slice {
        Some(Slice::Turn(turn)) => (column == WHOLE).then(|| of_turn(turn, turns)).flatten(),
        _ => Some(rows[place(slice)?][column]),
    };
    match name {
        URL_P_AT_1 => of(&P_AT_1, P_AT_1_TURNS),
        Metric::AnswerRelevance => of(&RELEVANCE, RELEVANCE_TURNS),
        Metric::OosRate => (column == WHOLE && slice.is_none()).then_some(OUT_OF_SCOPE),
        Metric::Accuracy(way) if column == WHOLE => Some(ACCURACY[place(slice)?][column_of(way)?]),
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

/// The column of a variant in Table 3.
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

    fn figure(change: fn(&mut Variation), name: Metric, slice: Option<Slice>) -> Option<f64> {
        let mut variation = as_in_paper();
        change(&mut variation);
        Papers::beside(&variation, None).figure(name, slice, &BOTH)
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
        assert_eq!(p_at_1(|_| {}, Some(Slice::Source(Kind::Row))), None);
        assert_eq!(p_at_1(|_| {}, Some(Slice::FollowUps)), None);
        assert_eq!(figure(|_| {}, Metric::AnswerRelevance, german), Some(0.483));
        assert_eq!(figure(|_| {}, Metric::AnswerRelevance, turn(TurnGroup::Single(1))), Some(0.670));
        assert_eq!(figure(|_| {}, Metric::OosRate, None), Some(0.332));
        assert_eq!(figure(|_| {}, Metric::TokenF1, None), None);
    }

    #[test]
    fn a_run_that_changes_one_setting_stands_beside_that_of_the_paper() {
        let simple = Some(Slice::Type(QuestionType::Simple));
        assert_eq!(p_at_1(|v| v.completion = Completion::Human, None), Some(0.658));
        assert_eq!(p_at_1(|v| v.completion = Completion::Human, simple), None);
        assert_eq!(figure(|v| v.completion = Completion::Human, Metric::AnswerRelevance, None), Some(0.627));
        assert_eq!(figure(|v| v.completion = Completion::Human, Metric::OosRate, None), None);
        assert_eq!(p_at_1(|v| v.retrieval.mode = Mode::Lexical, None), Some(0.430));
        assert_eq!(p_at_1(|v| v.retrieval.kinds = vec![Kind::Row, Kind::Table], None), Some(0.335));
        assert_eq!(p_at_1(|v| v.evidence.linearizer = Linearizer::Html, None), Some(0.368));
        assert_eq!(p_at_1(|v| v.evidence.tables = TableEvidence::Table, None), Some(0.492));
        assert_eq!(p_at_1(|v| v.rerank = Reranking::Off, None), Some(0.417));
    }

    #[test]
    fn beside_a_run_that_changes_more_stands_the_nearest_with_what_it_has_otherwise() {
        let mut variation = as_in_paper();
        assert_eq!(Papers::beside(&variation, None).run, Some(DEFAULT));
        assert_eq!(
            Papers::beside(&variation, None).said(),
            "of the run with the same settings; - where there is none."
        );
        variation.retrieval.fusion = Fusion::Blend;
        variation.retrieval.top_k = 3;
        let papers = Papers::beside(&variation, None);
        assert_eq!(papers.figure(URL_P_AT_1, None, &BOTH), Some(0.528));
        let said = "of the nearest run, which unlike this one has reciprocal rank fusion with k 60, 10 hits; - where there \
                    is none.";
        assert_eq!(papers.said(), said);
        variation.rerank = Reranking::Off;
        variation.completion = Completion::Human;
        let papers = Papers::beside(&variation, None);
        assert_eq!(papers.figure(URL_P_AT_1, None, &BOTH), Some(0.658), "people completed those questions too");
        assert!(papers.said().contains("has a reranker, reciprocal") && !papers.said().contains("completed"));
    }

    #[test]
    fn where_choices_are_compared_each_stands_beside_the_papers_run_of_that_choice() {
        // As the starter profile runs: without a reranker, and with the questions that people completed.
        let compared = |ablation: Ablation| {
            let mut starter = Variation { rerank: Reranking::Off, completion: Completion::Human, ..as_in_paper() };
            starter.retrieval.fusion = Fusion::Blend;
            let variants = ablation.compare(&starter).variants.into_iter();
            let papers =
                variants.map(move |variant| (variant.name, Papers::beside(&variant.variation, Some(ablation))));
            papers.map(|(name, papers)| (name, papers.figure(URL_P_AT_1, None, &BOTH), papers.said()))
        };
        let figures = |ablation| compared(ablation).map(|(_, figure, _)| figure).collect::<Vec<_>>();
        assert_eq!(figures(Ablation::Context), P_AT_1[0].map(Some));
        assert_eq!(figures(Ablation::Mode), [Some(0.430), Some(0.465), Some(0.528)]);
        assert_eq!(figures(Ablation::Completion), [None, None, Some(0.528), Some(0.658)]);
        for (name, figure, said) in compared(Ablation::Fusion) {
            assert_eq!(figure.is_some(), name == "rrf 60", "{name}");
            assert!(said.contains("completed, a reranker;"), "{said}");
        }
    }

    #[test]
    fn all_questions_in_one_language_are_a_slice_of_the_papers() {
        let papers = Papers::beside(&as_in_paper(), None);
        let figure = |slice| papers.figure(URL_P_AT_1, slice, &[Language::German]);
        assert_eq!(figure(None), Some(0.493));
        assert_eq!(figure(Some(Slice::Language(Language::German))), Some(0.493));
        assert_eq!(figure(Some(Slice::Type(QuestionType::Simple))), None);
    }

    #[test]
    fn the_accuracy_of_attribution_is_found_by_slice_and_way() {
        let of = |way, slice| figure(|_| {}, Metric::Accuracy(way), slice);
        assert_eq!(of(Way::Counterfactual, None), Some(0.799));
        assert_eq!(of(Way::CounterfactualUnclustered, Some(Slice::Source(Kind::Passage))), Some(0.847));
        assert_eq!(of(Way::Similarity, Some(Slice::Turn(TurnGroup::Single(1)))), None);
        assert_eq!((of(Way::Preview, None), has(Metric::Accuracy(Way::Preview))), (None, false));
    }
}
