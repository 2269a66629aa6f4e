//! The search for a question and its sub-queries: completed form, translation and earlier questions.
//!
//! A follow-up alone finds the wrong page most of the time, and so does a whole conversation once its topic has
//! changed. So every sub-query is searched by both retrievers and weighted. If both find the same document, the
//! sub-query is sure of it; this also shows where the topic changed (`query_weights`). `fuse_sub_queries` merges the
//! lists.
//! Invariants: a question without conversation and translation is one sub-query of weight 1 on the same path; every
//! sub-query, its weight and the reason are kept.
//! Not here: completing the question (`answer`), which turns belong to a conversation (`app`).

use std::collections::{BTreeSet, HashMap, HashSet};
use std::time::Instant;

use super::assemble::{Candidates, Searched, assemble_hits, measured, ranked};
use super::citation_boost::CitedBoost;
use super::fuse_sub_queries::{FusedLists, ScoreSums, fuse_by_rank, fuse_by_score, lexical_sum};
use super::match_quality::match_quality;
use super::overrides::with_first;
use super::{
    Confidence, Dependence, Discarded, Fusion, Hit, Mode, RankedEvidence, RetrievalError, RetrievalSettings,
    RetrievalTimings, Retrieved, SearchContext, SearchInput, SubQuery, SubQueryFeatures, SubQueryRole, TopicShift,
    WeightReason, dependence, topic_shift, weigh,
};
use ragonite_base::text::lower_words;
use ragonite_base::{CancelToken, EvidenceId, Millis, clean_line};
use ragonite_index::Index;
use ragonite_inference::{Embedding, TextRole};

/// Most earlier questions that are searched; the weight of older ones has decayed.
const MAX_EARLIER: usize = 8;

/// Characters of an earlier question that are searched; the rest says no more about the topic.
const MAX_EARLIER_CHARS: usize = 400;

/// Lexical results of each sub-query that are summed. Later results add next to nothing.
const DEPTH: usize = 100;

/// Evidences of each of the two sums that score fusion takes, at least as many as hits are wanted.
const POOL: usize = 50;

/// Searches for `query` without a conversation.
///
/// # Errors
/// When the embedder, the reranker or the index fails, or with [`RetrievalError::Canceled`] between two steps.
pub fn search_alone(
    engines: SearchContext<'_>,
    query: &str,
    settings: &RetrievalSettings,
    cancel: &CancelToken,
) -> Result<Retrieved, RetrievalError> {
    let alone = SearchInput { question: query, completed: None, translated: None, earlier: &[], today: None };
    search(engines, &alone, settings, cancel)
}

/// Searches for a question in its conversation.
///
/// # Errors
/// When the embedder, the reranker or the index fails, or with [`RetrievalError::Canceled`] between two steps.
pub fn search(
    engines: SearchContext<'_>,
    conversation: &SearchInput<'_>,
    settings: &RetrievalSettings,
    cancel: &CancelToken,
) -> Result<Retrieved, RetrievalError> {
    let started = Instant::now();
    let question = clean_line(conversation.completed.unwrap_or(conversation.question));
    let mut retrieved = Retrieved { query: question.clone(), mode: settings.mode, ..Retrieved::default() };
    if question.trim().is_empty() || settings.top_k == 0 {
        return Ok(retrieved);
    }
    let mut sub_queries = build_sub_queries(conversation);
    let mut search = Searcher { engines, settings, cancel, timings: RetrievalTimings::default() };
    let vectors = search.embed(&sub_queries)?;
    search.fill(&mut sub_queries, &vectors)?;
    let is_alone = sub_queries.len() == 1;
    if !is_alone {
        assign_weights(engines.index, &mut sub_queries)?;
        retrieved.query = question_of(&sub_queries);
    }
    let boost = if settings.fusion == Fusion::Blend { CitedBoost::of(&sub_queries) } else { CitedBoost::default() };
    let FusedLists { dense, lexical, cosines, fused, scales } = search.fused(&sub_queries, &vectors, &boost)?;
    let fused = with_first(fused, &settings.picks);
    let mut timings = search.timings;
    let candidates = measured(&mut timings.fuse, || Candidates::load(engines.index, fused, cosines, boost))?;
    let candidates = candidates.asked_on(conversation.today);
    (retrieved.dense, retrieved.lexical) = (dense, lexical);
    let searched = Searched { sub_queries: &sub_queries, scales };
    assemble_hits(engines, &mut retrieved, candidates, searched, settings, &mut timings, cancel)?;
    retrieved.quality = match_quality(engines, &retrieved, &sub_queries, settings, cancel)?;
    if !is_alone {
        retrieved.sub_queries = sub_queries;
    }
    let shown = settings.per_retriever.max(settings.top_k);
    let lists = retrieved.sub_queries.iter_mut().flat_map(|sub_query| [&mut sub_query.dense, &mut sub_query.lexical]);
    lists.chain([&mut retrieved.dense, &mut retrieved.lexical]).for_each(|list| list.truncate(shown));
    retrieved.discarded = discarded(engines.index, &retrieved)?;
    timings.total = Millis::from(started.elapsed());
    retrieved.timings_ms = timings;
    Ok(retrieved)
}

