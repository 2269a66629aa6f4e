//! The lists of all texts made one, by ranks or by scores.
//!
//! Takes the texts with what each of them found and weighs, gives one list for each search, the fused list, and what a
//! place in each list was worth.
//! Invariants: one text alone is fused in the same way as several; by ranks, and of one text, the lists of both searches
//! are those of that text.
//! Not here: searching (`search`), the arithmetic (`rrf`, `score_fusion`).

use std::collections::HashMap;

use super::hit_explanation::{Scale, Scales};
use super::{Fused, RankedEvidence, SubQuery, comb_sum, relative_score_fusion, weighted_rrf};
use ragonite_base::EvidenceId;

/// What all texts found together.
pub(super) struct FusedLists {
    /// By meaning, best first.
    pub(super) dense: Vec<RankedEvidence>,
    /// By words, best first.
    pub(super) lexical: Vec<RankedEvidence>,
    /// The cosines of those by words that are not among those by meaning, where they count.
    pub(super) cosines: HashMap<EvidenceId, f64>,
    /// Both, best first.
    pub(super) fused: Vec<Fused>,
    /// What a place in a list of a text was worth.
    pub(super) worths: Scales,
}

/// Makes the lists one by the ranks in them.
pub(super) fn fuse_by_rank(legs: &[SubQuery], k: u32) -> FusedLists {
    let lists: Vec<(f64, Vec<EvidenceId>)> =
        legs.iter().flat_map(|leg| [(leg.weight, ids(&leg.dense)), (leg.weight, ids(&leg.lexical))]).collect();
    let lists: Vec<(f64, &[EvidenceId])> = lists.iter().map(|(weight, list)| (*weight, list.as_slice())).collect();
    FusedLists {
        dense: together(legs, |leg| &leg.dense, k),
        lexical: together(legs, |leg| &leg.lexical, k),
        cosines: HashMap::new(),
        fused: weighted_rrf(&lists, k),
        worths: Scales { dense: Scale::Rank { k }, lexical: Scale::Rank { k } },
    }
}

/// The list of one search over all texts; an evidence has the best score that one of them gave it.
fn together(legs: &[SubQuery], list_of: fn(&SubQuery) -> &Vec<RankedEvidence>, k: u32) -> Vec<RankedEvidence> {
    if let [only] = legs {
        return list_of(only).clone();
    }
    let lists: Vec<(f64, Vec<EvidenceId>)> = legs.iter().map(|leg| (leg.weight, ids(list_of(leg)))).collect();
    let lists: Vec<(f64, &[EvidenceId])> = lists.iter().map(|(weight, list)| (*weight, list.as_slice())).collect();
    let mut best: HashMap<EvidenceId, f64> = HashMap::new();
    for ranked in legs.iter().flat_map(list_of) {
        let score = best.entry(ranked.evidence).or_insert(ranked.score);
        *score = score.max(ranked.score);
    }
    let scored = weighted_rrf(&lists, k).into_iter();
    numbered(scored.map(|fused| (fused.evidence, best.get(&fused.evidence).copied().unwrap_or_default())))
}

/// The sums of the scores of all texts.
pub(super) struct ScoreSums {
    /// The best by meaning: cosines with the direction that all texts point to together.
    pub(super) dense: Vec<RankedEvidence>,
    /// The length of the sum of their vectors, by which these cosines are smaller than the sum of theirs.
    pub(super) length: f64,
    /// The best by words.
    pub(super) lexical: Vec<(EvidenceId, f64)>,
    /// The cosines of those by words that are not among those by meaning.
    pub(super) cosines: HashMap<EvidenceId, f64>,
}

/// Makes the sums one by the scores in them.
pub(super) fn fuse_by_score(sums: ScoreSums) -> FusedLists {
    let ScoreSums { dense, length, lexical, cosines } = sums;
    let mut by_meaning: Vec<(EvidenceId, f64)> = dense.iter().map(|ranked| (ranked.evidence, ranked.score)).collect();
    by_meaning.extend(cosines.iter().map(|(evidence, cosine)| (*evidence, *cosine)));
    let lists = [&by_meaning, &lexical].iter().filter(|list| !list.is_empty()).count();
    let unit = |list: &[(EvidenceId, f64)], length: f64| {
        let best = list.iter().map(|(_, score)| *score).fold(0.0, f64::max) * length * lists as f64;
        Scale::Score { unit: if best > 0.0 { 1.0 / best } else { 0.0 } }
    };
    let worths = Scales { dense: unit(&by_meaning, length), lexical: unit(&lexical, 1.0) };
    let fused = relative_score_fusion(&by_meaning, &lexical);
    FusedLists { dense, lexical: numbered(lexical), cosines, fused, worths }
}

/// The lists of all legs by words added up, best first.
pub(super) fn lexical_sum(legs: &[SubQuery], pool: usize) -> Vec<(EvidenceId, f64)> {
    let scores = |list: &[RankedEvidence]| list.iter().map(|ranked| (ranked.evidence, ranked.score)).collect();
    let lists: Vec<(f64, Vec<(EvidenceId, f64)>)> = legs.iter().map(|leg| (leg.weight, scores(&leg.lexical))).collect();
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
