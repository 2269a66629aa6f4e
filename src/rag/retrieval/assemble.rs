//! From the fused list to hits: loads evidences, reranks, post-processes, and explains each place.
//!
//! Invariants: every rank and score is kept; the same question on the same domain gives the same hits (on the same day,
//! if the question counts days from today).
//! Not here: searching and fusing (`search`), choosing what goes into the prompt (`prompt`).

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::time::Instant;

use time::Date;

use super::citation_boost::CitedBoost;
use super::hit_explanation::{PlaceReason, Scales, score_parts};
use super::overrides::place;
use super::postprocess::{ArrangedHit, postprocess};
use super::rrf::{Fused, rrf};
use super::temporal_expr::resolve_date;
use super::{
    Hit, HitExplanation, RankedEvidence, RetrievalError, RetrievalSettings, RetrievalTimings, Retrieved, Retriever,
    SubQuery, SubQueryRole,
};
use ragonite_base::{CancelToken, EvidenceId, Millis};
use ragonite_document::evidence::ContextParts;
use ragonite_index::{Index, QuestionTerms, Scored, StoredEvidence};
use ragonite_inference::{Embed, Rerank};

/// Candidates that are reranked, at least `top_k`; the others keep their order below. The paper reranks at most 20; a
/// cross-encoder on a CPU takes a second for a few.
const RERANK_POOL: usize = 30;

/// The domain and the models of a search.
#[derive(Clone, Copy)]
pub struct SearchContext<'a> {
    /// The index of the domain.
    pub index: &'a Index,
    /// The embedder that made the vectors of the domain.
    pub embedder: &'a dyn Embed,
    /// The cross-encoder, if the profile has one.
    pub reranker: Option<&'a dyn Rerank>,
}

/// The sub-queries with their results, and the scales of the retrievers' scores.
#[derive(Clone, Copy)]
pub(super) struct Searched<'a> {
    pub(super) sub_queries: &'a [SubQuery],
    pub(super) scales: Scales,
}

/// Reranks the candidates and makes hits of the best.
pub(super) fn assemble_hits(
    engines: SearchContext<'_>,
    retrieved: &mut Retrieved,
    mut candidates: Candidates,
    searched: Searched<'_>,
    settings: &RetrievalSettings,
    timings: &mut RetrievalTimings,
    cancel: &CancelToken,
) -> Result<(), RetrievalError> {
    if let Some(reranker) = engines.reranker {
        cancel.check()?;
        measured(&mut timings.rerank, || candidates.rerank(reranker, &retrieved.query, settings, cancel))?;
    }
    let terms = engines.index.question_terms(&words_of(&retrieved.query, searched.sub_queries))?;
    retrieved.unknown_terms = terms.absent().to_vec();
    let identifiers = identifier_query(searched.sub_queries).map(|text| engines.index.question_terms(text));
    let identifiers = identifiers.transpose()?.unwrap_or_default();
    let (hits, day) = candidates.into_hits(retrieved, searched, &terms, &identifiers, settings);
    (retrieved.hits, retrieved.day) = (hits, day);
    Ok(())
}

/// The first form of the question, as typed, completed or translated, that consists of identifiers only.
fn identifier_query(sub_queries: &[SubQuery]) -> Option<&str> {
    let texts = sub_queries
        .iter()
        .filter(|sub_query| sub_query.role != SubQueryRole::History)
        .map(|sub_query| sub_query.text.as_str());
    texts.into_iter().find(|text| Index::is_of_identifiers(text))
}

/// The text whose words are highlighted in a hit: the question with its translation.
fn words_of<'a>(query: &'a str, sub_queries: &[SubQuery]) -> Cow<'a, str> {
    match sub_queries.iter().find(|sub_query| sub_query.role == SubQueryRole::Translation) {
        Some(translation) => format!("{query} {}", translation.text).into(),
        None => query.into(),
    }
}

/// The question with the typed form: the completed form may have lost a "yesterday".
fn with_typed<'a>(query: &'a str, sub_queries: &[SubQuery]) -> Cow<'a, str> {
    match sub_queries.iter().find(|sub_query| sub_query.role == SubQueryRole::Raw) {
        Some(typed) if !query.contains(&typed.text) => format!("{query} {}", typed.text).into(),
        _ => query.into(),
    }
}

