//! Context ablation: dense ranks of evidences without some parts of their context.
//!
//! Takes a question, evidences and the context parts to keep; gives the rank of each among them as embedded now and
//! with less context. Nothing is stored.
//! Invariants: a rank is among the given evidences only; parts that were not embedded change nothing.
//! Not here: searching (`search`), lexical retrieval, reranking.

use std::collections::HashMap;

use super::{RetrievalError, SearchContext};
use ragonite_base::{CancelToken, EvidenceId};
use ragonite_document::evidence::ContextParts;
use ragonite_inference::{Embedding, TextRole};

/// Dense rank among the given evidences.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AblatedRank {
    /// From 1.
    pub rank: usize,
    /// Cosine with the question.
    pub cosine: f64,
}

/// Dense ranks of an evidence with its context and with less.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AblatedHit {
    /// The evidence.
    pub evidence: EvidenceId,
    /// The context parts in its embedding.
    pub indexed: ContextParts,
    /// Rank as embedded now.
    pub now: AblatedRank,
    /// Rank with the kept parts only.
    pub then: AblatedRank,
}

/// Dense ranks of evidences for `query` as embedded, and with only `parts` of their context. Deleted evidences are left
/// out.
///
/// # Errors
/// When the embedder or the index fails, or with [`RetrievalError::Canceled`].
pub fn ablate_context(
    engines: SearchContext<'_>,
    query: &str,
    evidences: &[EvidenceId],
    parts: ContextParts,
    cancel: &CancelToken,
) -> Result<Vec<AblatedHit>, RetrievalError> {
    cancel.check()?;
    let (index, embedder) = (engines.index, engines.embedder);
    let stored = index.evidences(evidences)?;
    let ids: Vec<EvidenceId> = stored.iter().map(|stored| stored.id).collect();
    let embedded = embedder.embed(&[query], TextRole::Query, cancel);
    let question = embedded.map_err(|error| RetrievalError::of(error, RetrievalError::Embed))?;
    let Some(question) = question.first() else { return Ok(Vec::new()) };
    let now = placed(question, &ids, &index.vectors_with(&ids, ContextParts::ALL, embedder, cancel)?);
    let then = placed(question, &ids, &index.vectors_with(&ids, parts, embedder, cancel)?);
    let tried = stored.iter().filter_map(|stored| {
        let (evidence, indexed) = (stored.id, stored.indexed);
        Some(AblatedHit { evidence, indexed, now: *now.get(&evidence)?, then: *then.get(&evidence)? })
    });
    Ok(tried.collect())
}

/// By cosine, highest first; ties keep the given order.
fn placed(
    question: &Embedding,
    ids: &[EvidenceId],
    vectors: &HashMap<EvidenceId, Embedding>,
) -> HashMap<EvidenceId, AblatedRank> {
    let cosine = |vector: &Embedding| -> f64 {
        vector.values().iter().zip(question.values()).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
    };
    let near = ids.iter().filter_map(|id| Some((*id, cosine(vectors.get(id)?))));
    let mut near: Vec<(EvidenceId, f64)> = near.collect();
    near.sort_by(|a, b| b.1.total_cmp(&a.1));
    (1..).zip(near).map(|(rank, (id, cosine))| (id, AblatedRank { rank, cosine })).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ragonite_base::CancelSource;
    use ragonite_index::test_kit::{WordEmbedder, domain, ingest, page};
    use ragonite_inference::Embed as _;

    #[test]
    fn without_the_title_an_evidence_that_was_found_by_it_falls_behind() {
        let embedder = WordEmbedder::new("f00d");
        let (_folder, mut index) = domain(&embedder);
        let pages = [page("satellite modem", &["the crew leaves"]), page("other", &["the modem is grey"])];
        ingest(&mut index, &pages, &embedder).unwrap();
        let engines = SearchContext { index: &index, embedder: &embedder, reranker: None };
        let question = embedder.embed(&["satellite modem"], TextRole::Query, &CancelToken::never()).unwrap();
        let found = index.dense_search(&question[0], 9).unwrap();
        let ids: Vec<EvidenceId> = found.iter().map(|scored| scored.evidence).collect();
        let ask = |parts| ablate_context(engines, "satellite modem", &ids, parts, &CancelToken::never()).unwrap();
        for (place, (tried, scored)) in ask(ContextParts::ALL).iter().zip(&found).enumerate() {
            assert_eq!((tried.evidence, tried.now.rank, tried.then), (scored.evidence, place + 1, tried.now));
            assert!((tried.now.cosine - scored.score).abs() < 1e-6);
        }
        let without = ask(ContextParts::ALL.without(ContextParts::TITLE));
        assert_eq!(without.iter().map(|tried| tried.now.rank).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(without.iter().map(|tried| tried.then.rank).collect::<Vec<_>>(), [2, 1]);
        assert!(without.iter().all(|tried| tried.indexed == ContextParts::ALL));
    }

    #[test]
    fn what_is_gone_is_left_out_and_cancelling_stops_it() {
        let embedder = WordEmbedder::new("f00d");
        let (_folder, mut index) = domain(&embedder);
        ingest(&mut index, &[page("A", &["one"])], &embedder).unwrap();
        let engines = SearchContext { index: &index, embedder: &embedder, reranker: None };
        let id = index.lexical_search("one", 1).unwrap()[0].evidence;
        let ask =
            |cancel: &CancelToken| ablate_context(engines, "one", &[EvidenceId(99), id], ContextParts::NONE, cancel);
        let tried = ask(&CancelToken::never()).unwrap();
        assert_eq!((tried.len(), tried[0].evidence, tried[0].then.rank), (1, id, 1));
        let source = CancelSource::default();
        source.cancel();
        assert!(matches!(ask(&source.token()), Err(RetrievalError::Canceled(_))));
    }
}
