//! The JSON contract of design.md §8: fields may be added, never renamed.
//!
//! Takes the records of the rooms, gives what stands on stdout with `--json`. Shares, contributions and scores are
//! fractions, times are milliseconds.

use serde::Serialize;

use crate::attribution::{Attribution, AttributionTimings, How, Method};
use crate::base::{ConversationId, EvidenceId};
use crate::history::{Outcome, TurnRecord, TurnTimings};
use crate::prompt::CutHow;
use crate::retrieval::{Hit, LegReason, LegRole, Mode, QueryLeg, RetrievalTimings, Retrieved, Standing};

/// `ragonite search --json`.
#[derive(Debug, Serialize)]
pub(super) struct SearchJson<'a> {
    query: &'a str,
    mode: Mode,
    hits: &'a [Hit],
    timings_ms: RetrievalTimings,
}

impl<'a> From<&'a Retrieved> for SearchJson<'a> {
    fn from(found: &'a Retrieved) -> Self {
        Self { query: &found.query, mode: found.mode, hits: &found.hits, timings_ms: found.timings_ms }
    }
}

/// `ragonite ask --json`.
#[derive(Debug, Serialize)]
pub(super) struct AskJson<'a> {
    conversation: Option<ConversationId>,
    turn: u32,
    question: &'a str,
    completed_question: &'a str,
    /// The completed question in the language of the documents, where it was searched for in it too.
    translated_question: Option<&'a str>,
    #[serde(flatten)]
    outcome: &'a Outcome,
    answer: &'a str,
    answered: bool,
    citations: &'a [usize],
    invalid_citations: &'a [usize],
    hits: Vec<&'a Hit>,
    /// What a follow-up was searched for; empty for a question that was searched alone.
    legs: Vec<LegJson<'a>>,
    cut: Vec<CutJson>,
    attribution: Option<AttributionJson<'a>>,
    tokens: TokensJson,
    timings_ms: TurnTimings,
}

#[derive(Debug, Serialize)]
struct LegJson<'a> {
    role: LegRole,
    text: &'a str,
    weight: f64,
    why: LegReason,
    standing: &'a Standing,
}

impl<'a> From<&'a QueryLeg> for LegJson<'a> {
    fn from(leg: &'a QueryLeg) -> Self {
        Self { role: leg.role, text: &leg.text, weight: leg.weight, why: leg.why, standing: &leg.standing }
    }
}

#[derive(Debug, Serialize)]
struct CutJson {
    rank: usize,
    evidence: EvidenceId,
    tokens: usize,
    how: CutHow,
}

#[derive(Debug, Default, Serialize)]
struct TokensJson {
    prompt: usize,
    reused: usize,
    generated: usize,
}

#[derive(Debug, Serialize)]
struct AttributionJson<'a> {
    method: Method,
    decisive: bool,
    clusters: Vec<ClusterJson<'a>>,
    timings_ms: AttributionTimings,
}

#[derive(Debug, Serialize)]
struct ClusterJson<'a> {
    hits: &'a [usize],
    how: How,
    contribution: f64,
    share: Option<f64>,
    counterfactual_answer: Option<&'a str>,
}

impl<'a> From<&'a Attribution> for AttributionJson<'a> {
    fn from(attribution: &'a Attribution) -> Self {
        let clusters = attribution.clusters.iter().map(|cluster| ClusterJson {
            hits: &cluster.hits,
            how: cluster.how,
            contribution: cluster.contribution,
            share: cluster.share,
            counterfactual_answer: cluster.counterfactual_answer.as_deref(),
        });
        Self {
            method: attribution.method,
            decisive: attribution.decisive,
            clusters: clusters.collect(),
            timings_ms: attribution.timings_ms,
        }
    }
}

impl<'a> AskJson<'a> {
    /// The turn as the contract has it; `conversation` is none when it could not be stored.
    pub(super) fn new(conversation: Option<ConversationId>, record: &'a TurnRecord) -> Self {
        let answer = record.trace.answer.as_ref();
        let in_prompt = answer.map(|answer| answer.prompt.sources()).unwrap_or_default();
        let hits = record.trace.retrieved.iter().flat_map(|found| &found.hits);
        Self {
            conversation,
            turn: record.number,
            question: &record.question,
            completed_question: &record.completed_question,
            translated_question: record.trace.translation.as_ref().and_then(|translation| translation.text.as_deref()),
            outcome: &record.outcome,
            answer: answer.map_or("", |answer| &answer.text),
            answered: answer.is_some_and(|answer| answer.answered),
            citations: answer.map_or(&[], |answer| &answer.citations),
            invalid_citations: answer.map_or(&[], |answer| &answer.invalid_citations),
            hits: hits.filter(|hit| in_prompt.contains(&hit.rank)).collect(),
            legs: record.trace.retrieved.iter().flat_map(|found| &found.legs).map(LegJson::from).collect(),
            cut: answer.map(cut_of).unwrap_or_default(),
            attribution: record.trace.attribution.as_ref().map(AttributionJson::from),
            tokens: answer.map(tokens_of).unwrap_or_default(),
            timings_ms: record.trace.timings_ms,
        }
    }
}

fn cut_of(answer: &crate::answer::Answer) -> Vec<CutJson> {
    let cut = answer.prompt.cut.iter();
    cut.map(|cut| CutJson { rank: cut.rank, evidence: cut.evidence, tokens: cut.tokens, how: cut.how }).collect()
}

fn tokens_of(answer: &crate::answer::Answer) -> TokensJson {
    let completion = &answer.completion;
    TokensJson {
        prompt: completion.prompt_tokens,
        reused: completion.reused_tokens,
        generated: completion.tokens.len(),
    }
}
