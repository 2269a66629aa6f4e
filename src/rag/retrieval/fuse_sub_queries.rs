//! Fuses the lists of all sub-queries, by rank or by score.
//!
//! Takes the sub-queries with their results and weights; gives one list per retriever, the fused list, and the scales
//! of both retrievers.
//! Invariants: a single sub-query takes the same path as several; by rank, its lists stay as they are.
//! Not here: searching (`search`), the arithmetic (`rrf`, `score_fusion`).

use std::collections::HashMap;

use super::hit_explanation::{Scale, Scales};
use super::{Fused, RankedEvidence, SubQuery, comb_sum, relative_score_fusion, weighted_rrf};
use ragonite_base::EvidenceId;

/// The results of all sub-queries.
pub(super) struct FusedLists {
    /// Dense list, best first.
    pub(super) dense: Vec<RankedEvidence>,
    /// Lexical list, best first.
    pub(super) lexical: Vec<RankedEvidence>,
    /// Cosines of evidences of the lexical list that are not in the dense list; by score only.
    pub(super) cosines: HashMap<EvidenceId, f64>,
    /// Both lists fused, best first.
    pub(super) fused: Vec<Fused>,
    /// How many points an entry of a sub-query's list gives.
    pub(super) scales: Scales,
}

/// Fuses the lists by rank.
pub(super) fn fuse_by_rank(sub_queries: &[SubQuery], k: u32) -> FusedLists {
    let lists: Vec<(f64, Vec<EvidenceId>)> = sub_queries
        .iter()
        .flat_map(|sub_query| [(sub_query.weight, ids(&sub_query.dense)), (sub_query.weight, ids(&sub_query.lexical))])
        .collect();
    let lists: Vec<(f64, &[EvidenceId])> = lists.iter().map(|(weight, list)| (*weight, list.as_slice())).collect();
    FusedLists {
        dense: together(sub_queries, |sub_query| &sub_query.dense, k),
        lexical: together(sub_queries, |sub_query| &sub_query.lexical, k),
        cosines: HashMap::new(),
        fused: weighted_rrf(&lists, k),
        scales: Scales { dense: Scale::Rank { k }, lexical: Scale::Rank { k } },
    }
}

/// The list of one retriever over all sub-queries; an evidence keeps its best score.
fn together(sub_queries: &[SubQuery], list_of: fn(&SubQuery) -> &Vec<RankedEvidence>, k: u32) -> Vec<RankedEvidence> {
    if let [only] = sub_queries {
        return list_of(only).clone();
    }
    let lists: Vec<(f64, Vec<EvidenceId>)> =
        sub_queries.iter().map(|sub_query| (sub_query.weight, ids(list_of(sub_query)))).collect();
    let lists: Vec<(f64, &[EvidenceId])> = lists.iter().map(|(weight, list)| (*weight, list.as_slice())).collect();
    let mut best: HashMap<EvidenceId, f64> = HashMap::new();
    for ranked in sub_queries.iter().flat_map(list_of) {
        let score = best.entry(ranked.evidence).or_insert(ranked.score);
        *score = score.max(ranked.score);
    }
    let scored = weighted_rrf(&lists, k).into_iter();
    numbered(scored.map(|fused| (fused.evidence, best.get(&fused.evidence).copied().unwrap_or_default())))
}

/// The score sums of all sub-queries.
pub(super) struct ScoreSums {
    /// The best cosines with the normalized sum of the query vectors.
    pub(super) dense: Vec<RankedEvidence>,
    /// Length of the sum of the query vectors: a cosine times this is the weighted sum of cosines.
    pub(super) length: f64,
    /// The best sums of BM25 scores.
    pub(super) lexical: Vec<(EvidenceId, f64)>,
    /// Cosines of evidences of `lexical` that are not in `dense`.
    pub(super) cosines: HashMap<EvidenceId, f64>,
}

/// Fuses the sums by score.
pub(super) fn fuse_by_score(sums: ScoreSums) -> FusedLists {
    let ScoreSums { dense, length, lexical, cosines } = sums;
    let mut by_meaning: Vec<(EvidenceId, f64)> = dense.iter().map(|ranked| (ranked.evidence, ranked.score)).collect();
    by_meaning.extend(cosines.iter().map(|(evidence, cosine)| (*evidence, *cosine)));
    let lists = [&by_meaning, &lexical].iter().filter(|list| !list.is_empty()).count();
    let unit = |list: &[(EvidenceId, f64)], length: f64| {
        let best = list.iter().map(|(_, score)| *score).fold(0.0, f64::max) * length * lists as f64;
        Scale::Score { unit: if best > 0.0 { 1.0 / best } else { 0.0 } }
    };
    let scales = Scales { dense: unit(&by_meaning, length), lexical: unit(&lexical, 1.0) };
    let fused = relative_score_fusion(&by_meaning, &lexical);
    FusedLists { dense, lexical: numbered(lexical), cosines, fused, scales }
}

/// The weighted sums of the lexical lists, best first.
pub(super) fn lexical_sum(sub_queries: &[SubQuery], pool: usize) -> Vec<(EvidenceId, f64)> {
    let scores = |list: &[RankedEvidence]| list.iter().map(|ranked| (ranked.evidence, ranked.score)).collect();
    let lists: Vec<(f64, Vec<(EvidenceId, f64)>)> =
        sub_queries.iter().map(|sub_query| (sub_query.weight, scores(&sub_query.lexical))).collect();
    let lists: Vec<(f64, &[(EvidenceId, f64)])> = lists.iter().map(|(weight, list)| (*weight, &list[..])).collect();
    let mut lexical = comb_sum(&lists);
    lexical.truncate(pool);
    lexical
}

fn ids(list: &[RankedEvidence]) -> Vec<EvidenceId> {
    list.iter().map(|ranked| ranked.evidence).collect()
}

fn numbered(list: impl IntoIterator<Item = (EvidenceId, f64)>) -> Vec<RankedEvidence> {
    (1..).zip(list).map(|(rank, (evidence, score))| RankedEvidence { evidence, rank, score }).collect()
}