pub(super) fn measured<T>(time: &mut Millis, work: impl FnOnce() -> T) -> T {
    let started = Instant::now();
    let result = work();
    *time = *time + Millis::from(started.elapsed());
    result
}

pub(super) fn ranked(found: Vec<Scored>) -> Vec<RankedEvidence> {
    (1..).zip(found).map(|(rank, Scored { evidence, score })| RankedEvidence { evidence, rank, score }).collect()
}

/// Rank and score after fusion.
#[derive(Debug, Clone, Copy)]
struct FusedPlace {
    rank: usize,
    score: f64,
}

/// The fused candidates, best first.
pub(super) struct Candidates {
    /// In the order of the hits: after reranking, the fusion of both orders.
    fused: Vec<Fused>,
    /// Place before reranking.
    searched: HashMap<EvidenceId, FusedPlace>,
    /// Cosines of candidates that are in no dense list.
    cosines: HashMap<EvidenceId, f64>,
    stored: HashMap<EvidenceId, StoredEvidence>,
    boost: CitedBoost,
    /// Score gained from citations of the document.
    cited: HashMap<EvidenceId, f64>,
    rerank_scores: HashMap<EvidenceId, f64>,
    today: Option<Date>,
}

impl Candidates {
    pub(super) fn load(
        index: &Index,
        mut fused: Vec<Fused>,
        cosines: HashMap<EvidenceId, f64>,
        boost: CitedBoost,
    ) -> Result<Self, RetrievalError> {
        let pool: Vec<EvidenceId> = fused.iter().map(|fused| fused.evidence).collect();
        let stored: HashMap<_, _> = index.evidences(&pool)?.into_iter().map(|stored| (stored.id, stored)).collect();
        // Another process may have removed an evidence since the search.
        fused.retain(|fused| stored.contains_key(&fused.evidence));
        let document = |id: &EvidenceId| stored.get(id).map(|stored| stored.document);
        let cited = boost.apply(&mut fused, document);
        let searched =
            (1..).zip(&fused).map(|(rank, one)| (one.evidence, FusedPlace { rank, score: one.score })).collect();
        Ok(Self { fused, searched, cosines, stored, boost, cited, rerank_scores: HashMap::new(), today: None })
    }

    pub(super) fn asked_on(self, today: Option<Date>) -> Self {
        Self { today, ..self }
    }

    /// Scores the best candidates and fuses their order with the order of the scores (RAGonite paper, Sec. 5).
    fn rerank(
        &mut self,
        reranker: &dyn Rerank,
        query: &str,
        settings: &RetrievalSettings,
        cancel: &CancelToken,
    ) -> Result<(), RetrievalError> {
        let all: Vec<EvidenceId> = self.fused.iter().map(|fused| fused.evidence).collect();
        let pool = &all[..all.len().min(RERANK_POOL.max(settings.top_k))];
        let texts: Vec<String> = pool.iter().map(|id| self.text(*id, settings.context)).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        if texts.is_empty() {
            return Ok(());
        }
        let scores =
            reranker.score(query, &texts, cancel).map_err(|error| RetrievalError::of(error, RetrievalError::Rerank))?;
        self.rerank_scores = pool.iter().copied().zip(scores.into_iter().map(f64::from)).collect();
        let score = |id: &EvidenceId| self.rerank_scores.get(id).copied().unwrap_or(f64::NEG_INFINITY);
        let mut by_score = pool.to_vec();
        by_score.sort_by(|a, b| score(b).total_cmp(&score(a)));
        // A candidate that was not reranked is in one list only, at its end, so it comes after all others.
        self.fused = rrf(&[&all, &by_score], settings.rrf_k);
        Ok(())
    }

    fn text(&self, id: EvidenceId, parts: ContextParts) -> String {
        self.stored.get(&id).map(|stored| stored.evidence.contextualized(parts)).unwrap_or_default()
    }

