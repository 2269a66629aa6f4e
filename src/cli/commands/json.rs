//! The JSON contract: fields may be added, never renamed.
//!
//! Takes records of the other crates, gives the output of `--json`. Shares, contributions and scores are fractions,
//! times are milliseconds.

use serde::Serialize;

use ragonite_base::{ConversationId, EvidenceId};
use ragonite_history::{Outcome, TurnRecord, TurnTimings};
use ragonite_rag::answer::{Answer, AskedDate, MiscitedNumber, Support};
use ragonite_rag::attribution::{Attribution, AttributionTimings, Method, Provenance, Sentence, SentenceCluster};
use ragonite_rag::prompt::CutHow;
use ragonite_rag::retrieval::{
    Dependence, Hit, MatchQuality, Mode, RetrievalTimings, Retrieved, SubQuery, SubQueryRole, WeightReason,
};

/// `ragonite search --json`.
#[derive(Debug, Serialize)]
pub(super) struct SearchJson<'a> {
    query: &'a str,
    /// The translated query, where it was searched too.
    translated: Option<&'a str>,
    mode: Mode,
    hits: &'a [Hit],
    /// Identifiers of the query that occur in no document.
    absent: &'a [String],
    /// How well the hits fit the query; null without hits.
    r#match: Option<&'a MatchQuality>,
    /// The day of a temporal expression in the query.
    #[serde(skip_serializing_if = "Option::is_none")]
    day: Option<String>,
    timings_ms: RetrievalTimings,
}

impl<'a> SearchJson<'a> {
    /// The result of a query and its translation.
    pub(super) fn new(query: &'a str, translated: Option<&'a str>, found: &'a Retrieved) -> Self {
        let Retrieved { mode, hits, unknown_terms: absent, quality, day, timings_ms, .. } = found;
        let (day, r#match) = (day.map(|day| day.to_string()), quality.as_ref());
        Self { query, translated, mode: *mode, hits, absent, r#match, day, timings_ms: *timings_ms }
    }
}

/// `ragonite ask --json`.
#[expect(clippy::struct_excessive_bools, reason = "the fields of the contract")]
#[derive(Debug, Serialize)]
pub(super) struct AskJson<'a> {
    conversation: Option<ConversationId>,
    turn: u32,
    question: &'a str,
    completed_question: &'a str,
    /// Id of the model that answered.
    generator: &'a str,
    /// The translated question, where it was searched too.
    translated_question: Option<&'a str>,
    #[serde(flatten)]
    outcome: &'a Outcome,
    answer: &'a str,
    answered: bool,
    citations: &'a [usize],
    invalid_citations: &'a [usize],
    /// A date of the question that no cited source has, with the sources that have it.
    date_not_cited: Option<AskedDate>,
    /// Figures of the answer that are in no source and not in the question.
    figures_in_no_source: Vec<String>,
    /// Figures of the answer that only uncited sources have, with those sources.
    figures_miscited: Vec<MiscitedNumber>,
    /// Uncited sources with the content of the answer.
    said_by_uncited: Vec<usize>,
    /// What the model said without support of its sources, if that was withheld.
    #[serde(skip_serializing_if = "Option::is_none")]
    withheld: Option<&'a str>,
    /// How far the sources support the answer; null for an abstention.
    support: Option<Support>,
    /// Whether the citations come from citation repair.
    citations_asked_for: bool,
    /// Whether the answer was cut at the token limit.
    answer_cut: bool,
    hits: Vec<&'a Hit>,
    /// Identifiers of the question that occur in no document.
    absent: &'a [String],
    /// How well the hits fit the question; null without hits.
    r#match: Option<&'a MatchQuality>,
    /// Whether the model was not asked because no document fits.
    stopped_without_match: bool,
    /// The sub-queries; empty for a question that was searched alone.
    legs: Vec<LegJson<'a>>,
    cut: Vec<CutJson>,
    attribution: Option<AttributionJson<'a>>,
    tokens: TokensJson,
    timings_ms: TurnTimings,
}

#[derive(Debug, Serialize)]
struct LegJson<'a> {
    role: SubQueryRole,
    text: &'a str,
    weight: f64,
    why: WeightReason,
    standing: &'a Dependence,
}

impl<'a> From<&'a SubQuery> for LegJson<'a> {
    fn from(leg: &'a SubQuery) -> Self {
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
    /// Clusters that were not tested because the explanation was stopped.
    missing: usize,
    /// The regenerated answer that is explained, where it is not the stored one.
    instead: Option<&'a str>,
    /// Sentence attribution; empty where unknown.
    sentences: Vec<SentenceJson<'a>>,
    /// Text of each token, where requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens: Option<&'a [String]>,
    /// The tokens that only cite a source, where requested: their drops are 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    citation_tokens: Option<&'a [usize]>,
    timings_ms: AttributionTimings,
}

#[derive(Debug, Serialize)]
struct ClusterJson<'a> {
    hits: &'a [usize],
    how: Provenance,
    contribution: f64,
    share: Option<f64>,
    counterfactual_answer: Option<&'a str>,
    /// Drop of the answer's logprob without the cluster; null where not computed.
    drop: Option<f64>,
    /// How the drop was computed: `preview` masks, `logprob` leaves out; null without a drop.
    drops_how: Option<Provenance>,
    /// Drop of each token, where requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    drops: Option<&'a [f32]>,
    /// Divergence at each of the first tokens in bits, where requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    divergences: Option<&'a [f32]>,
}

/// A sentence of the answer with its attribution.
#[derive(Debug, Serialize)]
struct SentenceJson<'a> {
    /// From 1.
    number: usize,
    text: &'a str,
    /// Index of its first token.
    first_token: usize,
    tokens: usize,
    /// The sources that it cites, or that the end of its paragraph cites for it.
    cited: &'a [usize],
    decisive: bool,
    clusters: &'a [SentenceCluster],
}

