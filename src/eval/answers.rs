//! What answers are worth: beside a judge's rating the measures that need none.
//!
//! Not here: making the answers (`turn`), rating them (`judge`).

use serde::Serialize;

use super::figures::{Figures, Measure, not_in_paper};
use super::overlap::{Overlap, without_marks};
use super::{Answered, Verdict, paper};

/// An answer with what it is worth.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoredAnswer {
    /// The answer.
    pub answered: Answered,
    /// What the judge says.
    pub judged: Judgement,
    /// Words it shares with the right answer.
    pub overlap: Overlap,
}

/// What came of judging.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Judgement {
    /// A verdict.
    Verdict(Verdict),
    /// The judge was asked and gave no usable verdict.
    NotJudged,
    /// There is no judge.
    NotAsked,
}

impl ScoredAnswer {
    /// Compares an answer with the right one.
    #[must_use]
    pub fn new(answered: Answered, judged: Judgement) -> Self {
        let said = if answered.answer.answered { answered.answer.text.as_str() } else { "" };
        let overlap = Overlap::of(said, &answered.question.answer, &answered.question.facts);
        Self { answered, judged, overlap }
    }

    /// The answer without its sources, as a judge reads it.
    #[must_use]
    pub fn text(answered: &Answered) -> String {
        without_marks(&answered.answer.text)
    }

    /// The judge's rating.
    #[must_use]
    pub fn rating(&self) -> Option<f64> {
        match &self.judged {
            Judgement::Verdict(verdict) => Some(verdict.answer_rating),
            Judgement::NotJudged | Judgement::NotAsked => None,
        }
    }
}

/// 1 for true.
pub(super) fn share(is_so: impl Into<u8>) -> f64 {
    f64::from(is_so.into())
}

/// Of answers, in the order of the tables.
const MEASURES: &[Measure<ScoredAnswer>] = &[
    Measure {
        name: "answer_relevance",
        title: "relevance",
        value: ScoredAnswer::rating,
        paper: |slice| paper::relevance(slice, crate::evidence::ContextParts::ALL),
    },
    Measure {
        name: "not_judged_rate",
        title: "not judged",
        value: |one| (one.judged != Judgement::NotAsked).then(|| share(one.judged == Judgement::NotJudged)),
        paper: not_in_paper,
    },
    Measure { name: "token_f1", title: "F1", value: |one| Some(one.overlap.f1), paper: not_in_paper },
    Measure { name: "gold_recall", title: "recall", value: |one| Some(one.overlap.recall), paper: not_in_paper },
    Measure {
        name: "gold_contained",
        title: "contains gold",
        value: |one| Some(share(one.overlap.contained)),
        paper: not_in_paper,
    },
    Measure {
        name: "oos_rate",
        title: "out of scope",
        value: |one| Some(share(!one.answered.answer.answered)),
        paper: |slice| slice.is_none().then_some(paper::OUT_OF_SCOPE),
    },
    Measure {
        name: "expected_oos_rate",
        title: "expected",
        value: |one| Some(share(!one.answered.has_gold())),
        paper: not_in_paper,
    },
    Measure {
        name: "refused_with_gold_rate",
        title: "refused with gold",
        value: |one| one.answered.has_gold().then(|| share(!one.answered.answer.answered)),
        paper: not_in_paper,
    },
    Measure {
        name: "cited_rate",
        title: "cites",
        value: |one| one.answered.answer.answered.then(|| share(!one.answered.answer.citations.is_empty())),
        paper: not_in_paper,
    },
    Measure { name: "citation_validity", title: "valid citations", value: validity, paper: not_in_paper },
    Measure { name: "cites_gold_rate", title: "cites gold", value: cites_gold, paper: not_in_paper },
    Measure {
        name: "page.p_at_1",
        title: "P@1",
        value: |one| Some(share(one.answered.outcome.page == Some(1))),
        paper: not_in_paper,
    },
];

/// Columns of the first table, which is about what answers say; the rest is about where it is from.
pub const ABOUT_TEXT: usize = 5;

/// The share of the cited numbers that were sources.
fn validity(one: &ScoredAnswer) -> Option<f64> {
    let answer = &one.answered.answer;
    let (valid, invalid) = (answer.citations.len(), answer.invalid_citations.len());
    (valid + invalid > 0).then(|| valid as f64 / (valid + invalid) as f64)
}

/// Whether a cited source is on a gold page; of answers that cite one, and that had the gold page among their sources.
fn cites_gold(one: &ScoredAnswer) -> Option<f64> {
    let answered = &one.answered;
    let citations = &answered.answer.citations;
    (answered.has_gold() && !citations.is_empty()).then(|| share(citations.iter().any(|rank| answered.is_gold(*rank))))
}

/// The figures of answers.
#[must_use]
pub fn answer_figures(scored: &[ScoredAnswer]) -> Figures {
    Figures::of(MEASURES, &scored.iter().map(|one| (&one.answered.question, one)).collect::<Vec<_>>())
}
