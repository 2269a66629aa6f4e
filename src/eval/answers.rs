//! What answers are worth: beside a judge's rating the measures that need none.
//!
//! Not here: making the answers (`turn`), rating them (`judge`).

use serde::Serialize;

use super::aggregate::Measured;
use super::metric::{Metric, P_AT_1, both};
use super::overlap::Overlap;
use super::score::share;
use super::{Answered, Question, Verdict};
use ragonite_rag::answer::citation::without_marks;

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

/// What answers say.
pub const ABOUT_TEXT: &[Metric] =
    &[Metric::AnswerRelevance, Metric::NotJudgedRate, Metric::TokenF1, Metric::GoldRecall, Metric::GoldContained];

/// Where they are from.
pub const ABOUT_SOURCES: &[Metric] = &[
    Metric::OosRate,
    Metric::ExpectedOosRate,
    Metric::RefusedWithGoldRate,
    Metric::CitedRate,
    Metric::CitedUnaskedRate,
    Metric::CitationValidity,
    Metric::CitesGoldRate,
    P_AT_1,
];

impl Measured for ScoredAnswer {
    const NAMES: &'static [Metric] = &both::<{ ABOUT_TEXT.len() + ABOUT_SOURCES.len() }>(ABOUT_TEXT, ABOUT_SOURCES);

    fn question(&self) -> &Question {
        &self.answered.question
    }

    fn value(&self, name: Metric) -> Option<f64> {
        let (answered, answer) = (&self.answered, &self.answered.answer);
        match name {
            Metric::AnswerRelevance => self.rating(),
            Metric::NotJudgedRate => {
                (self.judged != Judgement::NotAsked).then(|| share(self.judged == Judgement::NotJudged))
            }
            Metric::TokenF1 => Some(self.overlap.f1),
            Metric::GoldRecall => Some(self.overlap.recall),
            Metric::GoldContained => Some(share(self.overlap.contained)),
            Metric::OosRate => Some(share(!answer.answered)),
            Metric::ExpectedOosRate => Some(share(!answered.has_gold())),
            Metric::RefusedWithGoldRate => answered.has_gold().then(|| share(!answer.answered)),
            Metric::CitedRate => answer.answered.then(|| share(!answer.citations.is_empty())),
            Metric::CitedUnaskedRate => {
                answer.answered.then(|| share(!answer.citations.is_empty() && answer.named.is_none()))
            }
            Metric::CitationValidity => validity(self),
            Metric::CitesGoldRate => cites_gold(self),
            P_AT_1 => Some(share(answered.outcome.page == Some(1))),
            _ => None,
        }
    }
}

/// The share of the numbers cited unasked that were sources.
fn validity(one: &ScoredAnswer) -> Option<f64> {
    let answer = &one.answered.answer;
    let (valid, invalid) = (answer.citations.len(), answer.invalid_citations.len());
    (answer.named.is_none() && valid + invalid > 0).then(|| valid as f64 / (valid + invalid) as f64)
}

/// Whether a cited source is on a gold page; of answers that cite one, and that had the gold page among their sources.
fn cites_gold(one: &ScoredAnswer) -> Option<f64> {
    let answered = &one.answered;
    let citations = &answered.answer.citations;
    (answered.has_gold() && !citations.is_empty()).then(|| share(citations.iter().any(|rank| answered.is_gold(*rank))))
}