/// Ranks of the candidates that are neither hits nor near-duplicates of a hit.
fn discarded(index: &Index, retrieved: &Retrieved) -> Result<Vec<Discarded>, RetrievalError> {
    let copies = |hit: &Hit| hit.copies.iter().map(|copied| copied.evidence).collect::<Vec<_>>();
    let shown: HashSet<EvidenceId> =
        retrieved.hits.iter().flat_map(|hit| copies(hit).into_iter().chain([hit.evidence])).collect();
    let listed = retrieved.dense.iter().chain(&retrieved.lexical).map(|ranked| ranked.evidence);
    let others: BTreeSet<EvidenceId> = listed.filter(|evidence| !shown.contains(evidence)).collect();
    let stored = index.evidences(&others.into_iter().collect::<Vec<_>>())?.into_iter();
    let passed = stored.map(|stored| Discarded {
        evidence: stored.id,
        title: stored.title,
        heading: stored.evidence.context.heading().to_owned(),
    });
    Ok(passed.collect())
}

/// The question as typed, its completed form and its translation where they differ, then the earlier questions, newest
/// first. Without earlier questions and translation: the completed question alone.
fn build_sub_queries(conversation: &SearchInput<'_>) -> Vec<SubQuery> {
    let sub_query = |role, text: String| SubQuery {
        role,
        standing: dependence(&text),
        text,
        weight: 1.0,
        why: WeightReason::default(),
        dense: Vec::new(),
        lexical: Vec::new(),
        cited: Vec::new(),
    };
    let question = clean_line(conversation.question);
    let completed = conversation.completed.map(clean_line).filter(|completed| *completed != question);
    let translated = conversation.translated.map(clean_line);
    let is_new = |text: &String| !same_words(text, completed.as_ref().unwrap_or(&question));
    let translated = translated.filter(|text| !text.trim().is_empty() && !same_words(text, &question) && is_new(text));
    let earlier = conversation.earlier.iter().rev().map(|turn| (clean_line(&turn.question), &turn.cited));
    let earlier = earlier.filter(|(text, _)| !text.trim().is_empty()).take(MAX_EARLIER);
    let mut earlier = earlier.map(|(text, cited)| (text.chars().take(MAX_EARLIER_CHARS).collect(), cited)).peekable();
    if question.trim().is_empty() || (earlier.peek().is_none() && translated.is_none()) {
        return vec![sub_query(SubQueryRole::Raw, completed.unwrap_or(question))];
    }
    let mut sub_queries = vec![sub_query(SubQueryRole::Raw, question)];
    sub_queries.extend(completed.map(|completed| sub_query(SubQueryRole::Rewrite, completed)));
    sub_queries.extend(translated.map(|translated| sub_query(SubQueryRole::Translation, translated)));
    sub_queries.extend(
        earlier.map(|(text, cited)| SubQuery { cited: cited.clone(), ..sub_query(SubQueryRole::History, text) }),
    );
    sub_queries
}

