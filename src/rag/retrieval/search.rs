//! The search for a question, its completed form, its translation and the questions before it, each as a leg.
//!
//! A follow-up alone finds the wrong page most of the time, and so does a whole conversation once its topic has changed.
//! So every text is searched by meaning and by words; where the two find the same document, the text is sure of it, and
//! that tells where the conversation went elsewhere (`query_weights`). The legs are made one by ranks or by scores (`fuse_sub_queries`).
//! Invariants: a question without conversation and translation is one leg that weighs 1, and goes the same way; every
//! leg, its weight and the reason are kept.
//! Not here: completing the question (`answer`), which turns belong to a conversation (`app`).

use std::collections::{BTreeSet, HashMap, HashSet};
use std::time::Instant;

use super::assemble::{Candidates, assemble_hits, measured, ranked};
use super::citation_boost::CitedBoost;
use super::fuse_sub_queries::{FusedLists, ScoreSums, fuse_by_rank, fuse_by_score, lexical_sum};
use super::overrides::with_first;
use super::{
    Confidence, Dependence, Discarded, Fusion, Hit, Mode, RankedEvidence, RetrievalError, RetrievalSettings,
    RetrievalTimings, Retrieved, SearchContext, SearchInput, SubQuery, SubQueryFeatures, SubQueryRole, TopicShift,
    WeightReason, dependence, topic_shift, weigh,
};
use ragonite_base::{CancelToken, EvidenceId, Millis, clean_line};
use ragonite_index::Index;
use ragonite_inference::{Embedding, TextRole};

/// Earlier questions that are searched along; those before them have faded.
const MAX_EARLIER: usize = 8;

/// Longest earlier question in characters; what is beyond says no more about the topic.
const MAX_EARLIER_CHARS: usize = 400;

/// Evidences by words of each leg that are added up by score. An evidence beyond them adds next to nothing.
const DEPTH: usize = 100;

/// Evidences of each of the two sums that are blended by score, at least as many as hits are wanted.
const POOL: usize = 50;

/// Looks for evidence for `query` alone.
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

/// Looks for evidence for a question in its conversation.
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
    let mut legs = sub_queries(conversation);
    let mut search = Searcher { engines, settings, cancel, timings: RetrievalTimings::default() };
    let vectors = search.embed(&legs)?;
    search.fill(&mut legs, &vectors)?;
    let is_alone = legs.len() == 1;
    if !is_alone {
        assign_weights(engines.index, &mut legs)?;
        retrieved.query = question_of(&legs);
    }
    let rests = if settings.fusion == Fusion::Blend { CitedBoost::of(&legs) } else { CitedBoost::default() };
    let FusedLists { dense, lexical, cosines, fused, worths } = search.fused(&legs, &vectors, &rests)?;
    let fused = with_first(fused, &settings.picks);
    let mut timings = search.timings;
    let candidates = measured(&mut timings.fuse, || Candidates::load(engines.index, fused, cosines, rests))?;
    let candidates = candidates.asked_on(conversation.today);
    (retrieved.dense, retrieved.lexical) = (dense, lexical);
    assemble_hits(engines, &mut retrieved, (candidates, (&legs, worths)), (settings, &mut timings), cancel)?;
    if !is_alone {
        retrieved.sub_queries = legs;
    }
    let shown = settings.per_retriever.max(settings.top_k);
    let lists = retrieved.sub_queries.iter_mut().flat_map(|leg| [&mut leg.dense, &mut leg.lexical]);
    lists.chain([&mut retrieved.dense, &mut retrieved.lexical]).for_each(|list| list.truncate(shown));
    retrieved.discarded = discarded(engines.index, &retrieved)?;
    timings.total = Millis::from(started.elapsed());
    retrieved.timings_ms = timings;
    Ok(retrieved)
}

/// Where the evidences of both lists stand that are no hits, and no copies of one.
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

