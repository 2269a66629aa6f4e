//! Scores answers: the rating of a judge, and measures without a model.
//!
//! Not here: generating answers (`turn`), judging (`judge`).

use serde::Serialize;

use super::aggregate::Measured;
use super::metric::{Metric, P_AT_1, both};
use super::overlap::Overlap;
use super::score::share;
use super::{Answered, Question, Verdict};
use ragonite_rag::answer::SupportVerdict;
use ragonite_rag::answer::citation::without_marks;

/// An answer with its scores.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoredAnswer {
    /// The answer.
    pub answered: Answered,
    /// The result of judging.
    pub judged: Judgement,
    /// Words shared with the reference answer.
    pub overlap: Overlap,
}

/// The result of judging.
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
    /// Scores an answer against the reference answer.
    #[must_use]
    pub fn new(answered: Answered, judged: Judgement) -> Self {
        let text = if answered.answer.answered { answered.answer.text.as_str() } else { "" };
        let overlap = Overlap::of(text, &answered.question.answer, &answered.question.facts);
        Self { answered, judged, overlap }
    }

    /// The answer without citations, for a judge.
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

/// Metrics of the text of answers.
pub const ABOUT_TEXT: &[Metric] =
    &[Metric::AnswerRelevance, Metric::NotJudgedRate, Metric::TokenF1, Metric::GoldRecall, Metric::GoldContained];

/// Metrics of the sources of answers.
pub const ABOUT_SOURCES: &[Metric] = &[
    Metric::OosRate,
    Metric::ExpectedOosRate,
    Metric::RefusedWithGoldRate,
    Metric::CitedRate,
    Metric::CitedUnaskedRate,
    Metric::CitationValidity,
    Metric::CitesGoldRate,
    Metric::UnsupportedRate,
    Metric::PartlySupportedRate,
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
            Metric::UnsupportedRate => support(self, SupportVerdict::Unsupported),
            Metric::PartlySupportedRate => support(self, SupportVerdict::Partly),
            P_AT_1 => Some(share(answered.outcome.page == Some(1))),
            _ => None,
        }
    }
}

/// Share of valid citations among those that were not repaired.
fn validity(one: &ScoredAnswer) -> Option<f64> {
    let answer = &one.answered.answer;
    let (valid, invalid) = (answer.citations.len(), answer.invalid_citations.len());
    (answer.named.is_none() && valid + invalid > 0).then(|| valid as f64 / (valid + invalid) as f64)
}

/// Whether this is the verdict on the support of the answer; none for an answer without a verdict.
fn support(one: &ScoredAnswer, verdict: SupportVerdict) -> Option<f64> {
    one.answered.answer.support().map(|support| share(support.verdict == verdict))
}

/// Whether a cited source is on a gold page; only for answers with citations and the gold page among their sources.
fn cites_gold(one: &ScoredAnswer) -> Option<f64> {
    let answered = &one.answered;
    let citations = &answered.answer.citations;
    (answered.has_gold() && !citations.is_empty()).then(|| share(citations.iter().any(|rank| answered.is_gold(*rank))))
}
