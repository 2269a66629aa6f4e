//! One search from question to hits: both legs, fusion, reranking, loading.
//!
//! Invariants: every rank and score on the way is kept; an empty question and an empty domain give no hits; the same
//! question on the same domain gives the same hits.
//! Not here: making the question self-contained (`answer`), choosing what goes into the prompt (`prompt`).

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::time::Instant;

use super::arrange::arrange;
use super::explain::{Ballot, votes};
use super::fuse::{Fused, fuse};
use super::{
    Hit, Leg, LegRole, Mode, RankedEvidence, RetrievalError, RetrievalSettings, RetrievalTimings, Retrieved, Why,
};
use crate::base::{CancelToken, EvidenceId, Millis};
use crate::evidence::ContextParts;
use crate::index::{Index, QuestionTerms, Scored, StoredEvidence};
use crate::inference::{Embed, Rerank, TextRole};

/// What a search needs.
#[derive(Clone, Copy)]
pub struct Engines<'a> {
    /// The domain.
    pub index: &'a Index,
    /// The embedder the domain was made with.
    pub embedder: &'a dyn Embed,
    /// The cross-encoder, where the profile has one.
    pub reranker: Option<&'a dyn Rerank>,
}

/// Looks for evidence for `query`.
///
/// # Errors
/// When the embedder, the reranker or the index fails, or with [`RetrievalError::Canceled`] between two steps.
pub fn retrieve(
    engines: Engines<'_>,
    query: &str,
    settings: &RetrievalSettings,
    cancel: &CancelToken,
) -> Result<Retrieved, RetrievalError> {
    let started = Instant::now();
    let mut timings = RetrievalTimings::default();
    let mut retrieved = Retrieved { query: query.to_owned(), mode: settings.mode, ..Retrieved::default() };
    if query.trim().is_empty() || settings.top_k == 0 {
        return Ok(retrieved);
    }
    let per_leg = settings.per_leg.max(settings.top_k);
    let filter = settings.filter();
    if settings.mode != Mode::Lexical {
        let embedded = measured(&mut timings.embed, || engines.embedder.embed(&[query], TextRole::Query, cancel))
            .map_err(|error| RetrievalError::of(error, RetrievalError::Embed))?;
        if let Some(vector) = embedded.first() {
            let found = measured(&mut timings.dense, || engines.index.dense_search_among(vector, per_leg, &filter));
            retrieved.dense = ranked(found?);
        }
    }
    cancel.check()?;
    if settings.mode != Mode::Dense {
        let found = measured(&mut timings.lexical, || engines.index.lexical_search_among(query, per_leg, &filter));
        retrieved.lexical = ranked(found?);
    }
    let (dense, lexical) = (ids(&retrieved.dense), ids(&retrieved.lexical));
    let fused = || fuse(&[&dense, &lexical], settings.rrf_k);
    let candidates = measured(&mut timings.fuse, || Candidates::load(engines.index, fused()))?;
    finish(engines, &mut retrieved, candidates, (settings, &mut timings), cancel)?;
    timings.total = Millis::from(started.elapsed());
    retrieved.timings_ms = timings;
    Ok(retrieved)
}

/// Reranks the candidates and makes hits of the best.
pub(super) fn finish(
    engines: Engines<'_>,
    retrieved: &mut Retrieved,
    mut candidates: Candidates,
    (settings, timings): (&RetrievalSettings, &mut RetrievalTimings),
    cancel: &CancelToken,
) -> Result<(), RetrievalError> {
    if let Some(reranker) = engines.reranker {
        cancel.check()?;
        measured(&mut timings.rerank, || candidates.rerank(reranker, &retrieved.query, settings, cancel))?;
    }
    let terms = engines.index.question_terms(&words_of(retrieved))?;
    retrieved.hits = candidates.into_hits(retrieved, &terms, settings);
    Ok(())
}