/// Whether two texts differ at most in case, white space and punctuation.
fn same_words(one: &str, other: &str) -> bool {
    lower_words(one).eq(lower_words(other))
}

fn assign_weights(index: &Index, sub_queries: &mut [SubQuery]) -> Result<(), RetrievalError> {
    let now = sub_queries.first().map(|raw| topic_shift(&raw.text)).unwrap_or_default();
    let features = sub_queries.iter().map(|sub_query| {
        let shift = topic_shift(&sub_query.text);
        let of_question = if sub_query.role == SubQueryRole::History { shift } else { now };
        Ok(SubQueryFeatures {
            role: sub_query.role,
            confidence: confidence(index, sub_query, of_question)?,
            topic_shift: shift,
        })
    });
    let features = features.collect::<Result<Vec<_>, RetrievalError>>()?;
    for (sub_query, (weight, why)) in sub_queries.iter_mut().zip(weigh(&features)) {
        (sub_query.weight, sub_query.why) = (weight, why);
    }
    Ok(())
}

/// The best single text for the question. The reranker and the matched words of a hit need one.
///
/// It is the completed question, or the question as typed if that can be understood alone; otherwise the previous
/// question is put before it.
fn question_of(sub_queries: &[SubQuery]) -> String {
    let of = |role| sub_queries.iter().find(|sub_query| sub_query.role == role);
    let Some(raw) = of(SubQueryRole::Raw) else { return String::new() };
    if let Some(rewrite) = of(SubQueryRole::Rewrite) {
        return rewrite.text.clone();
    }
    match of(SubQueryRole::History).filter(|before| before.why == WeightReason::SameTopic) {
        Some(before) if raw.standing != Dependence::Complete => format!("{} {}", before.text, raw.text),
        _ => raw.text.clone(),
    }
}

/// How sure a sub-query is: of a document if both retrievers rank it first. A short question that leaves the topic ("By
/// the way, what is a buoy?") counts as complete, because earlier questions say no more about it.
fn confidence(index: &Index, sub_query: &SubQuery, shift: TopicShift) -> Result<Confidence, RetrievalError> {
    let is_alone = matches!((&sub_query.standing, shift), (Dependence::Thin { words: 1.. }, TopicShift::Leaves));
    if sub_query.standing != Dependence::Complete && !is_alone {
        return Ok(Confidence::Low);
    }
    let (Some(dense), Some(lexical)) = (sub_query.dense.first(), sub_query.lexical.first()) else {
        return Ok(Confidence::Medium);
    };
    let best = index.evidences(&[dense.evidence, lexical.evidence])?;
    Ok(match best.as_slice() {
        [one, other] if one.document == other.document => Confidence::Document(one.document),
        _ => Confidence::Medium,
    })
}

struct Searcher<'a> {
    engines: SearchContext<'a>,
    settings: &'a RetrievalSettings,
    cancel: &'a CancelToken,
    timings: RetrievalTimings,
}

