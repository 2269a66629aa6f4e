//! Why a hit has its place.
//!
//! Takes the lists that were fused, gives the points that each list added to the score of a hit.
//! Invariant: by rank, the points of a hit add up to its fused score. By score, the points and `cited` do, if every
//! list has the hit: scores beyond the end of a list are unknown, and a negative sum of cosines counts 0.
//! Not here: words (`index`), the screen (`tui`).

use serde::{Deserialize, Serialize};

use super::{RankedEvidence, Retriever, SubQuery, SubQueryRole};
use ragonite_base::EvidenceId;

/// The part of one list in the score of a hit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScorePart {
    /// The retriever of the list.
    #[serde(rename = "leg")]
    pub retriever: Retriever,
    /// The sub-query of the list, from 0; of several, the place in
    /// [`Retrieved::sub_queries`](super::Retrieved::sub_queries).
    pub query: usize,
    /// Where the text of the sub-query comes from.
    #[serde(default)]
    pub role: SubQueryRole,
    /// Rank in the list, from 1.
    pub rank: usize,
    /// Cosine or BM25.
    pub score: f64,
    /// Points added to the fused score.
    pub points: f64,
}

/// Why a hit has its place.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct HitExplanation {
    /// One entry for each list with the hit, the most points first.
    #[serde(rename = "votes")]
    pub parts: Vec<ScorePart>,
    /// Rank after fusion, from 1: before reranking and post-processing. For a hit with near-duplicates, the best rank
    /// among them.
    pub fused_rank: usize,
    /// Score at that rank.
    pub fused_score: f64,
    /// Points for citations of its document in earlier answers.
    pub cited: f64,
    /// What decided its final rank.
    pub place: PlaceReason,
    /// Matched words of the question, in lower case; a compound or misspelling if the hit has a part or a similar word.
    pub matched: Vec<String>,
}

/// What decided the final rank of a hit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PlaceReason {
    /// Its score.
    #[default]
    Score,
    /// Earlier answers mostly cite its document, so it got a reserved slot above the rank of its score.
    Kept,
}

/// How many points an entry of a list gives.
#[derive(Debug, Clone, Copy)]
pub(super) enum Scale {
    /// By rank: 1 / (k + rank).
    Rank {
        /// k of the fusion.
        k: u32,
    },
    /// By score.
    Score {
        /// Points for a score of 1.
        unit: f64,
    },
}

/// The scales of both retrievers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scales {
    pub(super) dense: Scale,
    pub(super) lexical: Scale,
}

/// The parts of all lists in the score of an evidence, the most points first.
pub(super) fn score_parts(sub_queries: &[SubQuery], scales: Scales, evidence: EvidenceId) -> Vec<ScorePart> {
    let of = |(query, sub_query): (usize, &SubQuery), how: Retriever, list: &[RankedEvidence], scale: Scale| {
        let found = list.iter().find(|ranked| ranked.evidence == evidence)?;
        let points = sub_query.weight
            * match scale {
                Scale::Rank { k } => 1.0 / (f64::from(k) + found.rank as f64),
                Scale::Score { unit } => found.score * unit,
            };
        Some(ScorePart { retriever: how, query, role: sub_query.role, rank: found.rank, score: found.score, points })
    };
    let both = |(query, sub_query): (usize, &SubQuery)| {
        [
            of((query, sub_query), Retriever::Dense, &sub_query.dense, scales.dense),
            of((query, sub_query), Retriever::Lexical, &sub_query.lexical, scales.lexical),
        ]
    };
    let mut parts: Vec<ScorePart> = sub_queries.iter().enumerate().flat_map(both).flatten().collect();
    parts.sort_by(|a, b| b.points.total_cmp(&a.points));
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::retrieval::{Dependence, WeightReason};

    fn sub_query(role: SubQueryRole, weight: f64, dense: &[(i64, f64)], lexical: &[(i64, f64)]) -> SubQuery {
        let ranked = |list: &[(i64, f64)]| {
            let ranked = |(rank, (id, score)): (usize, &(i64, f64))| RankedEvidence {
                evidence: EvidenceId(*id),
                rank,
                score: *score,
            };
            (1..).zip(list).map(ranked).collect()
        };
        let (dense, lexical) = (ranked(dense), ranked(lexical));
        let text = String::new();
        let (standing, why) = (Dependence::Complete, WeightReason::Only);
        SubQuery { role, text, standing, weight, why, dense, lexical, cited: Vec::new() }
    }

    #[test]
    fn every_list_of_every_text_says_what_it_gave() {
        let sub_queries = [
            sub_query(SubQueryRole::Raw, 1.0, &[(1, 0.9), (2, 0.5)], &[(2, 8.0)]),
            sub_query(SubQueryRole::History, 0.5, &[], &[(3, 9.0), (2, 4.0)]),
        ];
        let by_rank = Scales { dense: Scale::Rank { k: 60 }, lexical: Scale::Rank { k: 60 } };
        let votes_of = |scales| score_parts(&sub_queries, scales, EvidenceId(2));
        let places: Vec<_> =
            votes_of(by_rank).iter().map(|part| (part.role, part.query, part.retriever, part.rank)).collect();
        assert_eq!(
            places,
            [
                (SubQueryRole::Raw, 0, Retriever::Lexical, 1),
                (SubQueryRole::Raw, 0, Retriever::Dense, 2),
                (SubQueryRole::History, 1, Retriever::Lexical, 2)
            ]
        );
        let points = |scales| votes_of(scales).iter().map(|part| part.points).sum::<f64>();
        assert!((points(by_rank) - (1.0 / 61.0 + 1.0 / 62.0 + 0.5 / 62.0)).abs() < 1e-12);
        let by_score = Scales { dense: Scale::Score { unit: 0.5 }, lexical: Scale::Score { unit: 0.05 } };
        assert!((points(by_score) - (0.25 + 0.4 + 0.1)).abs() < 1e-12);
        assert!(score_parts(&sub_queries, by_rank, EvidenceId(9)).is_empty());
    }
}