    /// The best rank before reranking of a hit and its near-duplicates.
    fn best_searched(&self, placed: &ArrangedHit) -> FusedPlace {
        let all = placed.copies.iter().map(|copied| copied.evidence).chain([placed.evidence]);
        let best = all.filter_map(|id| self.searched.get(&id)).min_by_key(|searched| searched.rank);
        best.copied().unwrap_or(FusedPlace { rank: 0, score: 0.0 })
    }

    fn why(&self, placed: &ArrangedHit, searched: Searched<'_>, lexical: Option<RankedEvidence>) -> HitExplanation {
        let FusedPlace { rank, score } = self.best_searched(placed);
        let mut parts = score_parts(searched.sub_queries, searched.scales, placed.evidence);
        // Results beyond the depth of the lexical sum contributed nothing.
        for part in parts.iter_mut().filter(|part| part.retriever == Retriever::Lexical && lexical.is_none()) {
            part.points = 0.0;
        }
        let cited = self.cited.get(&placed.evidence).copied().unwrap_or_default();
        HitExplanation { parts, fused_rank: rank, fused_score: score, cited, ..HitExplanation::default() }
    }

    fn into_hits(
        mut self,
        retrieved: &Retrieved,
        searched: Searched<'_>,
        terms: &QuestionTerms,
        identifiers: &QuestionTerms,
        settings: &RetrievalSettings,
    ) -> (Vec<Hit>, Option<Date>) {
        let in_leg = |list: &[RankedEvidence], id| list.iter().find(|ranked| ranked.evidence == id).copied();
        let mut hits = Vec::with_capacity(settings.top_k.min(self.fused.len()));
        let asked = with_typed(&retrieved.query, searched.sub_queries);
        let meant = resolve_date(&asked, self.today);
        let (mut arranged, day) = postprocess(&self.fused, &self.stored, &asked, meant, self.today, settings);
        // Evidences with the identifier in question come before evidences that are only similar.
        let named = |id: EvidenceId| {
            self.stored.get(&id).map(|stored| identifiers.named(&stored.evidence, stored.indexed)).unwrap_or_default()
        };
        arranged.sort_by_cached_key(|placed| Reverse(named(placed.evidence)));
        let kept = self.boost.reserve_slot(&mut arranged, |id| self.stored.get(id).map(|stored| stored.document));
        arranged.sort_by_cached_key(|placed| {
            let copies = placed.copies.iter().map(|copied| copied.evidence);
            place(&settings.picks, std::iter::once(placed.evidence).chain(copies))
        });
        for placed in arranged.into_iter().take(settings.top_k) {
            let Some(stored) = self.stored.remove(&placed.evidence) else { continue };
            let lexical = in_leg(&retrieved.lexical, placed.evidence);
            let why = self.why(&placed, searched, lexical);
            let StoredEvidence { id, document, title, url, date, space, ancestors, evidence, indexed } = stored;
            let dense = in_leg(&retrieved.dense, id);
            let text = evidence.contextualized(settings.context);
            let matched = terms.matched(&evidence, indexed).into_iter().map(|matched| matched.word).collect();
            hits.push(Hit {
                rank: hits.len() + 1,
                evidence: id,
                document,
                title,
                heading: evidence.context.heading().to_owned(),
                url,
                date,
                space,
                ancestors,
                location: evidence.location.clone(),
                kind: evidence.kind,
                table: evidence.table,
                row: evidence.row,
                text,
                content: evidence.content,
                links: evidence.links,
                context: evidence.context,
                fused: placed.score,
                dense_rank: dense.map(|ranked| ranked.rank),
                dense_score: dense.map(|ranked| ranked.score).or_else(|| self.cosines.get(&id).copied()),
                lexical_rank: lexical.map(|ranked| ranked.rank),
                lexical_score: lexical.map(|ranked| ranked.score),
                rerank_score: self.rerank_scores.get(&id).copied(),
                copies: placed.copies,
                version: placed.version,
                why: HitExplanation {
                    place: if kept == Some(id) { PlaceReason::Kept } else { PlaceReason::Score },
                    matched,
                    ..why
                },
            });
        }
        (hits, day)
    }
}