impl Searcher<'_> {
    /// The vectors of the sub-queries in their order; empty without dense retrieval.
    fn embed(&mut self, sub_queries: &[SubQuery]) -> Result<Vec<Embedding>, RetrievalError> {
        if self.settings.mode == Mode::Lexical {
            return Ok(Vec::new());
        }
        let texts: Vec<&str> = sub_queries.iter().map(|sub_query| sub_query.text.as_str()).collect();
        let (embedder, cancel) = (self.engines.embedder, self.cancel);
        measured(&mut self.timings.embed, || embedder.embed(&texts, TextRole::Query, cancel))
            .map_err(|error| RetrievalError::of(error, RetrievalError::Embed))
    }

    /// Runs both retrievers for every sub-query.
    fn fill(&mut self, sub_queries: &mut [SubQuery], vectors: &[Embedding]) -> Result<(), RetrievalError> {
        let limit = self.settings.per_retriever.max(self.settings.top_k);
        for (sub_query, vector) in sub_queries.iter_mut().zip(vectors) {
            self.cancel.check()?;
            sub_query.dense = self.dense(vector, limit)?;
        }
        if self.settings.mode == Mode::Dense {
            return Ok(());
        }
        let (index, filter) = (self.engines.index, self.settings.filter());
        let depth = match self.settings.fusion {
            Fusion::Rrf => limit,
            Fusion::Blend => DEPTH.max(limit),
        };
        for sub_query in sub_queries {
            self.cancel.check()?;
            let search = || index.lexical_search_among(&sub_query.text, depth, &filter);
            sub_query.lexical = ranked(measured(&mut self.timings.lexical, search)?);
        }
        Ok(())
    }

    fn dense(&mut self, vector: &Embedding, k: usize) -> Result<Vec<RankedEvidence>, RetrievalError> {
        let (index, filter) = (self.engines.index, self.settings.filter());
        Ok(ranked(measured(&mut self.timings.dense, || index.dense_search_among(vector, k, &filter))?))
    }

    /// Fuses the results of all sub-queries.
    fn fused(
        &mut self,
        sub_queries: &[SubQuery],
        vectors: &[Embedding],
        boost: &CitedBoost,
    ) -> Result<FusedLists, RetrievalError> {
        match self.settings.fusion {
            Fusion::Rrf => Ok(measured(&mut self.timings.fuse, || fuse_by_rank(sub_queries, self.settings.rrf_k))),
            Fusion::Blend => {
                let sums = self.sums(sub_queries, vectors, boost)?;
                Ok(measured(&mut self.timings.fuse, || fuse_by_score(sums)))
            }
        }
    }

    /// The best evidences over all sub-queries by each retriever, and the best ones in the cited documents.
    fn sums(
        &mut self,
        sub_queries: &[SubQuery],
        vectors: &[Embedding],
        boost: &CitedBoost,
    ) -> Result<ScoreSums, RetrievalError> {
        let pool = POOL.max(self.settings.per_retriever).max(self.settings.top_k);
        let lexical = lexical_sum(sub_queries, pool);
        let Some((vector, length)) = weighted_sum(sub_queries, vectors) else {
            return Ok(ScoreSums { dense: Vec::new(), length: 1.0, lexical, cosines: HashMap::new() });
        };
        let dense = self.dense(&vector, pool)?;
        let known: HashSet<EvidenceId> = dense.iter().map(|ranked| ranked.evidence).collect();
        let missing: Vec<EvidenceId> = lexical.iter().map(|(id, _)| *id).filter(|id| !known.contains(id)).collect();
        let cosines = self.engines.index.vectors(&missing)?;
        let mut cosines: HashMap<EvidenceId, f64> =
            missing.into_iter().zip(cosines.iter().map(|found| vector.cosine(found))).collect();
        if let Some(filter) = boost.filter(self.settings.filter()) {
            let index = self.engines.index;
            let there = measured(&mut self.timings.dense, || index.dense_search_among(&vector, pool, &filter))?;
            let there = there.into_iter().filter(|scored| !known.contains(&scored.evidence));
            cosines.extend(there.map(|scored| (scored.evidence, scored.score)));
        }
        Ok(ScoreSums { dense, length, lexical, cosines })
    }
}

/// The normalized weighted sum of the query vectors and its length; none without dense retrieval.
fn weighted_sum(sub_queries: &[SubQuery], vectors: &[Embedding]) -> Option<(Embedding, f64)> {
    let mut sum = vec![0.0_f32; vectors.first()?.values().len()];
    for (sub_query, vector) in sub_queries.iter().zip(vectors) {
        for (sum, value) in sum.iter_mut().zip(vector.values()) {
            *sum = (f64::from(*sum) + sub_query.weight * f64::from(*value)) as f32;
        }
    }
    let length = sum.iter().map(|value| f64::from(*value).powi(2)).sum::<f64>().sqrt();
    Some((Embedding::normalized(sum), length))
}