/// The question as typed, its completed form and its translation where they say anything else, and the questions before
/// it, newest first. Without any before it and without a translation it is the completed question alone.
fn sub_queries(conversation: &SearchInput<'_>) -> Vec<SubQuery> {
    let leg = |role, text: String| SubQuery {
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
        return vec![leg(SubQueryRole::Raw, completed.unwrap_or(question))];
    }
    let mut legs = vec![leg(SubQueryRole::Raw, question)];
    legs.extend(completed.map(|completed| leg(SubQueryRole::Rewrite, completed)));
    legs.extend(translated.map(|translated| leg(SubQueryRole::Translation, translated)));
    legs.extend(earlier.map(|(text, cited)| SubQuery { cited: cited.clone(), ..leg(SubQueryRole::History, text) }));
    legs
}

/// Whether two texts differ in case, spaces and signs at most.
fn same_words(one: &str, other: &str) -> bool {
    let words = |text: &str| -> Vec<String> {
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        words.map(str::to_lowercase).collect()
    };
    words(one) == words(other)
}

/// Gives every leg its weight.
fn assign_weights(index: &Index, legs: &mut [SubQuery]) -> Result<(), RetrievalError> {
    let now = legs.first().map(|raw| topic_shift(&raw.text)).unwrap_or_default();
    let heard = legs.iter().map(|leg| {
        let course = topic_shift(&leg.text);
        let of_question = if leg.role == SubQueryRole::History { course } else { now };
        Ok(SubQueryFeatures { role: leg.role, confidence: confidence(index, leg, of_question)?, topic_shift: course })
    });
    let heard = heard.collect::<Result<Vec<_>, RetrievalError>>()?;
    for (leg, (weight, why)) in legs.iter_mut().zip(weigh(&heard)) {
        (leg.weight, leg.why) = (weight, why);
    }
    Ok(())
}

/// What is asked, as well as a single text says it, for what reads one text only: the reranker, and the words of a hit.
///
/// It is the completed question, or the question as typed where that can be understood alone. Where it cannot, the
/// question before it says what it is about.
fn question_of(legs: &[SubQuery]) -> String {
    let of = |role| legs.iter().find(|leg| leg.role == role);
    let Some(raw) = of(SubQueryRole::Raw) else { return String::new() };
    if let Some(rewrite) = of(SubQueryRole::Rewrite) {
        return rewrite.text.clone();
    }
    match of(SubQueryRole::History).filter(|before| before.why == WeightReason::SameTopic) {
        Some(before) if raw.standing != Dependence::Complete => format!("{} {}", before.text, raw.text),
        _ => raw.text.clone(),
    }
}

/// What the text of a leg says by itself. It is sure of a document that is the best by meaning and by words. A short question
/// that leaves what was spoken of ("By the way, what is a buoy?") has nothing before it that would say more.
fn confidence(index: &Index, leg: &SubQuery, course: TopicShift) -> Result<Confidence, RetrievalError> {
    let is_alone = matches!((&leg.standing, course), (Dependence::Thin { words: 1.. }, TopicShift::Leaves));
    if leg.standing != Dependence::Complete && !is_alone {
        return Ok(Confidence::Low);
    }
    let (Some(dense), Some(lexical)) = (leg.dense.first(), leg.lexical.first()) else { return Ok(Confidence::Medium) };
    let best = index.evidences(&[dense.evidence, lexical.evidence])?;
    Ok(match best.as_slice() {
        [one, other] if one.document == other.document => Confidence::Document(one.document),
        _ => Confidence::Medium,
    })
}

/// The searches of one question.
struct Searcher<'a> {
    engines: SearchContext<'a>,
    settings: &'a RetrievalSettings,
    cancel: &'a CancelToken,
    timings: RetrievalTimings,
}