/// The text whose words are looked for in a hit: what is asked, in the language of the documents too.
fn words_of(retrieved: &Retrieved) -> Cow<'_, str> {
    match retrieved.legs.iter().find(|leg| leg.role == LegRole::Translation) {
        Some(translation) => format!("{} {}", retrieved.query, translation.text).into(),
        None => retrieved.query.as_str().into(),
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

fn ids(list: &[RankedEvidence]) -> Vec<EvidenceId> {
    list.iter().map(|ranked| ranked.evidence).collect()
}

/// The common pool of both searches, in order.
pub(super) struct Candidates {
    fused: Vec<Fused>,
    stored: HashMap<EvidenceId, StoredEvidence>,
    rerank_scores: HashMap<EvidenceId, f64>,
}

impl Candidates {
    pub(super) fn load(index: &Index, mut fused: Vec<Fused>) -> Result<Self, RetrievalError> {
        let pool: Vec<EvidenceId> = fused.iter().map(|fused| fused.evidence).collect();
        let stored: HashMap<_, _> = index.evidences(&pool)?.into_iter().map(|stored| (stored.id, stored)).collect();
        // Another process may have removed one between the search and now.
        fused.retain(|fused| stored.contains_key(&fused.evidence));
        Ok(Self { fused, stored, rerank_scores: HashMap::new() })
    }

    /// Scores the pool and fuses its order with that of the scores (the RAGonite paper, Sec. 5).
    fn rerank(
        &mut self,
        reranker: &dyn Rerank,
        query: &str,
        settings: &RetrievalSettings,
        cancel: &CancelToken,
    ) -> Result<(), RetrievalError> {
        let pool: Vec<EvidenceId> = self.fused.iter().map(|fused| fused.evidence).collect();
        let texts: Vec<String> = pool.iter().map(|id| self.text(*id, settings.context)).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        if texts.is_empty() {
            return Ok(());
        }
        let scores =
            reranker.score(query, &texts, cancel).map_err(|error| RetrievalError::of(error, RetrievalError::Rerank))?;
        self.rerank_scores = pool.iter().copied().zip(scores.into_iter().map(f64::from)).collect();
        let score = |id: &EvidenceId| self.rerank_scores.get(id).copied().unwrap_or(f64::NEG_INFINITY);
        let mut by_score = pool.clone();
        by_score.sort_by(|a, b| score(b).total_cmp(&score(a)));
        self.fused = fuse(&[&pool, &by_score], settings.rrf_k);
        Ok(())
    }

    fn text(&self, id: EvidenceId, parts: ContextParts) -> String {
        self.stored.get(&id).map(|stored| stored.evidence.contextualized(parts)).unwrap_or_default()
    }

    fn into_hits(mut self, retrieved: &Retrieved, terms: &QuestionTerms, settings: &RetrievalSettings) -> Vec<Hit> {
        let in_leg = |list: &[RankedEvidence], id| list.iter().find(|ranked| ranked.evidence == id).copied();
        let ballot = |leg, list| Ballot { leg, query: 0, weight: 1.0, list };
        // Scores of several legs are added up, so that no place in a list says what it gave.
        let ballots = if retrieved.legs.is_empty() {
            vec![ballot(Leg::Dense, &retrieved.dense[..]), ballot(Leg::Lexical, &retrieved.lexical[..])]
        } else {
            Vec::new()
        };
        let mut hits = Vec::with_capacity(settings.top_k.min(self.fused.len()));
        let mut arranged = arrange(&self.fused, &self.stored, &retrieved.query, settings);
        // What has the identifier that is asked for comes before what an embedding takes for alike.
        let named =
            |id: EvidenceId| self.stored.get(&id).map_or(0, |stored| terms.named(&stored.evidence, stored.indexed));
        arranged.sort_by_cached_key(|placed| Reverse(named(placed.evidence)));
        for placed in arranged.into_iter().take(settings.top_k) {
            let Some(stored) = self.stored.remove(&placed.evidence) else { continue };
            let StoredEvidence { id, document, title, url, date, space, ancestors, evidence, indexed } = stored;
            let (dense, lexical) = (in_leg(&retrieved.dense, id), in_leg(&retrieved.lexical, id));
            let text = evidence.contextualized(settings.context);
            let why = Why {
                votes: votes(&ballots, id, settings.rrf_k),
                fused_rank: placed.fused_rank,
                matched: terms.matched(&evidence, indexed).into_iter().map(|matched| matched.word).collect(),
            };
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
                dense_score: dense.map(|ranked| ranked.score),
                lexical_rank: lexical.map(|ranked| ranked.rank),
                lexical_score: lexical.map(|ranked| ranked.score),
                rerank_score: self.rerank_scores.get(&id).copied(),
                copies: placed.copies,
                why,
            });
        }
        hits
    }
}