/// Whether values per token are included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tokens {
    /// Values per token.
    Each,
    /// Sums only.
    Sums,
}

impl<'a> AttributionJson<'a> {
    fn new(attribution: &'a Attribution, tokens: Tokens) -> Self {
        let each = tokens == Tokens::Each;
        let clusters = attribution.clusters.iter().map(|cluster| ClusterJson {
            drop: cluster.drop(),
            drops_how: attribution.how_of_drops(cluster),
            drops: each.then_some(cluster.drops.as_slice()),
            divergences: each.then_some(cluster.divergences.as_slice()),
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
            missing: attribution.missing,
            instead: attribution.instead.as_deref(),
            sentences: (1..)
                .zip(&attribution.sentences)
                .map(|(number, sentence)| SentenceJson::new(number, sentence))
                .collect(),
            tokens: each.then_some(attribution.tokens.as_slice()),
            citation_tokens: each.then_some(attribution.citation_tokens.as_slice()),
            timings_ms: attribution.timings_ms,
        }
    }
}

impl<'a> SentenceJson<'a> {
    fn new(number: usize, sentence: &'a Sentence) -> Self {
        Self {
            number,
            text: &sentence.text,
            first_token: sentence.tokens.start,
            tokens: sentence.tokens.len(),
            cited: &sentence.cited,
            decisive: sentence.decisive,
            clusters: &sentence.clusters,
        }
    }
}

/// `ragonite explain --json`.
#[derive(Debug, Serialize)]
pub(super) struct ExplainJson<'a> {
    conversation: ConversationId,
    turn: u32,
    question: &'a str,
    completed_question: &'a str,
    /// Id of the model of the answer and of the counterfactual answers.
    generator: &'a str,
    answer: &'a str,
    attribution: AttributionJson<'a>,
    /// The requested sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    sentence: Option<SentenceJson<'a>>,
}

impl<'a> ExplainJson<'a> {
    /// An explained turn; `sentence` counts from 1.
    pub(super) fn new(
        conversation: ConversationId,
        record: &'a TurnRecord,
        attribution: &'a Attribution,
        sentence: Option<usize>,
        tokens: Tokens,
    ) -> Self {
        let chosen = sentence.and_then(|number| Some((number, attribution.sentences.get(number.checked_sub(1)?)?)));
        Self {
            conversation,
            turn: record.number,
            question: &record.question,
            completed_question: &record.completed_question,
            generator: &record.trace.generator,
            answer: record.trace.answer.as_ref().map_or("", |answer| &answer.text),
            attribution: AttributionJson::new(attribution, tokens),
            sentence: chosen.map(|(number, sentence)| SentenceJson::new(number, sentence)),
        }
    }
}

impl<'a> AskJson<'a> {
    /// The turn in the contract; `conversation` is none where it could not be stored.
    pub(super) fn new(conversation: Option<ConversationId>, record: &'a TurnRecord) -> Self {
        let answer = record.trace.answer.as_ref();
        let in_prompt = answer.map(|answer| answer.prompt.sources()).unwrap_or_default();
        let hits = record.trace.retrieved.iter().flat_map(|found| &found.hits);
        Self {
            conversation,
            turn: record.number,
            question: &record.question,
            completed_question: &record.completed_question,
            generator: &record.trace.generator,
            translated_question: record.trace.translation.as_ref().and_then(|translation| translation.text.as_deref()),
            outcome: &record.outcome,
            answer: answer.map_or("", |answer| &answer.text),
            answered: answer.is_some_and(|answer| answer.answered),
            citations: answer.map_or(&[], |answer| &answer.citations),
            invalid_citations: answer.map_or(&[], |answer| &answer.invalid_citations),
            date_not_cited: answer.and_then(Answer::uncited_date),
            figures_in_no_source: answer.map(Answer::ungrounded_numbers).unwrap_or_default(),
            figures_miscited: answer.map(Answer::miscited_numbers).unwrap_or_default(),
            said_by_uncited: answer.map(Answer::overlapping_uncited).unwrap_or_default(),
            withheld: answer.and_then(|answer| answer.withheld.as_deref()),
            support: record.trace.support(),
            citations_asked_for: answer.is_some_and(|answer| answer.named.is_some()),
            answer_cut: answer.is_some_and(Answer::is_cut),
            hits: hits.filter(|hit| in_prompt.contains(&hit.rank)).collect(),
            absent: record.trace.retrieved.as_ref().map_or(&[], |found| &found.unknown_terms),
            r#match: record.trace.retrieved.as_ref().and_then(|found| found.quality.as_ref()),
            stopped_without_match: record.trace.stopped_without_match().is_some(),
            legs: record.trace.retrieved.iter().flat_map(|found| &found.sub_queries).map(LegJson::from).collect(),
            cut: answer.map(cut_of).unwrap_or_default(),
            attribution: record.trace.attribution.as_ref().map(|one| AttributionJson::new(one, Tokens::Sums)),
            tokens: answer.map(tokens_of).unwrap_or_default(),
            timings_ms: record.trace.timings_ms,
        }
    }
}

fn cut_of(answer: &Answer) -> Vec<CutJson> {
    let cut = answer.prompt.cut.iter();
    cut.map(|cut| CutJson { rank: cut.rank, evidence: cut.evidence, tokens: cut.tokens, how: cut.how }).collect()
}

fn tokens_of(answer: &Answer) -> TokensJson {
    let completion = &answer.completion;
    TokensJson {
        prompt: completion.prompt_tokens,
        reused: completion.reused_tokens,
        generated: completion.tokens.len(),
    }
}