impl Searcher<'_> {
    /// The vectors of the legs in their order; none where nothing is searched by meaning.
    fn embed(&mut self, legs: &[SubQuery]) -> Result<Vec<Embedding>, RetrievalError> {
        if self.settings.mode == Mode::Lexical {
            return Ok(Vec::new());
        }
        let texts: Vec<&str> = legs.iter().map(|leg| leg.text.as_str()).collect();
        let (embedder, cancel) = (self.engines.embedder, self.cancel);
        measured(&mut self.timings.embed, || embedder.embed(&texts, TextRole::Query, cancel))
            .map_err(|error| RetrievalError::of(error, RetrievalError::Embed))
    }

    /// Searches for every leg.
    fn fill(&mut self, legs: &mut [SubQuery], vectors: &[Embedding]) -> Result<(), RetrievalError> {
        let per_leg = self.settings.per_retriever.max(self.settings.top_k);
        for (leg, vector) in legs.iter_mut().zip(vectors) {
            self.cancel.check()?;
            leg.dense = self.dense(vector, per_leg)?;
        }
        if self.settings.mode == Mode::Dense {
            return Ok(());
        }
        let (index, filter) = (self.engines.index, self.settings.filter());
        let depth = match self.settings.fusion {
            Fusion::Rrf => per_leg,
            Fusion::Blend => DEPTH.max(per_leg),
        };
        for leg in legs {
            self.cancel.check()?;
            let search = || index.lexical_search_among(&leg.text, depth, &filter);
            leg.lexical = ranked(measured(&mut self.timings.lexical, search)?);
        }
        Ok(())
    }

    fn dense(&mut self, vector: &Embedding, k: usize) -> Result<Vec<RankedEvidence>, RetrievalError> {
        let (index, filter) = (self.engines.index, self.settings.filter());
        Ok(ranked(measured(&mut self.timings.dense, || index.dense_search_among(vector, k, &filter))?))
    }

    /// What all legs found together.
    fn fused(
        &mut self,
        legs: &[SubQuery],
        vectors: &[Embedding],
        rests: &CitedBoost,
    ) -> Result<FusedLists, RetrievalError> {
        match self.settings.fusion {
            Fusion::Rrf => Ok(measured(&mut self.timings.fuse, || fuse_by_rank(legs, self.settings.rrf_k))),
            Fusion::Blend => {
                let sums = self.sums(legs, vectors, rests)?;
                Ok(measured(&mut self.timings.fuse, || fuse_by_score(sums)))
            }
        }
    }

    /// The best by meaning and the best by words, over all legs, and what fits best in the documents that the
    /// conversation rests on.
    fn sums(
        &mut self,
        legs: &[SubQuery],
        vectors: &[Embedding],
        rests: &CitedBoost,
    ) -> Result<ScoreSums, RetrievalError> {
        let pool = POOL.max(self.settings.per_retriever).max(self.settings.top_k);
        let lexical = lexical_sum(legs, pool);
        let Some((vector, length)) = weighted_sum(legs, vectors) else {
            return Ok(ScoreSums { dense: Vec::new(), length: 1.0, lexical, cosines: HashMap::new() });
        };
        let dense = self.dense(&vector, pool)?;
        let known: HashSet<EvidenceId> = dense.iter().map(|ranked| ranked.evidence).collect();
        let missing: Vec<EvidenceId> = lexical.iter().map(|(id, _)| *id).filter(|id| !known.contains(id)).collect();
        let cosines = self.engines.index.vectors(&missing)?;
        let mut cosines: HashMap<EvidenceId, f64> =
            missing.into_iter().zip(cosines.iter().map(|found| vector.cosine(found))).collect();
        if let Some(filter) = rests.filter(self.settings.filter()) {
            let index = self.engines.index;
            let there = measured(&mut self.timings.dense, || index.dense_search_among(&vector, pool, &filter))?;
            let there = there.into_iter().filter(|scored| !known.contains(&scored.evidence));
            cosines.extend(there.map(|scored| (scored.evidence, scored.score)));
        }
        Ok(ScoreSums { dense, length, lexical, cosines })
    }
}

/// The direction all legs point to together, and the length of the sum of their vectors; nothing where nothing is
/// searched by meaning.
fn weighted_sum(legs: &[SubQuery], vectors: &[Embedding]) -> Option<(Embedding, f64)> {
    let mut sum = vec![0.0_f32; vectors.first()?.values().len()];
    for (leg, vector) in legs.iter().zip(vectors) {
        for (sum, value) in sum.iter_mut().zip(vector.values()) {
            *sum = (f64::from(*sum) + leg.weight * f64::from(*value)) as f32;
        }
    }
    let length = sum.iter().map(|value| f64::from(*value).powi(2)).sum::<f64>().sqrt();
    Some((Embedding::normalized(sum), length))
}
